package reconstruct

import (
	"context"
	"math"
	"slices"

	"tracekit/formulae"
	"tracekit/trace"
)

// What is calibrated: a replay of means makes less waiting than there was where partners
// are late by chance, now this one and now that one; one of laws makes more where they are
// late together. The mean interval of each item that completes communication is therefore
// corrected until a replay spends as much time there, with waiting, as the run did.
const (
	calibrations    = 8
	calibrateEvents = 1 << 17 // replayed each time, over all locations
	leastEvents     = 1 << 10 // of a location
	calibrateShare  = 2000    // of the run's time may be off
)

// Calibrate corrects the means of all locations of a trace such that what is rebuilt with the
// seed takes the time that the recorded run took. The best of several replays counts.
func Calibrate(ctx context.Context, defs *trace.Defs, locations []formulae.Location, seed uint64, jobs int) error {
	ranks := formulae.NewRankMap(defs)
	limit := uint64(max(calibrateEvents/max(len(locations), 1), leastEvents))
	best, least, enough := make([][]uint64, len(locations)), math.Inf(1), 0.0
	for _, l := range locations {
		enough += float64(l.Length) * formulae.MeanUnit / calibrateShare
	}
	for range calibrations {
		if least <= enough {
			break
		}
		all, err := rebuilders(ctx, ranks, locations, seed, jobs)
		if err == nil {
			_, _, err = consistent(ctx, ranks, all, limit, jobs)
		}
		if err != nil {
			return err
		}
		off := 0.0
		used := make([][]uint64, len(locations))
		for l := range locations {
			means := &locations[l].Times.Means
			used[l], *means = *means, slices.Clone(*means)
			off += all[l].correct(*means, locations[l].Completions)
		}
		if off < least {
			least, best = off, used
		}
	}
	for l := range locations {
		locations[l].Times.Means = best[l]
	}
	return nil
}

// correct adds to the means of completions what a replay spent less on them than the
// recorded run did, and returns by how much the replay is off, in 1/formulae.MeanUnit ticks.
func (r *rebuilder) correct(means, recorded []uint64) (off float64) {
	for k := range r.nodes {
		for j := range r.nodes[k].items {
			i := &r.nodes[k].items[j]
			own, want := means[:formulae.Regimes(i.Kind)], recorded[0]
			means, recorded = means[len(own):], recorded[1:]
			if i.heads.count == 0 {
				continue
			}
			d := int64(want - formulae.Mean(i.heads.time, i.heads.count))
			off += math.Abs(float64(d)) * float64(i.heads.count)
			for _, r := range []formulae.Regime{formulae.Free, formulae.Blocked} {
				own[r] = uint64(max(int64(own[r])+d*2/3, 0)) // all of it would swing
			}
		}
	}
	return off
}
