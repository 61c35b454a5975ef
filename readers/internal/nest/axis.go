package nest

import (
	"math"

	"tracekit/trace"
)

// Extent returns the first and the last time of some tracks, before they are shifted; ok is false if they have none.
func Extent(tracks []*Track) (first, last int64, ok bool) {
	extent := noSpan
	for _, l := range tracks {
		if lo, hi, some := l.Stream.Span(); some {
			extent = Span{min(extent.Min, lo), max(extent.Max, hi, l.Latest)}
		}
	}
	return extent.Min, extent.Max, extent.Min <= extent.Max
}

// Clock describes the axis of times from first to last, in ns; there are none if first > last. absolute says that they count from 1970.
func Clock(first, last int64, absolute bool) trace.ClockProperties {
	if first > last {
		first, last = 0, 0
	}
	c := trace.ClockProperties{Resolution: 1e9, GlobalOffset: first, Length: uint64(last) - uint64(first), Realtime: math.MaxUint64}
	if absolute && first > 0 {
		c.Realtime = uint64(first)
	}
	return c
}

// NoCommonTime is the detail of the finding that the files of a trace have no time in common.
const NoCommonTime = "the files have different time origins; --align start lets all files begin together"
