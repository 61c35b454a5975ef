package recording

import (
	"math"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// clock puts all files on one time axis and describes it; start lets them begin together.
func (j *joiner) clock(start bool) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	based, common := true, true
	for _, f := range j.files {
		based = based && f.HasEpoch
		common = common && f.Clock != "" && f.Clock == j.files[0].Clock
	}
	for _, f := range j.files {
		lo, hi, ok := f.span()
		if !ok {
			continue
		}
		switch {
		case start:
			f.Set.Shift = -lo
		case based:
			f.Set.Shift = f.Epoch
		}
		first, last = min(first, nest.AddTime(lo, f.Set.Shift)), max(last, nest.AddTime(hi, f.Set.Shift))
	}
	if first > last {
		first, last = 0, 0
	}
	j.defs.Clock = trace.ClockProperties{Resolution: 1e9, GlobalOffset: first, Length: uint64(last) - uint64(first), Realtime: math.MaxUint64}
	if based && !start && first > 0 {
		j.defs.Clock.Realtime = uint64(first)
	}
	if !based && !common && !start && len(j.files) > 1 {
		j.ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(),
			"the files have different time origins; --align start lets all files begin together")
	}
}

// span returns the first and the last time in a file, before shifting.
func (f *File) span() (first, last int64, ok bool) {
	for _, l := range f.tracks() {
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
