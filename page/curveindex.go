package page

import (
	"context"

	"tracekit/spill"
)

// An indexCurve is the curve of a counter of one row, exactly and in cells of growing length.
type indexCurve struct {
	counter int // of the builder, and in the end of the timeline
	row     uint32
	levels  []*curveLevel // the finest first, which is exact
}

type curveLevel struct {
	resolution
	parts ordered[Piece]
	mesh  *meshed // that makes it; nil: it is exact
}

// curveGrowth is how many times longer the cells of a level are than those of the one before:
// much, for there may be many counters.
const curveGrowth = 16

func newIndexCurve(store *spill.Store, counter int, length int64, events uint64) *indexCurve {
	at := func(step int64) *curveLevel {
		return &curveLevel{resolution: resolution{step: step}, parts: newOrdered(store, (*Piece).begin)}
	}
	c := &indexCurve{counter: counter, levels: []*curveLevel{at(1)}}
	for step := max(curveGrowth*length/int64(max(events, 1)), curveGrowth); step < length/coarsest; step *= curveGrowth {
		l := at(step)
		l.mesh = newMeshed(0, step, l.add)
		c.levels = append(c.levels, l)
	}
	return c
}

func (c *indexCurve) plot(until int64, value float64) {
	exact := c.levels[0]
	exact.add(until, Piece{exact.end, value, value, value})
	for _, l := range c.levels[1:] {
		l.mesh.plot(until, value)
	}
}

func (c *indexCurve) finish() {
	for _, l := range c.levels[1:] {
		l.mesh.finish()
	}
}

func (c *indexCurve) release() {
	for _, l := range c.levels {
		l.parts.Release()
	}
}

func (l *curveLevel) add(until int64, x Piece) {
	if n := l.parts.Len(); n == 0 || !l.parts.Ptr(n-1).equals(&x) {
		l.parts.add(x)
	}
	l.end = until
}

// sketch returns the curve from one time to another in about as many pieces as may be.
func (c *indexCurve) sketch(from, to int64, limit int) *sketch {
	resolution := (to - from) / int64(max(limit, 1))
	level := c.levels[0]
	for _, l := range c.levels[1:] {
		if l.step > resolution || level.parts.Len() <= limit {
			break
		}
		level = l
	}
	s := &sketch{length: to - from, limit: limit, step: level.step, kept: pieces{end: from}}
	n := level.parts.Len()
	before := level.parts.before(func(t int64) bool { return t > from })
	for i := max(before-1, 0); i < n; i++ {
		x, until := level.parts.At(i), level.end
		if x.StartNs >= to {
			break
		}
		if i+1 < n {
			until = level.parts.At(i + 1).StartNs
		}
		x.StartNs = max(x.StartNs, from)
		s.mix(min(until, to), x)
	}
	s.finish()
	return s
}

// mostPieces is how many pieces an answer of the index has at most, over all rows.
const mostPieces = 1 << 18

// Curves encodes the curves that a counter of the timeline has from one time to another, each at
// so many steps, as a page does.
func (x *Index) Curves(ctx context.Context, counter int, from, to int64, steps int) ([]byte, error) {
	from, to = max(from, 0), min(to, x.length)
	var chosen []*indexCurve
	for _, c := range x.curves {
		if c.counter == counter {
			chosen = append(chosen, c)
		}
	}
	var out []Curve
	for _, c := range chosen {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s := c.sketch(from, to, max(min(steps, mostPieces/len(chosen)), 16))
		out = append(out, Curve{Counter: counter, Row: c.row, StepNs: s.step, Pieces: s.kept.rows})
	}
	return encodeCurves(out, from), x.store.Err()
}
