package nest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

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

// Clock describes the axis of times, in ns, of files with some spans. absolute says that they count from 1970. It notes that they are not
// aligned, and of those that are, that for most of the time none records anything.
func Clock(files []Span, absolute, aligned bool, ledger *trace.Ledger) trace.ClockProperties {
	if len(files) == 0 {
		files = []Span{{}}
	}
	slices.SortFunc(files, func(a, b Span) int { return cmp.Compare(a.Min, b.Min) })
	all, gap := files[0], int64(0)
	for _, s := range files {
		gap = max(gap, AddTime(s.Min, -all.Max))
		all.Max = max(all.Max, s.Max)
	}
	length := uint64(all.Max) - uint64(all.Min)
	switch {
	case !aligned:
		ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(), "they have different origins; --align start lets all files begin together")
	case uint64(gap) > length/2:
		ledger.Add(trace.CodeFilesApart, trace.Nowhere(), fmt.Sprintf("no file records anything for %v", time.Duration(gap).Round(time.Microsecond)))
	}
	c := trace.ClockProperties{Resolution: 1e9, GlobalOffset: all.Min, Length: length, Realtime: math.MaxUint64}
	if absolute && all.Min > 0 {
		c.Realtime = uint64(all.Min)
	}
	return c
}
