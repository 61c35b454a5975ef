package reconstruct

import (
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/spill"
	"tracekit/trace"
)

// What is calibrated. A replay of means makes less waiting than there was where partners are late by chance, now this one and now that one;
// one of laws makes more where they are late together. So the spread of all laws is widened or narrowed until calls of a replay wait as
// long behind late senders as those of the run; if no spread does that, more outliers are kept, and fewer if calls still wait too long. And
// the mean interval of each item that completes communication is corrected until a replay spends as much time there, with waiting, as the
// run did.
const (
	spreads         = 8       // replays at most, for each number of outliers
	corrections     = 8       // replays at most
	calibrateEvents = 1 << 21 // replayed each time, over all locations
	leastEvents     = 1 << 10 // of a location
	calibrateShare  = 0.0005  // of the run's time may be off
	lateShare       = 0.01    // of the time behind late senders may be off
	mostLate        = 0.05    // with more than that there are more outliers
	widest          = 4.0     // spread of laws
)

// Calibrated returns how many events of each of so many locations are replayed.
func Calibrated(locations int) uint64 {
	return uint64(max(calibrateEvents/max(locations, 1), leastEvents))
}

// Calibrate corrects the laws and the means of all locations of a trace: what is rebuilt with the seed then takes as long as the recorded
// run, and waits as long. The best of several replays counts. Their events lie in the store: they are the same each time, but for when they
// happen.
func Calibrate(ctx context.Context, defs *trace.Defs, locations []formulae.Location, seed uint64, store *spill.Store, jobs int) error {
	c := &calibration{ranks: partners.RanksOf(defs), locations: locations, seed: seed, limit: Calibrated(len(locations)), store: store,
		jobs: jobs, places: placesOf(locations)}
	var err error
	c.steps, err = engine.Map(ctx, jobs, len(locations), func(_ context.Context, l int) (*spill.Table[step], error) {
		return storeSteps(store, stepsOf(c.ranks, trace.LocationID(l), &locations[l]), c.places[l], c.limit)
	})
	defer func() {
		for _, t := range c.steps {
			t.Release()
		}
	}()
	if err == nil {
		err = c.run(ctx)
	}
	if err == nil {
		err = store.Err()
	}
	return err
}

// A calibration is one under way.
type calibration struct {
	ranks     *partners.Ranks
	locations []formulae.Location
	places    [][]place
	steps     []*spill.Table[step]
	seed      uint64
	limit     uint64 // events of a location
	store     *spill.Store
	jobs      int

	laws   [][]formulae.Law // as they were fitted
	target float64          // ticks behind late senders
	length float64          // of all locations together, in 1/formulae.MeanUnit ticks

	setting setting // the best one so far
	best    trial   // of it
	least   float64 // its score
}

// A trial is what a replay is off by.
type trial struct {
	off  float64 // time on completions, as a share of the length
	late float64 // time behind late senders, as a share of the run's
}

func (t trial) score() float64 { return math.Abs(t.late) + t.off }

// A setting is what a replay is made with.
type setting struct {
	outliers int
	spread   float64
	means    []uint64 // of completions; nil: those of the run
}

func (c *calibration) run(ctx context.Context) error {
	laws, most := false, 0
	for l := range c.locations {
		x := &c.locations[l]
		c.length += float64(x.Length) * formulae.MeanUnit
		c.target += float64(x.Late)
		c.laws = append(c.laws, x.Times.Laws)
		laws, most = laws || len(x.Times.Laws) > 0, max(most, len(x.Far))
	}
	c.least = math.Inf(1)
	for n := formulae.LeastOutliers; ; n *= 2 {
		if err := c.spread(ctx, n, laws); err != nil {
			return err
		}
		if n >= min(most, formulae.MostOutliers) || math.Abs(c.best.late) <= mostLate {
			break
		}
	}
	for n := formulae.LeastOutliers / 2; n > 0 && c.best.late > mostLate; n /= 2 { // what one rank alone is late by makes others wait
		if err := c.spread(ctx, n, laws); err != nil {
			return err
		}
	}
	now, worse := c.setting, 0
	for n := 0; n < corrections && worse < 3 && (c.best.off > calibrateShare || math.Abs(c.best.late) > lateShare); n++ {
		c.apply(now)
		t, err := c.replay(ctx, true)
		if err != nil {
			return err
		}
		if worse++; c.note(t, now) || n == 0 { // the first one is what was the best so far
			worse = 0
		}
		now.means = c.means()
	}
	c.apply(c.setting)
	return nil
}

// spread looks for the spread of laws with so many outliers: between one with which calls wait too little and one with which they wait too
// long.
func (c *calibration) spread(ctx context.Context, outliers int, laws bool) error {
	low, high := -1.0, -1.0 // none yet
	for spread := 1.0; ; {
		s := setting{outliers: outliers, spread: spread}
		c.apply(s)
		t, err := c.replay(ctx, false)
		if err != nil {
			return err
		}
		c.note(t, s)
		if t.late > 0 {
			high = spread
		} else {
			low = spread
		}
		switch {
		case !laws || math.Abs(t.late) <= lateShare || high == 0 || low == widest || high >= 0 && low >= 0 && high-low < widest/(1<<spreads):
			return nil
		case low < 0:
			spread = 0
		case high < 0:
			spread = min(2*low, widest)
		default:
			spread = (low + high) / 2
		}
	}
}

// note keeps the setting of a replay if it is the best one so far.
func (c *calibration) note(t trial, s setting) (better bool) {
	if better = t.score() < c.least; better {
		c.least, c.best, c.setting = t.score(), t, s
	}
	return better
}

// apply makes the times of all locations those of a setting.
func (c *calibration) apply(s setting) {
	for l := range c.locations {
		c.locations[l].Keep(s.outliers)
	}
	c.widen(s.spread)
	if s.means != nil {
		c.setMeans(s.means)
	}
}

// means returns the means that are corrected.
func (c *calibration) means() (out []uint64) {
	for l := range c.locations {
		for k := range c.places[l] {
			for _, r := range corrected {
				if at := &c.places[l][k]; partners.Completes(at.kind) {
					out = append(out, c.locations[l].Times.Means[at.interval+uint32(r)])
				}
			}
		}
	}
	return out
}

func (c *calibration) setMeans(means []uint64) {
	for l := range c.locations {
		for k := range c.places[l] {
			for _, r := range corrected {
				if at := &c.places[l][k]; partners.Completes(at.kind) {
					c.locations[l].Times.Means[at.interval+uint32(r)] = means[0]
					means = means[1:]
				}
			}
		}
	}
}

// corrected are the regimes whose means are.
var corrected = [...]partners.Regime{partners.Free, partners.Blocked}

// widen makes the laws of all locations so many times as wide as they were fitted, around their means.
func (c *calibration) widen(spread float64) {
	for l := range c.locations {
		times := &c.locations[l].Times
		if times.Laws = nil; spread == 0 {
			continue // these are means
		}
		times.Laws = slices.Clone(c.laws[l])
		for i := range times.Laws {
			law := &times.Laws[i]
			mean, last, now := float64(times.Means[law.Interval])/formulae.MeanUnit, uint64(0), uint64(0)
			widened := slices.Clone(law.Quantiles)
			for k, step := range law.Quantiles {
				now += step
				q := uint64(min(max(mean+spread*(float64(now)-mean), 0), formulae.LongestLawful))
				widened[k], last = q-min(last, q), q
			}
			law.Quantiles = widened
		}
	}
}

// replay replays the run once, and corrects the means of completions if it is to.
func (c *calibration) replay(ctx context.Context, correct bool) (t trial, err error) {
	r := newReplay(c.ranks, c.locations, c.places, func(l int) stepper { return &stored{table: c.steps[l]} }, c.seed, c.limit, c.jobs)
	if _, err := r.run(ctx); err != nil {
		return t, err
	}
	late := 0.0
	for l := range c.locations {
		x := &c.locations[l]
		t.off += r.locations[l].correct(x.Times.Means, x.Completions, correct)
		late += float64(r.locations[l].late)
	}
	t.off /= max(c.length, 1)
	if c.target > 0 {
		t.late = late/c.target - 1
	}
	return t, nil
}

// correct adds to the means of completions what a replay spent less on them than the
// recorded run did, if it is to, and returns by how much the replay is off, in 1/formulae.MeanUnit ticks.
func (l *replayed) correct(means, recorded []uint64, correct bool) (off float64) {
	for k := range l.places {
		at := &l.places[k]
		if !partners.Completes(at.kind) || l.heads[at.head].count == 0 {
			continue
		}
		head := l.heads[at.head]
		d := int64(recorded[k] - formulae.Mean(head.time, head.count))
		off += math.Abs(float64(d)) * float64(head.count)
		if !correct {
			continue
		}
		for _, r := range corrected {
			own := &means[at.interval+uint32(r)]
			*own = uint64(max(int64(*own)+d*2/3, 0)) // all of it would swing
		}
	}
	return off
}
