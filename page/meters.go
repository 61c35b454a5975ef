package page

import (
	"math"
	"slices"

	"tracekit/document/counter"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A plotter is told what a counter is, piece after piece from time 0 on.
type plotter interface {
	plot(until int64, value float64)
}

// Meters follow the counters of one location.
type meters struct {
	b        *builder
	location trace.LocationID
	last     int64                     // tick
	by       []*meter                  // of each of the builder's counters, nil where there is no sample
	begin    func(counter int) plotter // of a counter that has its first sample
	times    []int64
}

// A meter follows one counter.
type meter struct {
	plotter
	from   int64 // ns: until here is plotted
	bits   uint64
	value  float64 // that holds from there on, or has been counted since
	known  bool    // there is a sample
	scale  float64
	counts uint8 // MetricAbsolute: it stands for itself, MetricRelative, MetricAccumulated
	next   bool  // a value is about the time until the next
	most   func(ns int64) float64
}

func (m *meters) batch(batch *trace.Batch) {
	v, d := &batch.Metric, m.b.t.Defs
	m.times = append(m.times[:0], v.Time...)
	m.last = m.b.t.Clock.Maps[m.location].Correct(m.times, m.last)
	for i, t := range m.times {
		id, ok := d.CounterOf(v.Metric[i], v.Member[i])
		if !ok {
			continue
		}
		if m.by == nil {
			m.by = make([]*meter, len(m.b.counters))
		}
		for _, counter := range m.b.drawnAs[id] {
			if m.by[counter] == nil {
				m.by[counter] = m.start(id, counter)
			}
			m.by[counter].sample(m.b.ns(t), v.Type[i], v.Value[i])
		}
	}
}

func (m *meters) start(id trace.MetricMemberID, counter int) *meter {
	def := &m.b.t.Defs.MetricMembers[id]
	x := &meter{plotter: m.begin(counter), scale: def.Scale(), counts: trace.MetricAbsolute, next: def.Mode>>4 == trace.MetricAbsoluteNext>>4}
	if m.b.counters[counter].Rate {
		x.counts = def.Mode & trace.MetricProperty
	}
	if x.counts == trace.MetricAbsolute {
		x.next = def.Mode>>4 != trace.MetricRelativeLast>>4 // a point is taken to hold
	} else if def.Type == trace.MetricPAPI {
		x.most = func(ns int64) float64 { return profile.MostCounted(float64(ns) / 1e9) }
	}
	x.to(m.b.ns(m.b.t.Span[m.location].First), math.NaN())
	return x
}

// to plots a value until a time.
func (x *meter) to(t int64, value float64) {
	if t > x.from {
		x.plot(t, value*x.scale)
		x.from = t
	}
}

// sample takes a value. What was counted is spread over the time in which it was.
func (x *meter) sample(t int64, typ trace.ValueType, bits uint64) {
	v := typ.Number(bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	switch {
	case x.counts == trace.MetricAccumulated:
		if !x.known {
			x.to(t, math.NaN())
		} else if t > x.from {
			x.to(t, x.rate(grown(typ, bits, x.bits), t-x.from))
		} else {
			return // with the next, which comes later
		}
		x.bits = bits
	case x.counts == trace.MetricRelative && x.next:
		if t > x.from {
			x.to(t, x.rate(x.value, t-x.from))
			x.value = 0
		}
		x.value += v
	case x.counts == trace.MetricRelative:
		if x.value += v; t > x.from {
			x.to(t, x.rate(x.value, t-x.from))
			x.value = 0
		}
	case x.next:
		if x.known {
			x.to(t, x.value)
		} else {
			x.to(t, math.NaN())
		}
		x.value = v
	default:
		x.to(t, v)
	}
	x.known = true
}

// rate returns what was counted, a second; NaN if it cannot be.
func (x *meter) rate(counted float64, ns int64) float64 {
	if !x.known && x.next || counted < 0 || x.most != nil && counted > x.most(ns) {
		return math.NaN()
	}
	return counted / float64(ns) * 1e9
}

// grown returns by how much a counter grew.
func grown(typ trace.ValueType, now, before uint64) float64 {
	by := typ.Difference(now, before)
	if typ.IsReal() {
		return math.Float64frombits(by)
	}
	return float64(int64(by))
}

// close plots until the location's end what holds, and then nothing.
func (m *meters) close() {
	for _, x := range m.by {
		if x == nil {
			continue
		}
		end := m.b.ns(m.b.t.Span[m.location].Last)
		switch {
		case x.next && x.counts == trace.MetricAbsolute:
			x.to(end, x.value)
		case x.next && end > x.from:
			x.to(end, x.rate(x.value, end-x.from))
		}
		x.to(m.b.length, math.NaN())
	}
}

// findCounters lists the counters that the trace defines: all but that by which it tells when
// threads run. Of what is said to accumulate, and may be a counter that is sampled beside the
// program, only all samples tell whether it does: it is followed as a rate and as it stands.
func (b *builder) findCounters() {
	d := b.t.Defs
	running := d.RunningCounter()
	doubtful := len(b.t.Tree.Nodes) == 0 || slices.ContainsFunc(d.Locations, func(l trace.Location) bool {
		return l.Kind == trace.LocationGPU || l.Kind == trace.LocationMetric
	})
	for id := range d.MetricMembers {
		m := &d.MetricMembers[id]
		var as []int
		add := func(rate bool) {
			as = append(as, len(b.counters))
			b.counters = append(b.counters, Counter{Name: d.String(m.Name), Unit: d.String(m.Unit), Rate: rate})
		}
		accumulates := m.Mode&trace.MetricProperty != trace.MetricAbsolute
		switch {
		case trace.MetricMemberID(id) == running:
		case accumulates && doubtful:
			add(true)
			add(false)
		default:
			add(accumulates)
		}
		b.drawnAs = append(b.drawnAs, as)
	}
}

// chosen returns which of the counters are drawn. Those that are said to accumulate and fall again
// and again stand for themselves.
func (b *builder) chosen(a *analysis.Result) []bool {
	chosen := make([]bool, len(b.counters))
	for _, as := range b.drawnAs {
		for _, drawn := range as {
			c := &b.counters[drawn]
			falls := slices.ContainsFunc(a.Sampled, func(s counter.Series) bool { return s.Name == c.Name && !s.Accumulates })
			chosen[drawn] = len(as) == 1 || c.Rate != falls
		}
	}
	return chosen
}
