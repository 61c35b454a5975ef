package devices

import (
	"fmt"
	"math"

	"tracekit/document/counter"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// series takes the samples of the counters of a location: of one that samples beside the program,
// and of a stream.
type series struct {
	c        *collector
	location trace.LocationID
	clock    *trace.ClockMap
	last     int64
	wanted   bool
	sums     map[trace.MetricMemberID]*seriesSum
	order    []trace.MetricMemberID // in which they are met
}

// A seriesSum sums the samples of a counter.
type seriesSum struct {
	samples    uint64
	from, to   int64
	value      float64 // of the last sample
	bits       uint64
	typ        trace.ValueType
	min, max   float64
	area       float64 // of values that stand for themselves: over time
	growth     float64
	low, high  float64 // least and greatest rate of growth
	rated      bool    // there are rates
	resets     uint64  // falls that are no wrapping around
	partly     bool    // some fall is to more than half the value before
	wraps, bad uint64
}

func newSeries(c *collector, l trace.LocationID, clock *trace.ClockMap) *series {
	return &series{c: c, location: l, clock: clock, last: c.t.Span[l].First, wanted: c.kinds[l] == sampler || c.kinds[l] == stream,
		sums: make(map[trace.MetricMemberID]*seriesSum)}
}

func (s *series) batch(b *trace.Batch) {
	if !s.wanted {
		return
	}
	m, d := &b.Metric, s.c.t.Defs
	for i := range m.Seq {
		member, ok := d.CounterOf(m.Metric[i], m.Member[i])
		if !ok {
			continue
		}
		s.last = max(s.last, s.clock.At(m.Time[i]))
		if s.last < s.c.opts.From || s.last > s.c.opts.To {
			continue
		}
		s.sample(member, m.Type[i], m.Value[i])
	}
}

// sample takes a value at the time last.
func (s *series) sample(member trace.MetricMemberID, typ trace.ValueType, bits uint64) {
	def := &s.c.t.Defs.MetricMembers[member]
	x := s.sums[member]
	if x == nil {
		x = &seriesSum{}
		s.sums[member] = x
		s.order = append(s.order, member)
	}
	v := typ.Number(bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		x.bad++
		return
	}
	accumulates := def.Mode&trace.MetricProperty == trace.MetricAccumulated
	if x.samples == 0 {
		x.from, x.min, x.max = s.last, v, v
	} else {
		x.area += x.value * float64(s.last-x.to)
		x.min, x.max = min(x.min, v), max(x.max, v)
		if accumulates {
			x.grow(s, typ, bits, v)
		}
	}
	x.samples++
	x.to, x.value, x.bits, x.typ = s.last, v, bits, typ
}

// grow adds what a counter that accumulates has grown since its last sample.
func (x *seriesSum) grow(s *series, typ trace.ValueType, bits uint64, v float64) {
	by := v - x.value
	if whole := !typ.IsReal() && typ == x.typ; whole {
		by = float64(int64(bits - x.bits)) // exact where the values themselves are too large
	}
	if by < 0 {
		const half = 1 << 31
		if x.value < half || v >= half || x.value >= 2*half {
			x.resets++
			x.partly = x.partly || v > x.value/2
			return
		}
		x.wraps++ // of 32 bits; of 64 none wraps around in a run
		by += 2 * half
	}
	x.growth += by
	if dt := s.last - x.to; dt > 0 {
		rate := by / (float64(dt) / float64(s.c.t.Defs.Clock.Resolution))
		if !x.rated {
			x.low, x.high, x.rated = rate, rate, true
		}
		x.low, x.high = min(x.low, rate), max(x.high, rate)
	}
}

// accumulates reports whether a counter that is said to accumulate does: one that falls again and
// again, or a little, stands for itself, such as a power.
func (x *seriesSum) accumulates() bool { return x.resets < 2 && !x.partly }

// rows returns the rows of the document.
func (s *series) rows(c *collector) []counter.Series {
	var out []counter.Series
	d := c.t.Defs
	resolution := float64(d.Clock.Resolution)
	for _, member := range s.order {
		x, def := s.sums[member], &d.MetricMembers[member]
		if x.samples == 0 {
			continue
		}
		scale := def.Scale()
		row := counter.Series{Name: d.String(def.Name), Unit: d.String(def.Unit), Rank: field.Rank(c.t.Rank[s.location]),
			Place: c.place(s.location), Samples: x.samples, FromNs: c.ns(x.from - d.Clock.GlobalOffset), ToNs: c.ns(x.to - d.Clock.GlobalOffset),
			Accumulates: def.Mode&trace.MetricProperty == trace.MetricAccumulated && x.accumulates(), Falls: x.wraps + x.resets}
		number := func(v float64) *float64 { return numbers.Known(v * scale) }
		span := float64(x.to - x.from)
		if row.Accumulates {
			row.Growth = number(x.growth)
			if span > 0 {
				row.Mean = number(x.growth / (span / resolution))
			}
			if x.rated {
				row.Min, row.Max = number(x.low), number(x.high)
			}
		} else {
			row.Min, row.Max = number(x.min), number(x.max)
			if row.Mean = number(x.value); span > 0 {
				row.Mean = number(x.area / span)
			}
		}
		out = append(out, row)
	}
	return out
}

// place names a location; those without a name have that of their process.
func (c *collector) place(l trace.LocationID) string {
	d := c.t.Defs
	if name := d.String(d.Locations[l].Name); name != "" {
		return name
	}
	if g := d.Locations[l].Group; int(g) < len(d.LocationGroups) {
		return d.String(d.LocationGroups[g].Name)
	}
	return fmt.Sprintf("location %d", l)
}

// note tells of counters that fell, and of values that are no numbers.
func (s *series) note(ledger *trace.Ledger) {
	for _, member := range s.order {
		x := s.sums[member]
		name := s.c.t.Defs.String(s.c.t.Defs.MetricMembers[member].Name)
		at := trace.Place{Location: s.location, Offset: -1}
		text := "counter " + name
		if !x.accumulates() {
			text += ", whose values are taken to stand for themselves"
		}
		ledger.AddN(trace.CodeCounterFalls, x.wraps+x.resets, at, text)
		ledger.AddN(trace.CodeBadValue, x.bad, at, "counter "+name+" is not a number")
	}
}
