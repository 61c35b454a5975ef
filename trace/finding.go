package trace

import (
	"cmp"
	"slices"
	"strings"
)

// A Severity says what a finding means for the results.
type Severity uint8

// The severities.
const (
	SeverityInfo  Severity = iota // worth knowing; results are not affected
	SeverityLoss                  // data are missing or were left out; results hold for the rest
	SeverityError                 // data contradict each other; results near it are doubtful
)

// String returns "info", "loss" or "error", as in JSON documents.
func (s Severity) String() string { return [...]string{"info", "loss", "error"}[s] }

// A Code names a kind of finding. The list is closed: see Codes.
type Code string

// The codes. Their severities and texts are in Codes.
const (
	CodeTruncated           Code = "truncated"
	CodeCutAnywhere         Code = "cut_anywhere"
	CodeCorrupt             Code = "corrupt"
	CodeMissingFile         Code = "missing_file"
	CodeMissingNames        Code = "missing_names"
	CodeEmptyLocation       Code = "empty_location"
	CodeUnfinalised         Code = "unfinalised"
	CodeTrailingData        Code = "trailing_data"
	CodeUnknownRecord       Code = "unknown_record"
	CodeUnknownDefinition   Code = "unknown_definition"
	CodeDuplicateDefinition Code = "duplicate_definition"
	CodeDanglingReference   Code = "dangling_reference"
	CodeBadDefinition       Code = "bad_definition"
	CodeBadClockOffset      Code = "bad_clock_offset"
	CodeCountMismatch       Code = "count_mismatch"
	CodeExtraRecords        Code = "extra_records"
	CodeTimeDecreases       Code = "time_decreases"
	CodeBadValue            Code = "bad_value"
	CodeLongName            Code = "long_name"
	CodeUnsorted            Code = "unsorted"
	CodeOverlap             Code = "overlap"
	CodeDanglingFlow        Code = "dangling_flow"
	CodeArgumentsLeftOut    Code = "arguments_left_out"
	CodeUnrecordedTime      Code = "unrecorded_time"
	CodeUnalignedClocks     Code = "unaligned_clocks"
	CodeFilesApart          Code = "files_apart"
	CodeNotRepresentable    Code = "not_representable"
	CodeRedundantRecord     Code = "redundant_record"
	CodeUnusedRecord        Code = "unused_record"
	CodeApplications        Code = "several_applications"
	CodeMergedRanks         Code = "merged_ranks"
	CodeNumberedRanks       Code = "numbered_ranks"
	CodeMissingRank         Code = "missing_rank"
	CodeWorkerRank          Code = "worker_rank"
	CodeEarlyEnd            Code = "early_end"
	CodeOpenEpoch           Code = "open_epoch"
	CodeOpenRegion          Code = "open_region"
	CodeUnmatchedLeave      Code = "unmatched_leave"
	CodeOpenTeam            Code = "open_team"
	CodeEventOutsideCall    Code = "event_outside_call"
	CodeUnknownCommunicator Code = "unknown_communicator"
	CodeRankOutOfRange      Code = "rank_out_of_range"
	CodeUnknownRequest      Code = "unknown_request"
	CodeOpenRequest         Code = "open_request"
	CodeUnmatchedSend       Code = "unmatched_send"
	CodeUnmatchedReceive    Code = "unmatched_receive"
	CodeSizeMismatch        Code = "size_mismatch"
	CodePartialCollective   Code = "partial_collective"
	CodeCollectiveMismatch  Code = "collective_mismatch"
	CodeClockViolation      Code = "clock_violation"
	CodeClockAligned        Code = "clock_aligned"
	CodeIncompleteByWriter  Code = "incomplete_by_writer"
	CodeApproximate         Code = "approximate"
	CodeReduced             Code = "reduced"
	CodeCutTime             Code = "cut_time"
	CodeFarTimes            Code = "far_times"
	CodeBufferFlush         Code = "buffer_flush"
	CodeRecordingOff        Code = "recording_off"
	CodeWriterWarning       Code = "writer_warning"
	CodeOverflow            Code = "overflow"
	CodeChangedMeanwhile    Code = "changed_meanwhile"
	CodeRewritten           Code = "rewritten"
	CodeReplayStuck         Code = "replay_stuck"
	CodeHalfKernel          Code = "half_kernel"
	CodeNoLaunch            Code = "no_launch"
	CodeCorrelationRepeats  Code = "correlation_repeats"
	CodeStepCut             Code = "step_cut"
	CodeCounterFalls        Code = "counter_falls"
	CodeRatioAboveOne       Code = "ratio_above_one"
	CodeCounterOverflow     Code = "counter_overflow"
	CodeLimitExceeded       Code = "limit_exceeded"
)

// A CodeInfo describes a code.
type CodeInfo struct {
	Code     Code
	Severity Severity
	Text     string // what it means, for the user
	Try      string // what to do about it; "" where nothing is to be done or can be
}

// Codes returns the closed list of what a finding can be, in the order of the stages.
func Codes() []CodeInfo {
	return []CodeInfo{
		{CodeTruncated, SeverityLoss, "the file is cut off; everything before the cut was read",
			"copy the trace again, or let the recorder finish."},
		{CodeCutAnywhere, SeverityError, "a file is cut off that is not in order of time: events may be missing anywhere, so no causes are given",
			"copy the trace again, or let the recorder finish."},
		{CodeCorrupt, SeverityError, "a record cannot be decoded; everything before it in this location was read",
			"copy the trace again; if this stays, record again."},
		{CodeMissingFile, SeverityLoss, "a file of the trace is missing or cannot be opened",
			"copy the whole trace, with all its files."},
		{CodeMissingNames, SeverityInfo, "the file with names of processes and threads is missing or unreadable; they have numbers instead", ""},
		{CodeEmptyLocation, SeverityInfo, "a location has no events", ""},
		{CodeUnfinalised, SeverityLoss, "the recorder did not close the archive; the end of the run may be missing",
			"let the program end by itself, so that its recorder can close the trace."},
		{CodeTrailingData, SeverityInfo, "bytes after the end of a file were ignored", ""},
		{CodeUnknownRecord, SeverityInfo, "records of unknown kinds were skipped", ""},
		{CodeUnknownDefinition, SeverityInfo, "definitions of unknown kinds were skipped", ""},
		{CodeDuplicateDefinition, SeverityError, "an identifier is defined twice; the first definition is used",
			"give files of one run only; if they are, update the recorder."},
		{CodeDanglingReference, SeverityLoss, "a record refers to a definition that does not exist",
			"copy all files of the trace, or update the recorder."},
		{CodeBadDefinition, SeverityError, "a definition contradicts itself or others and is not used",
			"update the recorder; figures that need this definition are missing."},
		{CodeBadClockOffset, SeverityLoss, "a clock offset is not later than the previous one and is not used", ""},
		{CodeCountMismatch, SeverityLoss, "the file has fewer or more records than it announces",
			"copy the trace again, or let the recorder finish."},
		{CodeExtraRecords, SeverityInfo, "the file has more events than it announces; all were read", ""},
		{CodeTimeDecreases, SeverityError, "times of a location run backwards",
			"record with one clock for each location, such as CLOCK_MONOTONIC."},
		{CodeBadValue, SeverityLoss, "a value is not valid; the record was left out", ""},
		{CodeLongName, SeverityLoss, "a name is longer than 64 KiB and was cut", ""},
		{CodeUnsorted, SeverityInfo, "records are not in order of time; they were sorted", ""},
		{CodeOverlap, SeverityInfo, "slices of one track overlap without nesting", ""},
		{CodeDanglingFlow, SeverityInfo, "some arrows lack a start or an end", ""},
		{CodeArgumentsLeftOut, SeverityInfo, "of event arguments, only those about communication and files are kept", ""},
		{CodeUnrecordedTime, SeverityLoss, "no file records the time between two files of a rank; it is left out, and later times are earlier by it",
			"record all steps that matter in one go."},
		{CodeUnalignedClocks, SeverityError, "the files have no common time, so no causes are given",
			"use --align start if all files begin at the same moment, or analyze each file alone."},
		{CodeFilesApart, SeverityError, "the files lie far apart in time, and may be of different runs, so no causes are given",
			"analyze the files of each run alone."},
		{CodeNotRepresentable, SeverityLoss, "the target format cannot hold some records",
			"convert to otf2, arrow or parquet."},
		{CodeRedundantRecord, SeverityInfo, "some records repeat others; the first, or the more exact ones, were used", ""},
		{CodeUnusedRecord, SeverityLoss, "a record was not used because what it refers to is unknown", ""},
		{CodeApplications, SeverityInfo, "the trace holds several applications that exchange no messages; select one with --ranks", ""},
		{CodeMergedRanks, SeverityLoss, "a file was made of those of several ranks, which leaves unknown who communicates with whom",
			"give the files of the ranks, not one made of them."},
		{CodeNumberedRanks, SeverityInfo, "no record says which rank a process is; ranks count processes in the order of files and of their numbers", ""},
		{CodeMissingRank, SeverityLoss, "ranks are missing in the trace; means leave them out",
			"name the files of all ranks."},
		{CodeWorkerRank, SeverityInfo, "one rank of each worker has rows; the others of a worker are taken to do the same", ""},
		{CodeEarlyEnd, SeverityLoss, "the records of some ranks end early; means, efficiencies and causes leave them out",
			"analyze the part that all ranks are in, with --to."},
		{CodeOpenEpoch, SeverityLoss, "one-sided operations are recorded without the calls that complete them; waits there count as computing",
			"record MPI_Win_fence, MPI_Win_unlock and their like, too."},
		{CodeOpenRegion, SeverityLoss, "a region is entered and never left; it was closed at the end of its location",
			"let the program end by itself, so that all its calls are recorded."},
		{CodeUnmatchedLeave, SeverityLoss, "a region is left that was not entered; the event was ignored", ""},
		{CodeOpenTeam, SeverityLoss, "threads are forked but not joined, or a team begins and does not end", ""},
		{CodeEventOutsideCall, SeverityInfo, "a communication event lies outside any region and has no call", ""},
		{CodeUnknownCommunicator, SeverityLoss, "an event names a communicator without a usable group", ""},
		{CodeRankOutOfRange, SeverityLoss, "an event names a rank that its communicator does not have", ""},
		{CodeUnknownRequest, SeverityLoss, "a completion names a request that was not started", ""},
		{CodeOpenRequest, SeverityLoss, "a request is started and never completed", ""},
		{CodeUnmatchedSend, SeverityLoss, "a message is sent, but its receive is not recorded",
			"record all ranks, and their communication, for the whole run."},
		{CodeUnmatchedReceive, SeverityLoss, "a message is received, but its send is not recorded",
			"record all ranks, and their communication, for the whole run."},
		{CodeSizeMismatch, SeverityInfo, "send and receive of a message report different numbers of bytes", ""},
		{CodePartialCollective, SeverityLoss, "some ranks of a communicator are missing in one of its collectives",
			"record all ranks, and their communication, for the whole run."},
		{CodeCollectiveMismatch, SeverityError, "ranks disagree about the operation or the root of a collective", ""},
		{CodeClockViolation, SeverityError, "messages or collectives end before they begin, by the clocks",
			"trust no wait shorter than the violations; record with synchronized clocks."},
		{CodeClockAligned, SeverityInfo, "clocks of hosts contradicted each other, and were aligned by what happens together", ""},
		{CodeIncompleteByWriter, SeverityInfo, "the recorder says that it did not record all communication", ""},
		{CodeApproximate, SeverityLoss, "the trace was rebuilt from formulae that do not describe all of the recorded one",
			"use the recorded trace where single times matter."},
		{CodeReduced, SeverityInfo, "the trace was reduced: recorded ranks, calls and messages may be missing", ""},
		{CodeCutTime, SeverityLoss, "recorded time was cut from the trace; figures that need it are left out",
			"use the whole trace for efficiencies and causes."},
		{CodeFarTimes, SeverityInfo, "times do not fit into 64 bits; they now count from the first event", ""},
		{CodeBufferFlush, SeverityInfo, "the recorder wrote its buffer to disk during the run; that time is not the program's",
			"enlarge the buffer of the recorder (Score-P: SCOREP_TOTAL_MEMORY)."},
		{CodeRecordingOff, SeverityInfo, "recording was switched off during part of the run", ""},
		{CodeWriterWarning, SeverityInfo, "the recorder warns of its own measurement", ""},
		{CodeOverflow, SeverityError, "times or sizes are too large to add up; their sums are wrong",
			"analyze a part of the run with --from and --to."},
		{CodeChangedMeanwhile, SeverityError, "the trace changed while it was read; analyze it again when it is complete", ""},
		{CodeRewritten, SeverityInfo, "another program rewrote a table; its rows fit, but no checksum covers its values", ""},
		{CodeReplayStuck, SeverityLoss, "the zero-cost replay could not order all messages; its ratios are missing",
			"record all ranks, and their communication, for the whole run."},
		{CodeHalfKernel, SeverityLoss, "a kernel has no recorded end and is left out of device times",
			"stop the recorder after the last kernel has ended."},
		{CodeNoLaunch, SeverityInfo, "a kernel has no recorded launch; it counts, but not in launch delays",
			"record CUDA or HIP runtime calls with their correlation."},
		{CodeCorrelationRepeats, SeverityInfo, "several calls share a correlation; a kernel belongs to the last call before it", ""},
		{CodeStepCut, SeverityInfo, "a training step has no recorded end and is left out of the mean", ""},
		{CodeCounterFalls, SeverityInfo, "an accumulating counter falls: it wrapped around, was reset, or is wrongly described", ""},
		{CodeRatioAboveOne, SeverityInfo, "an efficiency is above 1: the zero-cost replay is slower than the run", ""},
		{CodeCounterOverflow, SeverityError, "a counter or its sum does not fit into 64 bits; its values are probably wrong",
			"leave this counter out of conclusions, or record it for a shorter time."},
		{CodeLimitExceeded, SeverityLoss, "there are too many names, or too long ones; some were cut, merged or left out",
			"record fewer names, or analyze a part of the run."},
	}
}

// Severity returns the severity of a code, SeverityError for one that is not in the list.
func (c Code) Severity() Severity { return c.info().Severity }

// Text returns what a code means, the code itself of one that is not in the list.
func (c Code) Text() string { return cmp.Or(c.info().Text, string(c)) }

// Brief returns the first clause of what a code means.
func (c Code) Brief() string {
	brief := c.Text()
	if end := strings.IndexAny(brief, ";:"); end >= 0 {
		brief = brief[:end]
	}
	return brief
}

// Try returns what to do about findings of a code, "" if nothing is known.
func (c Code) Try() string { return c.info().Try }

func (c Code) info() CodeInfo {
	for _, i := range Codes() {
		if i.Code == c {
			return i
		}
	}
	return CodeInfo{Code: c, Severity: SeverityError}
}

// A Place says where something was first seen. Location is None if it is not about one
// location; Offset is -1 if it is not known.
type Place struct {
	Location LocationID
	Seq      uint64
	File     string
	Offset   int64
}

// Nowhere is the place of findings about the trace as a whole.
func Nowhere() Place { return Place{Location: None, Offset: -1} }

// A Finding is something about a trace that its user should know.
type Finding struct {
	Code  Code
	Count uint64
	First Place
	Text  string // details of the first occurrence; the code's own text is in Codes
}

// A Ledger collects findings: one for each code, with the number of occurrences and the
// first of them. The zero value is ready for use. It is not safe for concurrent use;
// give each location its own and merge them in order.
type Ledger struct {
	byCode map[Code]*Finding
}

// Add counts one occurrence.
func (l *Ledger) Add(code Code, at Place, text string) { l.AddN(code, 1, at, text) }

// AddN counts n occurrences, the first of them at the given place.
func (l *Ledger) AddN(code Code, n uint64, at Place, text string) {
	if n == 0 {
		return
	}
	if l.byCode == nil {
		l.byCode = make(map[Code]*Finding)
	}
	f := l.byCode[code]
	if f == nil {
		l.byCode[code] = &Finding{Code: code, Count: n, First: at, Text: text}
		return
	}
	f.Count += n
	if comparePlaces(at, f.First) < 0 {
		f.First, f.Text = at, text
	}
}

// Merge adds the findings of another ledger or stage.
func (l *Ledger) Merge(findings []Finding) {
	for _, f := range findings {
		l.AddN(f.Code, f.Count, f.First, f.Text)
	}
}

// Count returns the number of occurrences of a code.
func (l *Ledger) Count(code Code) uint64 {
	if f := l.byCode[code]; f != nil {
		return f.Count
	}
	return 0
}

// Findings returns what was collected: errors first, then losses, then information,
// each in the order of Codes.
func (l *Ledger) Findings() []Finding {
	if len(l.byCode) == 0 {
		return nil
	}
	var out []Finding
	for _, i := range Codes() {
		if f := l.byCode[i.Code]; f != nil {
			out = append(out, *f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Compare(b.Code.Severity(), a.Code.Severity())
	})
	return out
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Seq, b.Seq),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
}

// Since returns what was noticed between two statements of a source: merged with the earlier one
// it makes the later one.
func Since(before, after []Finding) []Finding {
	counts := make(map[Code]uint64)
	for _, f := range before {
		counts[f.Code] = f.Count
	}
	var out []Finding
	for _, f := range after {
		if f.Count -= counts[f.Code]; f.Count > 0 {
			out = append(out, f)
		}
	}
	return out
}
