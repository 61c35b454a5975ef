package jsontrace

import (
	"cmp"
	"math"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// An Align says how the files of a trace are put on one time axis.
type Align int

// The ways of alignment.
const (
	// AlignRecorded takes the times as recorded, plus the base that a file announces. If
	// the files then do not count from one moment, that is a finding.
	AlignRecorded Align = iota
	// AlignStart moves each file so that its first event has the time 0.
	AlignStart
)

// since2001 is the least time, in ns, that is taken to count from 1970.
const since2001 = 1e18

// A recorded is a span in which files record something.
type recorded struct {
	files    []*file // that overlap
	from, to int64
}

// leaveOut moves later files of ranks back to those before them, by the times in which no file of any rank records anything: if they are
// longer than what is recorded before or after them, steps are missing, and devices would seem to idle there. It returns the first and the
// last time of all files.
func (a *assembler) leaveOut(spans []recorded) (first, last int64) {
	if len(spans) == 0 {
		return math.MaxInt64, math.MinInt64
	}
	slices.SortStableFunc(spans, func(x, y recorded) int { return cmp.Compare(x.from, y.from) })
	n := 0
	for _, b := range spans {
		if last := &spans[max(0, n-1)]; n > 0 && b.from <= last.to {
			last.files, last.to = append(last.files, b.files...), max(last.to, b.to)
			continue
		}
		spans[n] = b
		n++
	}
	left, later := int64(0), slices.ContainsFunc(a.files, func(f *file) bool { return f.later > 0 })
	for i, b := range spans[:n] {
		if i > 0 && later {
			before := spans[i-1]
			if gap := nest.AddTime(b.from, -before.to); gap > min(b.to-b.from, before.to-before.from) {
				left = nest.AddTime(left, gap)
				a.ledger.Add(trace.CodeUnrecordedTime, trace.Place{Location: trace.None, File: b.files[0].path, Offset: -1}, "")
			}
		}
		for _, f := range b.files {
			f.set.Shift = nest.AddTime(f.set.Shift, -left)
		}
	}
	return spans[0].from, nest.AddTime(spans[n-1].to, -left)
}

// clock puts all files on one time axis and describes it.
func (a *assembler) clock(align Align) {
	var spans []recorded
	absolute := true
	moved := int64(0) // files of the rank
	for _, f := range a.files {
		f.set.Shift = f.base // known only now: the file may say it behind the events
		lo, hi, ok := nest.Extent(nested(f.tracks.list))
		if !ok {
			continue
		}
		absolute = absolute && (f.based || lo > since2001)
		if align == AlignStart && f.later == 0 {
			moved = -lo - f.base
		}
		f.set.Shift += moved
		spans = append(spans, recorded{[]*file{f}, nest.AddTime(lo, f.set.Shift), nest.AddTime(hi, f.set.Shift)})
	}
	first, last := a.leaveOut(spans)
	a.defs.Clock = nest.Clock(first, last, absolute && align != AlignStart)
	if !absolute && align != AlignStart && len(a.files) > 1 {
		a.ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(), nest.NoCommonTime)
	}
}
