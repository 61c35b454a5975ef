package formulae

import (
	"context"
	"math"
	"slices"

	"tracekit/trace"
)

// What is calibrated: a replay of means makes less waiting than there was where partners
// are late by chance, now this one and now that one; one of laws makes more where they are
// late together. The mean time of each item that completes communication is therefore
// corrected until a replay spends as much time there, with waiting, as the run did.
const (
	calibrations    = 8
	calibrateEvents = 1 << 17 // replayed each time, over all locations
	leastEvents     = 1 << 10 // of a location
	calibrateShare  = 2000    // of the run's time may be off
)

// calibrate corrects the means of all locations, and keeps those of the best replay.
func calibrate(ctx context.Context, f *frame, trees []*callTree, files []*fileTree, times []fileTimes, seed uint64) error {
	limit := uint64(max(calibrateEvents/max(len(trees), 1), leastEvents))
	best, least, enough := make([][]uint64, len(times)), math.Inf(1), 0.0
	for _, t := range trees {
		enough += float64(t.last-t.first) * meanUnit / calibrateShare
	}
	for range calibrations {
		if least <= enough {
			break
		}
		all := make([]*rebuilder, len(files))
		for l := range files {
			all[l] = newRebuilder(f, trace.LocationID(l), files[l], &times[l], seed)
		}
		if _, _, err := consistent(ctx, f, all, limit); err != nil {
			return err
		}
		off := 0.0
		used := make([][]uint64, len(times))
		for l, t := range trees {
			used[l] = times[l].Means
			times[l].Means = slices.Clone(used[l])
			off += t.correct(all[l], times[l].Means)
		}
		if off < least {
			least, best = off, used
		}
	}
	for l := range times {
		times[l].Means = best[l]
	}
	return nil
}

// correct adds to the means of completions what a replay spends less on them than the
// recorded run did, and returns by how much the replay is off, in 1/meanUnit ticks.
func (t *callTree) correct(r *rebuilder, means []uint64) (off float64) {
	for k, n := range t.nodes {
		for j, i := range n.items {
			own := means[:regimesOf(i.kind)]
			means = means[len(own):]
			replayed := &r.nodes[k].items[j].heads
			if replayed.count == 0 {
				continue
			}
			recorded := meanOf(i.waited+i.spells[free].time+i.spells[blocked].time, i.spells[free].count+i.spells[blocked].count)
			d := int64(recorded - replayed.mean())
			off += math.Abs(float64(d)) * float64(replayed.count)
			for _, r := range []regime{free, blocked} {
				own[r] = uint64(max(int64(own[r])+d*2/3, 0)) // all of it would swing
			}
		}
	}
	return off
}
