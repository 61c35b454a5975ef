package report

import (
	"fmt"
	"strings"

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
	r.Line("%s", strings.Join(fileVerdict(io, r.Analysis.Trace), " "))
}

// fileVerdict says in sentences how long a program works on files, whether it waits for them, and what costs most.
func fileVerdict(io *document.FileIO, t document.TraceInfo) []string {
	whole := t.DurationNs * int64(t.Processes-t.ProcessesMissing)
	said := []string{fmt.Sprintf("%s on files take %s.", words.Plural(int(io.Calls), "call", "calls"), words.Time(io.TimeNs))}
	if whole > 0 {
		waits := "."
		switch {
		case filesAside(io, t):
			waits = ": the run does not wait for files."
		case 2*io.MainNs < io.TimeNs:
			waits = "; the rest passes beside other work."
		}
		most := ""
		if x := io.MainMost; float64(x.TimeNs)*float64(whole) > 2*float64(io.MainNs)*float64(t.DurationNs) {
			most = fmt.Sprintf(" (that of rank %s for %s of the run)", words.Rank(x.Rank), words.PartOf(x.TimeNs, t.DurationNs))
		}
		said = append(said, fmt.Sprintf("Main threads do nothing but work on files for %s, %s of their time%s%s", words.Time(io.MainNs),
			words.PartOf(io.MainNs, whole), most, waits))
	}
	if len(io.Sizes) > 0 {
		said = append(said, fmt.Sprintf("%s read, %s written.", words.Bytes(io.ReadBytes), words.Bytes(io.WriteBytes)))
	} else {
		said = append(said, "How many bytes they move is not recorded.")
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
		said = append(said, fmt.Sprintf("%s of %s accesses move less than %s and take %s of their time. Try: fewer and larger accesses.",
			words.Count(small), words.Count(all), words.Bytes(smallAccess), words.PartOf(smallNs, allNs)))
	}
	if len(io.Operations) > 0 {
		if o := io.Operations[0]; o.Kind == "other" {
			said = append(said, fmt.Sprintf("Most of the time goes to %s (%s), not to data.", o.Operation, words.PartOf(o.TimeNs, io.TimeNs)))
		}
	}
	return said
}

// littleTime is the part of the time of a main thread below which files are no problem: a twentieth.
const littleTime = 20

// filesAside reports whether the run does not wait for files. Others may wait for a rank that alone works on them.
func filesAside(io *document.FileIO, t document.TraceInfo) bool {
	return littleTime*io.MainMost.TimeNs < t.DurationNs && littleTime*io.MainNs < t.DurationNs*int64(t.Processes-t.ProcessesMissing)
}

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
	r.Table(operations, done)
	r.Table(files, r.rows(files))
	of := r.rows(sizes)
	for i, x := range io.Sizes {
		of[i] = append(of[i], meanTime{x.TimeNs / int64(x.Calls)})
	}
	r.Table(sizes, of)
	if io.Max.Rank != io.Min.Rank {
		fmt.Fprintln(r.W)
		r.Line("Time in calls on files by rank: least %s, most %s.", words.Extreme(io.Min), words.Extreme(io.Max))
	}
}
