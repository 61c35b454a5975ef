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
		first, last = min(first, nest.AddTime(lo, f.set.Shift)), max(last, nest.AddTime(hi, f.set.Shift))
	}
	a.defs.Clock = nest.Clock(first, last, absolute && align != AlignStart)
	if !absolute && align != AlignStart && len(a.files) > 1 {
		a.ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(), nest.NoCommonTime)
	}
}
