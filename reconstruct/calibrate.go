package reconstruct

import (
	"context"
	"iter"
	"math"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/spill"
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

// Calibrate corrects the means of all locations of a trace: what is rebuilt with the seed then takes as long as the recorded run. The best
// of several replays counts. Their events lie in the store: they are the same each time, but for when they happen.
func Calibrate(ctx context.Context, defs *trace.Defs, locations []formulae.Location, seed uint64, store *spill.Store, jobs int) error {
	ranks := formulae.NewRankMap(defs)
	limit := uint64(max(calibrateEvents/max(len(locations), 1), leastEvents))
	places := placesOf(locations)
	steps, err := engine.Map(ctx, jobs, len(locations), func(_ context.Context, l int) (*spill.Table[step], error) {
		return storeSteps(store, newRebuilt(ranks, trace.LocationID(l), &locations[l]), places[l], limit), nil
	})
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range steps {
			t.Release()
		}
	}()
	best := spill.NewTable[uint64](store) // means
	defer func() { best.Release() }()
	least, enough := math.Inf(1), 0.0
	for _, l := range locations {
		enough += float64(l.Length) * formulae.MeanUnit / calibrateShare
	}
	for range calibrations {
		if least <= enough {
			break
		}
		r := newReplay(ranks, locations, places, func(l int) stepper { return &stored{table: steps[l]} }, seed, limit, jobs)
		if _, err := r.run(ctx); err != nil {
			return err
		}
		off, used := 0.0, spill.NewTable[uint64](store)
		for l := range locations {
			for m := range completions(places[l], locations[l].Times.Means) {
				used.Append(*m)
			}
			off += r.locations[l].correct(locations[l].Times.Means, locations[l].Completions)
		}
		if off < least {
			best, used = used, best
			least = off
		}
		used.Release()
	}
	at := 0
	for l := range locations {
		for m := range completions(places[l], locations[l].Times.Means) {
			*m = best.At(at)
			at++
		}
	}
	return store.Err()
}

// completions yields those of a location's means that are corrected.
func completions(places []place, means []uint64) iter.Seq[*uint64] {
	return func(yield func(*uint64) bool) {
		for k := range places {
			for _, r := range corrected {
				if at := &places[k]; formulae.Completes(at.kind) && !yield(&means[at.interval+uint32(r)]) {
					return
				}
			}
		}
	}
}

// corrected are the regimes whose means are.
var corrected = [...]formulae.Regime{formulae.Free, formulae.Blocked}

// correct adds to the means of completions what a replay spent less on them than the
// recorded run did, and returns by how much the replay is off, in 1/formulae.MeanUnit ticks.
func (l *replayed) correct(means, recorded []uint64) (off float64) {
	for k := range l.places {
		at := &l.places[k]
		if !formulae.Completes(at.kind) || l.heads[at.head].count == 0 {
			continue
		}
		head := l.heads[at.head]
		d := int64(recorded[k] - formulae.Mean(head.time, head.count))
		off += math.Abs(float64(d)) * float64(head.count)
		for _, r := range corrected {
			own := &means[at.interval+uint32(r)]
			*own = uint64(max(int64(*own)+d*2/3, 0)) // all of it would swing
		}
	}
	return off
}
