package report

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/words"
)

// smallAccess is the size below which an access costs more for itself than for its bytes.
const smallAccess = 4096

// smallShare is the part of the time of all accesses that small ones take where it is worth saying
// that there are many: a tenth.
const smallShare = 10

// filesFirst says, of a trace in which nobody calls MPI and nothing runs on accelerators, what the
// program does to files: that is what such a trace is about.
func (r *Sections) filesFirst() {
	io := r.Analysis.FileIO
	if io == nil || len(r.Analysis.Devices) > 0 || r.Analysis.Efficiency != nil {
		return
	}
	fmt.Fprintln(r.W)
	r.Line("%s", fileVerdict(io, r.Analysis.Trace))
}

func fileVerdict(io *document.FileIO, t document.TraceInfo) string {
	text := fmt.Sprintf("Files: %s take %s", words.Plural(int(io.Calls), "call", "calls"), words.Time(io.TimeNs))
	if ranks := t.Processes - t.ProcessesMissing; ranks > 0 && t.DurationNs > 0 {
		text += fmt.Sprintf(", %s of the time of all ranks", words.PartOf(io.TimeNs, t.DurationNs*int64(ranks)))
	}
	text += mainThreads(io, t)
	if len(io.Sizes) > 0 {
		text += fmt.Sprintf("; %s read, %s written.", words.Bytes(io.ReadBytes), words.Bytes(io.WriteBytes))
	} else {
		text += "; how many bytes they move is not recorded."
	}
	var all, small uint64
	var smallNs, allNs int64
	for _, s := range io.Sizes {
		all, allNs = all+s.Calls, allNs+s.TimeNs
		if s.To <= smallAccess {
			small, smallNs = small+s.Calls, smallNs+s.TimeNs
		}
	}
	if small*2 > all && smallNs*smallShare >= allNs {
		text += fmt.Sprintf(" %s of %s accesses move less than %s and take %s of their time: fewer, larger ones would gain most of it.",
			words.Count(small), words.Count(all), words.Bytes(smallAccess), words.PartOf(smallNs, allNs))
	}
	if len(io.Operations) > 0 {
		if o := io.Operations[0]; o.Kind == "other" {
			text += fmt.Sprintf(" The most time goes not to data but to %s (%s).", o.Operation, words.PartOf(o.TimeNs, io.TimeNs))
		}
	}
	return text
}

// mainThreads says how much of the time of calls on files ranks do nothing else.
func mainThreads(io *document.FileIO, t document.TraceInfo) string {
	ranks := t.Processes - t.ProcessesMissing
	if ranks == 0 || t.DurationNs == 0 {
		return ""
	}
	text := fmt.Sprintf(". On main threads, which do nothing else meanwhile, it is %s, %s of their time", words.Time(io.MainNs),
		words.PartOf(io.MainNs, t.DurationNs*int64(ranks)))
	if littleTime*io.MainNs < t.DurationNs*int64(ranks) {
		text += ": files are not what the run waits for"
	}
	return text
}

// littleTime is the part of the time of main threads below which files are no problem: a twentieth.
const littleTime = 20

// What text says of files besides: that bytes are not known, and what an access takes in the mean.
type (
	unknownBytes struct {
		Bytes *uint64 `json:"bytes"`
	}
	meanTime struct {
		MeanNs int64 `json:"mean_ns"`
	}
)

// fileIO prints what is done to files by operation, by file and by size of access.
func (r *Sections) fileIO() {
	io := r.Analysis.FileIO
	if io == nil {
		return
	}
	done := r.rows(operations)
	for i := range done {
		if io.Operations[i].Sized == 0 {
			done[i] = Row{unknownBytes{}, &io.Operations[i]}
		}
	}
	r.table(operations, done)
	r.table(files, r.rows(files))
	of := r.rows(sizes)
	for i, x := range io.Sizes {
		of[i] = append(of[i], meanTime{x.TimeNs / int64(x.Calls)})
	}
	r.table(sizes, of)
	if io.Max.Rank != io.Min.Rank {
		fmt.Fprintln(r.W)
		r.Line("Time in calls on files by rank: least %s, most %s.", words.Extreme(io.Min), words.Extreme(io.Max))
	}
}
