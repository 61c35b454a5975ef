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
	exists := func(r trace.RegionID, orNone bool) bool {
		return int(r) < len(d.Regions) || orNone && r == trace.None
	}
	switch of.kinds[p.location] {
	case stream:
		partial.Table(c, store, &p.kernels,
			partial.Numbers(func(k *kernel) *int64 { return &k.start }),
			partial.Numbers(func(k *kernel) *int64 { return &k.end }),
			partial.Numbers(func(k *kernel) *uint64 { return &k.id }),
			partial.Numbers(func(k *kernel) *trace.RegionID { return &k.region }))
		check(c, store, "kernel", &p.kernels, func(k, last *kernel) bool {
			k.queue = uint32(p.location)
			return k.start >= last.start && k.end >= k.start-1 && exists(k.region, false)
		})
	case thread:
		partial.Table(c, store, &p.launches,
			partial.Numbers(func(x *launch) *uint64 { return &x.id }),
			partial.Numbers(func(x *launch) *int64 { return &x.enter }),
			partial.Numbers(func(x *launch) *int64 { return &x.leave }),
			partial.Numbers(func(x *launch) *trace.RegionID { return &x.call }),
			partial.Numbers(func(x *launch) *trace.RegionID { return &x.operator }),
			partial.Flags(func(x *launch) *bool { return &x.recompute }))
		check(c, store, "launch", &p.launches, func(x, _ *launch) bool { return exists(x.call, false) && exists(x.operator, true) })
		partial.Table(c, store, &p.acts,
			partial.Numbers(func(a *act) *int64 { return &a.at }),
			partial.Numbers(func(a *act) *trace.RegionID { return &a.region }))
		check(c, store, "act", &p.acts, func(a, last *act) bool { return a.at >= last.at && exists(a.region, true) })
	}
	partial.List(c, &p.steps, func(s *step) {
		partial.Number(c, &s.region)
		partial.Number(c, &s.from)
		partial.Number(c, &s.to)
		if partial.Flag(c, &s.cut); !exists(s.region, false) {
			c.Refuse("a step of region %d, which does not exist", s.region)
		}
	})
	model.Map(c, &p.waits, cmp.Compare, func(r *trace.RegionID, w **hostWait) {
		if partial.Number(c, r); !exists(*r, false) {
			c.Refuse("region %d waits and does not exist", *r)
		}
		partial.Optional(c, w, func(w *hostWait) {
			partial.Number(c, &w.count)
			partial.Number(c, &w.time)
		})
		if *w == nil || (*w).count > of.t.Span[p.location].Events {
			c.Refuse("region %d waits never, or more often than there are events", *r)
		}
	})
	partial.List(c, &p.counters, func(s *document.CounterSeries) { codeSeries(c, s) })
	model.Ledger(c, &p.ledger)
}

// check refuses a table that was read and has a row that cannot be, beside the one before it. One
// without rows is one nevertheless: it says what the location is.
func check[T any](c *partial.Coder, store *spill.Store, what string, table **spill.Table[T], can func(row, last *T) bool) {
	if !c.Reading() {
		return
	}
	if (*table).Len() == 0 {
		*table = spill.NewTable[T](store)
		return
	}
	last := (*table).Ptr(0)
	for first, rows := range (*table).Rows {
		for i := range rows {
			if !can(&rows[i], last) {
				c.Refuse("%s %d cannot be", what, first+i)
				return
			}
			last = &rows[i]
		}
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
