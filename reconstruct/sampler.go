package reconstruct

import (
	"math/bits"
	"slices"

	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A timing says when the events of a location happen: how long the time before each is, the mean of
// its item and regime or what is drawn from a law with that mean. Amounts are in 1/formulae.MeanUnit ticks.
type timing struct {
	now        int64      // time of the last event
	completing bool       // the last event completed something in the current call
	means      []uint64   // of the location's intervals
	left       []uint8    // of the last tick, of each
	laws       []*drawing // of each; nil: no law. Empty: there are none
	seq        uint64     // of the next event
	outliers   []formulae.Outlier
}

func newTiming(l trace.LocationID, from *formulae.Location, places []place, seed uint64) timing {
	times := &from.Times
	t := timing{now: times.First, means: times.Means, left: make([]uint8, len(times.Means)), outliers: times.Outliers}
	if len(times.Laws) > 0 {
		t.laws = make([]*drawing, len(times.Means))
	}
	items := places
	for i := range times.Laws {
		law := &times.Laws[i]
		for len(items) > 1 && uint64(items[1].interval) <= law.Interval {
			items = items[1:]
		}
		t.laws[law.Interval] = newDrawing(levels(law), times.Means[law.Interval], items[0].count,
			numbers.Mix(seed^numbers.Mix(uint64(l))+law.Interval))
	}
	return t
}

// outlier returns the time before the next event if the file has it, and notes that the event happens.
func (t *timing) outlier() (d int64, ok bool) {
	if ok = len(t.outliers) > 0 && t.outliers[0].Seq == t.seq; ok {
		d = int64(min(formulae.OutlierTime(t.outliers[0].Code), longest))
		t.outliers = t.outliers[1:]
	}
	t.seq++
	return d, ok
}

// regime returns the regime of the next event if nobody is waited for, and notes the event.
func (t *timing) regime(k trace.Kind) partners.Regime {
	before := t.completing
	t.completing = partners.Completes(k)
	if t.completing && before {
		return partners.Further
	}
	return partners.Free
}

// tick moves on to an event that waits for nobody, of an item whose intervals begin there.
func (t *timing) tick(k trace.Kind, interval uint32) int64 {
	t.now += t.next(interval + uint32(t.regime(k)))
	return t.now
}

// next returns the ticks of the interval before the next event. What is left of a tick counts for the same one the next time.
func (t *timing) next(interval uint32) int64 {
	if d, ok := t.outlier(); ok {
		return d
	}
	d := t.means[interval]
	if len(t.laws) > 0 && t.laws[interval] != nil {
		d = t.laws[interval].draw(d)
	}
	d += uint64(t.left[interval])
	t.left[interval] = uint8(d % formulae.MeanUnit)
	return int64(d / formulae.MeanUnit)
}

// A drawing is what there is of a law.
type drawing struct {
	quantiles []uint64
	factor    float64 // by which quantiles, in ticks, become draws
	visits    uint64  // after which the draws have added up to the mean
	drawn     uint64  // visits so far, modulo visits
	debt      uint64  // by how much these draws exceed the mean, modulo 2^64
	seed      uint64
}

// longest is the longest time that is drawn, in 1/formulae.MeanUnit ticks.
const longest = 1 << 60

// newDrawing returns draws from a law, scaled so that all visits add up to the mean; nil if that cannot be.
func newDrawing(quantiles []uint64, mean, visits, seed uint64) *drawing {
	p := &drawing{quantiles: quantiles, visits: visits, seed: seed}
	if visits == 0 || visits >= 1<<58 || mean == 0 || mean >= longest {
		return nil
	}
	sum := p.sum()
	if !(sum > 0) {
		return nil
	}
	p.factor = float64(mean) * float64(visits) / sum
	return p
}

// draw returns the quantile of the law that is this visit's. All visits together go through
// the shares (k + 1/2) / visits of the law once, in an order that the seed shuffles. The
// last one makes good what was rounded.
func (p *drawing) draw(mean uint64) uint64 {
	d := uint64(min(p.quantile(p.share(shuffled(p.drawn, p.visits, p.seed)))*p.factor, longest))
	if p.drawn++; p.drawn == p.visits {
		d = uint64(max(int64(mean-p.debt), 0))
		p.drawn, p.debt = 0, 0
		return d
	}
	p.debt += d - mean
	return d
}

// levels returns the quantiles of a law, each in ticks.
func levels(l *formulae.Law) []uint64 {
	out := make([]uint64, len(l.Quantiles))
	last := uint64(0)
	for i, d := range l.Quantiles {
		last += d
		out[i] = last
	}
	return out
}

// share returns (k + 1/2) / visits in 1/2^32.
func (p *drawing) share(k uint64) uint64 {
	s, _ := bits.Div64((2*k+1)>>33, (2*k+1)<<31, p.visits)
	return s
}

// quantile returns the quantile of a share, linear between the levels. Products are rounded
// before they are added, the same on every machine.
func (p *drawing) quantile(share uint64) float64 {
	const unit = 1 << 32 / formulae.LevelUnit
	levels := formulae.LawLevels()
	i, _ := slices.BinarySearch(levels[:], share/unit+1)
	low, high := levels[i-1]*unit, levels[i]*unit
	a, b := p.quantiles[i-1], p.quantiles[i]
	step := float64(b-a) * (float64(share-low) / float64(high-low))
	return float64(a) + float64(step)
}

// sum returns the sum of the quantiles of all visits: between two levels they are an
// arithmetic series.
func (p *drawing) sum() (sum float64) {
	first := uint64(0)
	levels := formulae.LawLevels()
	for _, level := range levels[1:] {
		hi, lo := bits.Mul64(level, p.visits)
		end := (hi<<59 | lo>>5) // shares below the level: (2k + 1)/2 < visits·level/LevelUnit
		if lo&31 != 0 {
			end++
		}
		end /= 2
		if end > first {
			pair := p.quantile(p.share(first)) + p.quantile(p.share(end-1))
			sum += float64(pair * (float64(end-first) / 2))
			first = end
		}
	}
	return sum
}

// mulDiv returns a·b/c; ok is false if that is too large.
func mulDiv(a, b, c uint64) (uint64, bool) {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, c)
	return q, true
}

// shuffled returns where i < n is in a permutation of the numbers below n: a Feistel network
// over as many bits as n has, gone through until the result is below n.
func shuffled(i, n, seed uint64) uint64 {
	half := uint(bits.Len64(n-1)+1) / 2
	mask := uint64(1)<<half - 1
	for {
		for round := range uint64(4) {
			i = (i&mask)<<half | (i>>half ^ numbers.Mix(i&mask^seed+round<<58)&mask)
		}
		if i < n {
			return i
		}
	}
}
