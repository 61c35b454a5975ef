package jsontrace

import (
	"cmp"
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
	files []*file // that overlap
	nest.Span
}

// leaveOut moves later files of ranks back to those before them, by the times in which no file of any rank records anything: if they are
// longer than what is recorded before or after them, steps are missing, and devices would seem to idle there. It returns the spans in which
// something is recorded, in order.
func (a *assembler) leaveOut(of []recorded) (spans []nest.Span) {
	slices.SortStableFunc(of, func(x, y recorded) int { return cmp.Compare(x.Min, y.Min) })
	n := 0
	for _, b := range of {
		if last := &of[max(0, n-1)]; n > 0 && b.Min <= last.Max {
			last.files, last.Max = append(last.files, b.files...), max(last.Max, b.Max)
			continue
		}
		of[n] = b
		n++
	}
	left, later := int64(0), slices.ContainsFunc(a.files, func(f *file) bool { return f.later > 0 })
	for i, b := range of[:n] {
		if i > 0 && later {
			before := of[i-1]
			if gap := nest.AddTime(b.Min, -before.Max); gap > min(b.Max-b.Min, before.Max-before.Min) {
				left = nest.AddTime(left, gap)
				a.ledger.Add(trace.CodeUnrecordedTime, trace.Place{Location: trace.None, File: b.files[0].path, Offset: -1}, "")
			}
		}
		for _, f := range b.files {
			f.set.Shift = nest.AddTime(f.set.Shift, -left)
		}
		spans = append(spans, nest.Span{Min: nest.AddTime(b.Min, -left), Max: nest.AddTime(b.Max, -left)})
	}
	return spans
}

// clock puts all files on one time axis and describes it.
func (a *assembler) clock(align Align) {
	var of []recorded
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
		of = append(of, recorded{[]*file{f}, nest.Span{Min: nest.AddTime(lo, f.set.Shift), Max: nest.AddTime(hi, f.set.Shift)}})
	}
	based := absolute && align != AlignStart
	aligned := based || align == AlignStart || len(a.files) < 2 || sinceBoot(of)
	a.defs.Clock = nest.Clock(a.leaveOut(of), based, aligned, &a.ledger)
}

// farFromZero is how many times as long as all files the time before them is at least, if that is since a machine was started.
const farFromZero = 8

// sinceBoot reports whether files seem to count from the start of one machine, which is long ago, and record the same time. Clocks that
// have nothing to do with each other hardly ever agree so well.
func sinceBoot(of []recorded) bool {
	if len(of) == 0 {
		return false
	}
	all, common := of[0].Span, of[0].Span
	for _, r := range of {
		all = nest.Span{Min: min(all.Min, r.Min), Max: max(all.Max, r.Max)}
		common = nest.Span{Min: max(common.Min, r.Min), Max: min(common.Max, r.Max)}
	}
	return common.Min < common.Max && all.Min/farFromZero > nest.AddTime(all.Max, -all.Min)
}
