package devices

import (
	"cmp"
	"math"

	"tracekit/document"
	"tracekit/partial"
	"tracekit/partial/model"
	"tracekit/spill"
	"tracekit/trace"
)

// Code implements stats.Shared.
func (f *Finder) Code(c *partial.Coder, l trace.LocationID) {
	if f.c == nil || !f.c.wants(l) {
		return
	}
	if c.Reading() {
		f.parts[l] = &part{location: l}
	} else {
		f.parts[l] = f.readings[l].end(l)
	}
	f.parts[l].code(c, f.c)
}

// code codes what one location yields, before launches are linked to what they launch.
func (p *part) code(c *partial.Coder, of *collector) {
	d, store := of.t.Defs, of.t.Store
	region := partial.Below("region", len(d.Regions))
	orNone := partial.Below("region", len(d.Regions)).Or(trace.None)
	ascending := func() *partial.Bound { return partial.Within[int64]("time", math.MinInt64, math.MaxInt64).Ascending(0) }
	switch of.kinds[p.location] {
	case stream:
		partial.Table(c, store, &p.kernels,
			partial.Numbers(func(k *kernel) *int64 { return &k.start }, ascending()),
			partial.Numbers(func(k *kernel) *int64 { return &k.end }),
			partial.Numbers(func(k *kernel) *uint64 { return &k.id }),
			partial.Numbers(func(k *kernel) *trace.RegionID { return &k.region }, region),
			func(c *partial.Coder, rows []kernel) {
				for i := range rows {
					if rows[i].queue = uint32(p.location); rows[i].end < rows[i].start-1 {
						c.Refuse("a kernel ends at %d, before it begins", rows[i].end)
					}
				}
			})
		orEmpty(c, store, &p.kernels)
	case thread:
		partial.Table(c, store, &p.launches,
			partial.Numbers(func(x *launch) *uint64 { return &x.id }),
			partial.Numbers(func(x *launch) *int64 { return &x.enter }),
			partial.Numbers(func(x *launch) *int64 { return &x.leave }),
			partial.Numbers(func(x *launch) *trace.RegionID { return &x.call }, region),
			partial.Numbers(func(x *launch) *trace.RegionID { return &x.operator }, orNone),
			partial.Flags(func(x *launch) *bool { return &x.recompute }))
		orEmpty(c, store, &p.launches)
		partial.Table(c, store, &p.acts,
			partial.Numbers(func(a *act) *int64 { return &a.at }, ascending()),
			partial.Numbers(func(a *act) *trace.RegionID { return &a.region }, orNone))
		orEmpty(c, store, &p.acts)
	}
	partial.List(c, &p.steps, func(s *step) {
		partial.Number(c, &s.region, region)
		partial.Number(c, &s.from)
		partial.Number(c, &s.to)
		partial.Flag(c, &s.cut)
	})
	model.Map(c, &p.waits, cmp.Compare, func(r *trace.RegionID, w **hostWait) {
		partial.Number(c, r, region)
		partial.Optional(c, w, func(w *hostWait) {
			partial.Number(c, &w.count, partial.Within("waits", 0, of.t.Span[p.location].Events))
			partial.Number(c, &w.time)
		})
		if *w == nil {
			c.Refuse("region %d waits never", *r)
		}
	})
	partial.List(c, &p.counters, func(s *document.CounterSeries) { codeSeries(c, s) })
	model.Ledger(c, &p.ledger)
}

// orEmpty makes a table that was read without rows one nevertheless: it says what the location is.
func orEmpty[T any](c *partial.Coder, store *spill.Store, table **spill.Table[T]) {
	if c.Reading() && (*table).Len() == 0 {
		*table = spill.NewTable[T](store)
	}
}

func codeSeries(c *partial.Coder, s *document.CounterSeries) {
	partial.Text(c, &s.Name)
	partial.Text(c, &s.Unit)
	partial.Number(c, &s.Rank)
	partial.Text(c, &s.Place)
	partial.Flag(c, &s.Accumulates)
	partial.Number(c, &s.Samples)
	partial.Number(c, &s.FromNs)
	partial.Number(c, &s.ToNs)
	for _, v := range []**float64{&s.Min, &s.Mean, &s.Max, &s.Growth} {
		partial.Optional(c, v, func(v *float64) {
			if partial.Real(c, v); math.IsNaN(*v) || math.IsInf(*v, 0) {
				c.Refuse("a counter that is no number")
			}
		})
	}
	partial.Number(c, &s.Falls)
}
