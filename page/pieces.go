package page

import (
	"math"
	"slices"
)

func (p *Piece) equals(q *Piece) bool {
	return same(p.Mean, q.Mean) && same(p.Min, q.Min) && same(p.Max, q.Max)
}

func same(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// Pieces keep what they are told.
type pieces struct {
	end  int64
	rows []Piece
}

func (p *pieces) plot(until int64, value float64) { p.add(until, Piece{p.end, value, value, value}) }

func (p *pieces) add(until int64, x Piece) {
	if n := len(p.rows); n == 0 || !p.rows[n-1].equals(&x) {
		if n == cap(p.rows) { // append grows by a quarter, and copies several times as much
			p.rows = slices.Grow(p.rows, max(n, 64))
		}
		p.rows = append(p.rows, x)
	}
	p.end = until
}

// each yields the pieces.
func (p *pieces) each(yield func(until int64, x Piece)) {
	for i, x := range p.rows {
		until := p.end
		if i+1 < len(p.rows) {
			until = p.rows[i+1].StartNs
		}
		yield(until, x)
	}
}

// A meshed curve is told pieces and hands on cells of equal length.
type meshed struct {
	step, end int64
	into      func(until int64, x Piece)
	known     int64 // ns of the cell in which the counter is known
	area      float64
	min, max  float64
}

func newMeshed(from, step int64, into func(until int64, x Piece)) *meshed {
	return &meshed{step: step, end: from, into: into}
}

func (m *meshed) plot(until int64, value float64) { m.mix(until, Piece{0, value, value, value}) }

// mix goes on until a time with a mean value between two others. Cells begin at multiples of the
// step after the first.
func (m *meshed) mix(until int64, x Piece) {
	for m.end < until {
		cell := m.end - m.end%m.step
		if m.end == cell && until >= cell+m.step { // whole cells of one value
			x.StartNs = cell
			m.end = until - until%m.step
			m.into(m.end, x)
			continue
		}
		end := min(until, cell+m.step)
		m.weigh(end-m.end, &x)
		if m.end = end; end == cell+m.step {
			m.close()
		}
	}
}

func (m *meshed) weigh(ns int64, x *Piece) {
	if math.IsNaN(x.Mean) {
		return
	}
	if m.known == 0 || x.Min < m.min {
		m.min = x.Min
	}
	if m.known == 0 || x.Max > m.max {
		m.max = x.Max
	}
	m.known += ns
	m.area += x.Mean * float64(ns)
}

// close ends the cell that is begun.
func (m *meshed) close() {
	cell := (m.end - 1) - (m.end-1)%m.step
	x := Piece{cell, math.NaN(), math.NaN(), math.NaN()}
	if m.known > 0 {
		x = Piece{cell, m.area / float64(m.known), m.min, m.max}
	}
	m.into(m.end, x)
	m.known, m.area = 0, 0
}

// finish hands on a cell that is not full.
func (m *meshed) finish() {
	if m.end%m.step != 0 {
		m.close()
	}
}

// A sketch keeps pieces as they are, or if they become too many, in cells.
type sketch struct {
	length int64 // of the run, ns
	limit  int   // of pieces
	step   int64 // StepNs of what is kept
	kept   pieces
	mesh   *meshed // nil while they are as they come
}

func (s *sketch) plot(until int64, value float64) {
	s.mix(until, Piece{s.kept.end, value, value, value})
}

func (s *sketch) mix(until int64, x Piece) {
	if s.mesh != nil {
		s.mesh.mix(until, x)
		return
	}
	if s.kept.add(until, x); len(s.kept.rows) > s.limit {
		s.coarsen()
	}
}

// coarsen puts what is kept into cells.
func (s *sketch) coarsen() {
	exact := s.kept
	s.kept, s.step = pieces{}, coarser(s.step, s.length, s.limit)
	s.mesh = newMeshed(exact.rows[0].StartNs, s.step, s.kept.add)
	exact.each(s.mesh.mix)
}

func (s *sketch) finish() {
	if s.mesh != nil {
		s.mesh.finish()
	}
}
