package recording

import "tracekit/readers/internal/nest"

// clock puts all files on one time axis and describes it; start lets them begin together.
func (j *joiner) clock(start bool) {
	var spans []nest.Span
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
		spans = append(spans, nest.Span{Min: nest.AddTime(lo, f.Set.Shift), Max: nest.AddTime(hi, f.Set.Shift)})
	}
	j.defs.Clock = nest.Clock(spans, based && !start, based || common || start || len(j.files) < 2, &j.ledger)
}
