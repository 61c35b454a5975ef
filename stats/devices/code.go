package devices

import (
	"cmp"
	"math"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/document/counter"
	"tracekit/spill"
	"tracekit/trace"
)

// Code implements stats.Shared.
func (f *Finder) Code(c *codec.Coder, l trace.LocationID) {
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
func (p *part) code(c *codec.Coder, of *collector) {
	d, store := of.t.Defs, of.t.Store
	region := codec.Below("region", len(d.Regions))
	orNone := codec.Below("region", len(d.Regions)).Or(trace.None)
	ascending := func() *codec.Bound { return codec.Within[int64]("time", math.MinInt64, math.MaxInt64).Ascending(0) }
	switch of.kinds[p.location] {
	case stream:
		codec.Table(c, store, &p.kernels,
			codec.Numbers(func(k *kernel) *int64 { return &k.start }, ascending()),
			codec.Numbers(func(k *kernel) *int64 { return &k.end }),
			codec.Numbers(func(k *kernel) *uint64 { return &k.id }),
			codec.Numbers(func(k *kernel) *trace.RegionID { return &k.region }, region),
			func(c *codec.Coder, rows []kernel) {
				for i := range rows {
					if rows[i].queue = uint32(p.location); rows[i].end < rows[i].start-1 {
						c.Refuse("a kernel ends at %d, before it begins", rows[i].end)
					}
				}
			})
		orEmpty(c, store, &p.kernels)
	case thread:
		codec.Table(c, store, &p.launches,
			codec.Numbers(func(x *launch) *uint64 { return &x.id }),
			codec.Numbers(func(x *launch) *int64 { return &x.enter }),
			codec.Numbers(func(x *launch) *int64 { return &x.leave }),
			codec.Numbers(func(x *launch) *trace.RegionID { return &x.call }, region),
			codec.Numbers(func(x *launch) *trace.RegionID { return &x.operator }, orNone),
			codec.Flags(func(x *launch) *bool { return &x.recompute }))
		orEmpty(c, store, &p.launches)
		codec.Table(c, store, &p.acts,
			codec.Numbers(func(a *act) *int64 { return &a.at }, ascending()),
			codec.Numbers(func(a *act) *trace.RegionID { return &a.region }, orNone),
			codec.Numbers(func(a *act) *trace.RegionID { return &a.loader }, orNone))
		orEmpty(c, store, &p.acts)
	}
	codec.List(c, &p.steps, func(s *step) {
		codec.Number(c, &s.region, region)
		codec.Number(c, &s.from)
		codec.Number(c, &s.to)
		codec.Flag(c, &s.cut)
	})
	model.Map(c, &p.waits, cmp.Compare, func(r *trace.RegionID, w **hostWait) {
		codec.Number(c, r, region)
		codec.Optional(c, w, func(w *hostWait) {
			codec.Number(c, &w.count, codec.Within("waits", 0, of.t.Span[p.location].Events))
			codec.Number(c, &w.time)
		})
		if *w == nil {
			c.Refuse("region %d waits never", *r)
		}
	})
	codec.List(c, &p.counters, func(s *counter.Series) { codeSeries(c, s) })
	model.Ledger(c, &p.ledger)
}

// orEmpty makes a table that was read without rows one nevertheless: it says what the location is.
func orEmpty[T any](c *codec.Coder, store *spill.Store, table **spill.Table[T]) {
	if c.Reading() && (*table).Len() == 0 {
		*table = spill.NewTable[T](store)
	}
}

func codeSeries(c *codec.Coder, s *counter.Series) {
	codec.Text(c, &s.Name)
	codec.Text(c, &s.Unit)
	codec.Number(c, &s.Rank)
	codec.Text(c, &s.Place)
	codec.Flag(c, &s.Accumulates)
	codec.Number(c, &s.Samples)
	codec.Number(c, &s.FromNs)
	codec.Number(c, &s.ToNs)
	for _, v := range []**float64{&s.Min, &s.Mean, &s.Max, &s.Growth} {
		codec.Optional(c, v, func(v *float64) {
			if codec.Real(c, v); math.IsNaN(*v) || math.IsInf(*v, 0) {
				c.Refuse("a counter that is not a number")
			}
		})
	}
	codec.Number(c, &s.Falls)
}
