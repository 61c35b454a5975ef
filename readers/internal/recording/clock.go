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
		lo, hi, ok := nest.Extent(nested(f.tracks()))
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
	j.defs.Clock = nest.Clock(first, last, based && !start)
	if !based && !common && !start && len(j.files) > 1 {
		j.ledger.Add(trace.CodeUnalignedClocks, trace.Nowhere(), nest.NoCommonTime)
	}
}
