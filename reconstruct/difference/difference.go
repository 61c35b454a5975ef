package difference

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// Options say how two traces are compared.
type Options struct {
	Jobs     int
	Progress *engine.Progress
}

// Differences are how trace B differs from trace A record by record (DEFINITIONS 1.4). A
// record is an event without its time; regions count as the same by name, communicators
// by members. Records of a location are paired in order, and what has no partner nearby
// counts as missing on the other side.
//
//	Paired + OnlyA = records of A, Paired + OnlyB = records of B
type Differences struct {
	Paired   uint64        // records in both
	OnlyA    uint64        // records of A without a partner
	OnlyB    uint64        // records of B without a partner
	FirstA   *trace.Place  // of OnlyA
	FirstB   *trace.Place  // of OnlyB
	Position *Distribution // t'_i - t_i, times counted from the start of each trace
	Block    *Distribution // (t'_i+1 - t'_i) - (t_i+1 - t_i), between neighbouring pairs
}

// Find pairs the records of two reconciled traces: those of the n-th location of a
// rank in A with those of the n-th location of that rank in B. It decodes each trace
// once; the result does not depend on the number of jobs.
func Find(ctx context.Context, a, b *trace.Trace, o Options) (*Differences, error) {
	c := newComparison(a, b)
	opts := engine.Options{Jobs: o.Jobs, Progress: o.Progress}
	parts, err := engine.Each(ctx, a.Source, opts, c.location)
	if err != nil {
		return nil, err
	}
	opts.Only = c.onlyB
	rest, err := engine.Each(ctx, b.Source, opts, c.alone)
	if err != nil {
		return nil, err
	}
	sum := newDifferences()
	for _, p := range parts {
		sum.combine(p)
	}
	for _, l := range c.onlyB {
		sum.combine(rest[l])
	}
	return sum, nil
}

// A comparison holds the two sides and, for each location of A, that of B (or None), and
// the locations of B that A does not have.
type comparison struct {
	a, b    *side
	partner []trace.LocationID
	onlyB   []trace.LocationID
}

func newComparison(a, b *trace.Trace) *comparison {
	names := make(numbering)
	c := &comparison{a: newSide(a, names), b: newSide(b, names), onlyB: []trace.LocationID{}} // engine.Options.Only: none, not all
	index := make(map[role]int)
	for l, r := range c.a.roles() {
		c.partner = append(c.partner, trace.None)
		index[r] = l
	}
	for l, r := range c.b.roles() {
		if i, ok := index[r]; ok {
			c.partner[i] = trace.LocationID(l)
		} else {
			c.onlyB = append(c.onlyB, trace.LocationID(l))
		}
	}
	return c
}

func newDifferences() *Differences {
	return &Differences{Position: &Distribution{}, Block: &Distribution{}}
}

func (d *Differences) combine(o *Differences) {
	d.Paired += o.Paired
	d.OnlyA += o.OnlyA
	d.OnlyB += o.OnlyB
	if d.FirstA == nil {
		d.FirstA = o.FirstA
	}
	if d.FirstB == nil {
		d.FirstB = o.FirstB
	}
	d.Position.Combine(o.Position)
	d.Block.Combine(o.Block)
}

// location compares location l of A with its partner, or with nothing.
func (c *comparison) location(ctx context.Context, l trace.LocationID, batches engine.Batches) (*Differences, error) {
	if c.partner[l] == trace.None {
		return c.pair(l, batches, trace.None, nothing)
	}
	return c.pair(l, batches, c.partner[l], c.b.t.Source.Events(ctx, c.partner[l]))
}

// alone compares location l of B, which A does not have, with nothing.
func (c *comparison) alone(_ context.Context, l trace.LocationID, batches engine.Batches) (*Differences, error) {
	return c.pair(trace.None, nothing, l, batches)
}

// nothing are the events of the location that a trace does not have.
func nothing(func(*trace.Batch, error) bool) {}

// pair compares location l of A with location m of B.
func (c *comparison) pair(l trace.LocationID, inA engine.Batches, m trace.LocationID, inB engine.Batches) (*Differences, error) {
	a, stopA := newRecords(c.a, l, inA)
	defer stopA()
	b, stopB := newRecords(c.b, m, inB)
	defer stopB()
	p := pairing{Differences: newDifferences(), a: a, b: b}
	return p.Differences, p.run()
}
