package jsontrace

import (
	"math"

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

// clock puts all files on one time axis and describes it.
func (a *assembler) clock(align Align) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	absolute := true
	for _, f := range a.files {
		f.set.Shift = f.base // known only now: the file may say it behind the events
		lo, hi, ok := f.span()
		if !ok {
			continue
		}
		absolute = absolute && (f.based || lo > since2001)
		if align == AlignStart {
			f.set.Shift = -lo
		}
		first, last = min(first, nest.AddTime(lo, f.set.Shift)), max(last, nest.AddTime(hi, f.set.Shift))
	}
	if first > last {
		first, last = 0, 0
	}
	c := trace.ClockProperties{Resolution: 1e9, GlobalOffset: first, Length: uint64(last) - uint64(first), Realtime: ^uint64(0)}
	if absolute && align != AlignStart && first > 0 {
		c.Realtime = uint64(first)
	}
	if !absolute && align != AlignStart && len(a.files) > 1 {
		a.ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(), "the files have different time origins; --align start lets all "+
			"files begin together")
	}
	a.defs.Clock = c
}

// span returns the first and the last time in a file, before shifting.
func (f *file) span() (first, last int64, ok bool) {
	for _, l := range f.tracks.list {
		lo, hi, some := l.Stream.Span()
		if !some {
			continue
		}
		hi = max(hi, l.Latest)
		if !ok || lo < first {
			first = lo
		}
		if !ok || hi > last {
			last = hi
		}
		ok = true
	}
	return first, last, ok
}
