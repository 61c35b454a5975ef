package pattern

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/reduce"
	"tracekit/trace"
)

// Find finds what repeats in a trace. An error is one of reading, of the store, of ctx, or
// that the marker is not in the trace; that nothing repeats is none.
func Find(ctx context.Context, t *trace.Trace, o Options) (*Result, error) {
	f := &finder{t: t, opts: o.withDefaults(), shared: newShared(t.Defs)}
	var best *plan
	var err error
	if o.Marker.Kind == OnSite {
		best, err = f.choose(ctx)
	} else {
		best, err = f.try(ctx, o.Marker)
	}
	if best != nil {
		defer best.release()
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Cuts: reduce.NewCuts(t.Store, len(t.Defs.Locations))}
	if best == nil {
		return r, t.Store.Err()
	}
	if best.division.n == 0 && o.Marker.Kind != OnSite {
		return nil, fmt.Errorf("--repeating-marker %s: not all ranks reach it twice", o.Marker)
	}
	if err := best.describe(ctx, f, r); err != nil {
		return nil, err
	}
	return r, t.Store.Err()
}

// A finder finds what repeats in a trace.
type finder struct {
	t      *trace.Trace
	opts   Options
	shared *shared
	sites  map[uint64]*site // by path, of all ranks
	count  int              // of masters
}

func (f *finder) run() engine.Options {
	return engine.Options{Jobs: f.opts.Jobs}
}

// How many call sites are tried at most, and the share of what a site promises that makes
// looking at others idle.
const (
	mostTried = 8
	enough    = 0.9
)

// choose finds the call site that lets most be cut.
func (f *finder) choose(ctx context.Context) (best *plan, err error) {
	candidates, err := f.candidates(ctx)
	if err != nil {
		return nil, err
	}
	for i, c := range candidates {
		if i == mostTried || best != nil && float64(best.saved) >= enough*float64(c.saved) {
			break
		}
		p, err := f.try(ctx, Marker{site: c.path})
		if err != nil {
			if p != nil {
				p.release()
			}
			return best, err
		}
		if best != nil && p.events <= best.events {
			p.release()
			continue
		}
		if best != nil {
			best.release()
		}
		best = p
	}
	return best, nil
}

// A plan is a division with what of it can be cut.
type plan struct {
	division *division
	alike    []uint64 // by interval: hash of the calls on all ranks
	order    []uint64 // by interval: hash of the records on all ranks, in order
	runs     []run    // of intervals that are cut
	events   uint64   // that are cut
	saved    uint64   // of them, those of the first locations of ranks
	refused  int      // intervals that repeat others, but cannot be cut without parting messages
}

// A run is the intervals first <= k < end.
type run struct{ first, end int }

func (p *plan) release() { p.division.release() }

// try divides the run at a marker and finds what can be cut.
func (f *finder) try(ctx context.Context, m Marker) (*plan, error) {
	d, err := f.divide(ctx, m)
	p := &plan{division: d}
	if err != nil || d.n == 0 {
		return p, err
	}
	p.alike, p.order = make([]uint64, d.n), make([]uint64, d.n)
	for l, s := range d.starts {
		if s == nil {
			continue
		}
		key := mix(1, uint64(l))
		for k := range d.n {
			x := s.Ptr(k)
			p.alike[k] += mix(key, x.calls)
			p.order[k] += mix(key, x.order)
		}
	}
	b, err := f.boundaries(ctx, d)
	if err != nil {
		b.release()
		return p, err
	}
	p.cut(f.opts.Keep, b)
	b.release()
	p.count()
	return p, nil
}

// cut finds the runs of intervals that are cut: of consecutive ones that repeat what is kept
// the longest stretch between two boundaries of the same state.
func (p *plan) cut(keep int, b *boundaries) {
	known := newMemory(p, keep)
	n, from := p.division.n, -1
	for k := 0; k <= n; k++ {
		repeats := k < n && known.repeats(k)
		if k < n && !repeats {
			known.keep(k)
		}
		if repeats && from < 0 {
			from = k
		}
		if !repeats && from >= 0 {
			r := longest(b, from, k)
			p.refused += k - from - (r.end - r.first)
			if r.first < r.end {
				p.runs = append(p.runs, r)
			}
			from = -1
		}
	}
	p.bound()
}

// bound lets the shortest runs stay if there are more than a description should hold, which
// has a few numbers of each run for each location.
func (p *plan) bound() {
	const most = 1 << 22
	if n := max(most/max(len(p.division.starts), 1), 1); len(p.runs) > n {
		slices.SortStableFunc(p.runs, func(a, b run) int { return cmp.Compare(b.end-b.first, a.end-a.first) })
		for _, r := range p.runs[n:] {
			p.refused += r.end - r.first
		}
		p.runs = p.runs[:n]
		slices.SortFunc(p.runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	}
}

// A memory knows the intervals that are kept.
type memory struct {
	plan      *plan
	least     int
	instances map[uint64]int    // by alike
	order     map[uint64]bool   // of all ranks
	each      []map[uint64]bool // orders of each location
	variants  map[uint64]bool   // orders of what repeats: what is made again
}

// What is remembered at most.
const (
	mostOrders   = 1 << 20
	mostVariants = 1 << 20 // over all locations
)

func newMemory(p *plan, keep int) *memory {
	m := &memory{p, keep, make(map[uint64]int), make(map[uint64]bool), make([]map[uint64]bool, len(p.division.starts)), make(map[uint64]bool)}
	for l := range m.each {
		m.each[l] = make(map[uint64]bool)
	}
	return m
}

// repeats reports whether an interval is one more instance of a pattern, of which on each
// location the records come in the order of some that are kept.
func (m *memory) repeats(k int) bool {
	o := m.plan.order[k]
	if m.instances[m.plan.alike[k]] < m.least {
		return false
	}
	if m.variants[o] {
		return true
	}
	if len(m.variants)*len(m.each) >= mostVariants {
		return false
	}
	for l, s := range m.plan.division.starts {
		if s != nil && !m.order[o] && !m.each[l][s.Ptr(k).order] {
			return false
		}
	}
	m.variants[o] = true
	return true
}

// keep remembers an interval.
func (m *memory) keep(k int) {
	if len(m.order) == mostOrders {
		return
	}
	m.instances[m.plan.alike[k]]++
	if o := m.plan.order[k]; !m.order[o] {
		m.order[o] = true
		for l, s := range m.plan.division.starts {
			if s != nil {
				m.each[l][s.Ptr(k).order] = true
			}
		}
	}
}

// longest returns the longest run of intervals between from and to that can be cut.
func longest(b *boundaries, from, to int) (best run) {
	first := make(map[uint64]int)
	for k := from; k <= to; k++ {
		if b.bad.At(k) != 0 {
			continue
		}
		at, known := first[b.state.At(k)]
		switch {
		case !known:
			first[b.state.At(k)] = k
		case k-at > best.end-best.first:
			best = run{at, k}
		}
	}
	return best
}

// count adds up what is cut.
func (p *plan) count() {
	for l, s := range p.division.starts {
		for _, r := range p.runs {
			if s == nil {
				continue
			}
			n := s.Ptr(r.end).first - s.Ptr(r.first).first
			p.events += n
			if p.division.master[l] == trace.LocationID(l) {
				p.saved += n
			}
		}
	}
}

// ruleName is what traces call the rule that cut them.
const ruleName = "repeating patterns"

// A Rule cuts what repeats, as a rule of reduce. Found is what it has found.
type Rule struct {
	Options Options
	Found   *Result
}

// Name implements reduce.Rule.
func (r *Rule) Name() string { return ruleName }

// Cuts implements reduce.SpanRule.
func (r *Rule) Cuts(ctx context.Context, t *trace.Trace, jobs int) (*reduce.Cuts, error) {
	o := r.Options
	o.Jobs = jobs
	found, err := Find(ctx, t, o)
	if err != nil {
		return nil, err
	}
	r.Found = found
	return found.Cuts, nil
}

// Share implements reduce.WholeRule.
func (r *Rule) Share(t *trace.Trace) float64 {
	if r.Found.Repeats == nil {
		return 0
	}
	cut, whole := 0.0, 0.0
	last := trace.LocationID(trace.None)
	for _, s := range r.Found.Repeats.Stretches() {
		cut += float64(s.End - s.Begin)
		if s.Location != last {
			last = s.Location
			whole += float64(t.Span[last].Last - t.Span[last].First)
		}
	}
	return min(1, cut/max(1, whole))
}

// Mark implements reduce.WholeRule.
func (r *Rule) Mark(properties map[string]string) {
	if x := r.Found.Repeats; x != nil {
		properties[trace.PropertyRepeats] = x.Encode()
		properties[trace.PropertyCut] = encodeStretches(x.Clock, x.Stretches())
	}
}
