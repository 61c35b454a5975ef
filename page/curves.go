package page

import (
	"encoding/binary"
	"math"

	"tracekit/codec"
	"tracekit/trace"
)

// A Counter is one that has curves. What accumulates, or is recorded as increments, is drawn as
// its rate, per second.
type Counter struct {
	Name, Unit string
	Rate       bool
}

// A Curve is what a counter of one row, or of all together, is over time: a step function.
type Curve struct {
	Counter int    // index into Timeline.Counters
	Row     uint32 // trace.None: the sum over all rows
	// StepNs 1: the pieces are as they were recorded. Otherwise time was divided into cells of so
	// many ns from 0 on, and each piece is one or several equal ones.
	StepNs int64
	Pieces []Piece // each lasts until the next, the last until the end of the run
}

// A Piece holds the mean of a counter over the time in which it is known, its least and its
// greatest value. NaN: it is not known.
type Piece struct {
	StartNs        int64
	Mean, Min, Max float64
}

func (p *Piece) begin() *int64 { return &p.StartNs }

// addCurves gives a timeline the curves of all its rows and the counters that they are of. It
// returns the numbers that these have in it.
func (tl *Timeline) addCurves(curves []Curve, counters []Counter, limits Limits) (numbers []int) {
	numbers = make([]int, len(counters))
	for _, c := range curves {
		numbers[c.Counter] = 1
	}
	for i, c := range counters {
		if numbers[i] > 0 {
			numbers[i] = len(tl.Counters)
			tl.Counters = append(tl.Counters, c)
		}
	}
	for _, c := range curves {
		c.Counter = numbers[c.Counter]
		tl.Curves = append(tl.Curves, c)
	}
	if limits.Pieces/max(len(curves), 1) < leastPieces {
		tl.sumCurves(limits.Pieces)
	}
	for tl.pieces() > limits.Pieces && tl.thinCurves() {
	}
	return numbers
}

// leastPieces is how many pieces a curve needs to show anything: if there is no room for them,
// the curves of a counter are added up.
const leastPieces = 64

// piecesOfRow bounds the pieces that are kept of each curve until all are there: every row may
// have every counter.
func (b *builder) piecesOfRow(limits Limits, rows int) int {
	const kept = 1 << 21
	drawn := 0
	for _, as := range b.drawnAs {
		drawn += min(len(as), 1)
	}
	return max(min(kept/max(rows*drawn, 1), limits.Pieces), 16)
}

// pieces counts the pieces of all curves.
func (tl *Timeline) pieces() (n int) {
	for i := range tl.Curves {
		n += len(tl.Curves[i].Pieces)
	}
	return n
}

// sumCurves puts one curve for each counter in the place of those of rows.
func (tl *Timeline) sumCurves(limit int) {
	by := make([][]Curve, len(tl.Counters))
	for _, c := range tl.Curves {
		by[c.Counter] = append(by[c.Counter], c)
	}
	tl.Curves = nil
	step := max(ceil(tl.LengthNs, int64(max(limit/max(len(by), 1), 16))), 1)
	for counter, curves := range by {
		tl.Curves = append(tl.Curves, Curve{Counter: counter, Row: trace.None, StepNs: step, Pieces: sumOf(curves, tl.LengthNs, step)})
	}
}

// sumOf adds step functions up, in cells. Least and greatest are those of sums of means.
func sumOf(curves []Curve, length, step int64) []Piece {
	sums := make([]float64, ceil(length, step))
	for i := range sums {
		sums[i] = math.NaN()
	}
	for _, c := range curves {
		m := newMeshed(0, step, func(until int64, x Piece) {
			for k := x.StartNs / step; k*step < until && !math.IsNaN(x.Mean); k++ {
				if math.IsNaN(sums[k]) {
					sums[k] = 0
				}
				sums[k] += x.Mean
			}
		})
		curve := pieces{length, c.Pieces}
		curve.each(m.mix)
		m.finish()
	}
	var out pieces
	for k, v := range sums {
		out.plot(int64(k+1)*step, v)
	}
	return out.rows
}

// thinCurves halves the pieces of the curves that have the most, and reports whether it could.
func (tl *Timeline) thinCurves() bool {
	return halve(tl.Curves, func(c *Curve) int { return len(c.Pieces) }, func(c *Curve, limit int) {
		s := sketch{length: tl.LengthNs, limit: limit, step: c.StepNs, kept: pieces{tl.LengthNs, c.Pieces}}
		s.coarsen()
		s.finish()
		c.StepNs, c.Pieces = s.step, s.kept.rows
	})
}

// encodeCurves encodes curves: their number; for each the counter, the row (0: the sum, else one
// more), the step, the number of pieces; the begin of the first (signed, after an origin), then the
// distances of begins; the means of all pieces, then, unless they are exact, all least and all
// greatest values, as 32-bit floating-point numbers, the lowest byte first.
func encodeCurves(curves []Curve, origin int64) []byte {
	c := codec.ToMemory(nil)
	c.Uvarint(uint64(len(curves)))
	for _, curve := range curves {
		for _, v := range []uint64{uint64(curve.Counter), uint64(curve.Row + 1), uint64(curve.StepNs), uint64(len(curve.Pieces))} {
			c.Uvarint(v)
		}
		last := origin
		for i, x := range curve.Pieces {
			if i == 0 {
				c.Varint(x.StartNs - last)
			} else {
				c.Uvarint(uint64(x.StartNs - last))
			}
			last = x.StartNs
		}
		var real [4]byte
		values := []func(*Piece) float64{func(x *Piece) float64 { return x.Mean }}
		if curve.StepNs > 1 {
			values = append(values, func(x *Piece) float64 { return x.Min }, func(x *Piece) float64 { return x.Max })
		}
		for _, value := range values {
			for i := range curve.Pieces {
				binary.LittleEndian.PutUint32(real[:], math.Float32bits(float32(value(&curve.Pieces[i]))))
				codec.Bytes(c, real[:])
			}
		}
	}
	return c.Data()
}
