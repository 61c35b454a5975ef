package tkf

import (
	"math/bits"
	"slices"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// A quantum is that of values that are multiples of a number which need not be whole, from some origin, rounded down: counters in a unit of
// the hardware. The writer finds it and tells it once; where the values lie within it, and what it is exactly, is learned from them.
type quantum struct {
	size   int64 // in 1/2^32; 0: there is none
	beyond int64 // by how much the last value was rounded down, in 1/2^32
	told   int   // how many differences were told at the place so far
	failed int   // of these since there is a quantum, those that are no multiples

	past []uint64 // of the writer alone: the last values
}

const (
	unit         = 1 << 32
	quantumLeast = 8       // below, little is gained
	quantumMost  = 1 << 62 // is not reached, in 1/2^32
	quantumReach = 1 << 30 // differences that are multiples are below
	quantumPast  = 64      // so many values tell a quantum
	quantumWrong = 3       // values are off by no more
	quantumRate  = 64      // how far the size follows an error, as a part

	contextQuantum = 1 << 30
	contextOff     = 3 << 28
)

// learnQuantum moves on to a value. After 64 differences that were told at the place, 256, 1024 and so on its quantum is told, 0 if there
// is none.
func (m *valueModel) learnQuantum(c *coder.Coder, v uint64, p *place, how, here uint32) {
	q := &p.quantum
	if q.size > 0 {
		q.pass(v - p.last)
	}
	if how != toldRest {
		return
	}
	q.told++
	if q.size > 0 {
		return
	}
	size := uint64(0)
	if !c.Decoding() {
		if q.past = append(q.past, v); len(q.past) > quantumPast {
			q.past = slices.Delete(q.past, 0, 1)
		}
	}
	if q.told < quantumPast || q.told&(q.told-1) != 0 || bits.TrailingZeros(uint(q.told))%2 != 0 {
		return
	}
	if !c.Decoding() {
		size = findQuantum(q.past)
	}
	contexts := &[coder.Experts]uint32{coder.Hash(here, contextQuantum), contextQuantum}
	if size = m.names.Code(c, size, contexts, 2); size >= quantumLeast*unit && size < quantumMost {
		q.size, q.beyond, q.failed, q.past = int64(size), unit/2, 0, nil
	}
}

// nearest returns the multiple that is nearest to a difference to the last value; ok is false if it is too far away.
func (q *quantum) nearest(d uint64) (n int64, ok bool) {
	if d+quantumReach >= 2*quantumReach {
		return 0, false
	}
	to := int64(d)<<32 + unit/2 - q.beyond + q.size/2
	if n = to / q.size; to%q.size < 0 {
		n--
	}
	return n, true
}

// difference returns the difference that a multiple makes.
func (q *quantum) difference(n int64) uint64 { return uint64((q.beyond + n*q.size) >> 32) }

// pass moves on to a value, by the difference to the last one.
func (q *quantum) pass(d uint64) {
	n, ok := q.nearest(d)
	if !ok {
		q.beyond = unit / 2
		return
	}
	at, least := q.beyond+n*q.size, int64(d)<<32
	if in := min(max(at, least), least+unit-1); in != at && n != 0 {
		q.size = min(max(q.size+(in-at)/n/quantumRate, quantumLeast*unit), quantumMost)
		at = in
	}
	q.beyond = min(max(at-least, 0), unit-1)
}

// quanta codes a value as a number of quanta from a base, and by how much it is off; told is false if the difference must follow.
func (m *valueModel) quanta(c *coder.Coder, v, from uint64, base uint32, p *place, here uint32, contexts *[coder.Experts]uint32) (
	value uint64, told bool) {
	q := &p.quantum
	zero, ok := q.nearest(from - p.last)
	if !ok {
		return v, false
	}
	multiple, off := uint64(0), uint64(0)
	if n, ok := q.nearest(v - p.last); ok {
		if off = codec.Zigzag(v - p.last - q.difference(n)); off <= 2*quantumWrong {
			multiple = number64(uint64(n-zero), base) + 1
		}
	}
	if multiple = m.rest.Code(c, multiple, contexts, here%coder.Choices); multiple == 0 {
		for i := range contexts {
			contexts[i]++
		}
		if q.failed++; q.failed > q.told/8 {
			*q = quantum{told: q.told, past: q.past}
		}
		return v, false
	}
	p.length = uint32(bits.Len64(multiple))
	d := q.difference(zero + int64(difference64(multiple-1, base)))
	off = uint64(m.guesses.Octet(c, uint32(off), &[coder.Experts]uint32{coder.Hash(here, contextOff),
		coder.Hash(here, contextOff|uint32(q.beyond>>28)), contextOff}, 0))
	return p.last + d + codec.Unzigzag(off), true
}

// findQuantum returns the size of the quantum of values, 0 if there is none: differences of differences are small multiples of it, and tell
// which multiples larger ones are. Values are rounded, so that all this is known but for a few units.
func findQuantum(values []uint64) uint64 {
	var steps, gaps, all []int64
	add := func(d int64) {
		if d >= 0 && d < quantumReach {
			all = append(all, d)
		}
	}
	for i, v := range values[1:] {
		d := int64(v - values[i])
		steps = append(steps, max(d, -d))
		add(max(d, -d))
		add(int64(v - values[0]))
	}
	slices.Sort(steps)
	for i, s := range steps[1:] {
		gaps = append(gaps, s-steps[i])
		add(s - steps[i])
		add(s - steps[0])
	}
	if len(all) < 2*len(values) {
		return 0
	}
	slices.Sort(gaps)
	slices.Sort(all)
	tries := 0
	for _, g := range slices.Compact(gaps) {
		for parts := int64(1); parts <= 4 && g >= quantumLeast && g < quantumReach && tries < 16; parts++ {
			if q := refineQuantum(g*unit/parts, all); q > 0 {
				return uint64(q)
			}
			tries++
		}
	}
	return 0
}

// refineQuantum returns the size near the given one of which all but a few of some numbers, in ascending order, are multiples, 0 if there
// is none.
func refineQuantum(size int64, numbers []int64) int64 {
	const slack = 2 * unit // as far as numbers are off
	least, most, wrong, multiples := size-slack, size+slack, 0, 0
	for _, s := range numbers {
		if size = least + (most-least)/2; size < quantumLeast*unit {
			return 0
		}
		s *= unit
		n := (s + size/2) / size
		lower, upper := least, most
		if n > 0 {
			multiples++
			lower, upper = max(least, (s-slack)/n), min(most, (s+slack)/n)
		}
		if off := s - n*size; lower > upper || n == 0 && off > slack {
			if wrong++; wrong > len(numbers)/16 {
				return 0
			}
			continue
		}
		least, most = lower, upper
	}
	if multiples < len(numbers)/2 {
		return 0
	}
	return size
}
