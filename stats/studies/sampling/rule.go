package sampling

import (
	"context"
	"math"

	"tracekit/engine"
	"tracekit/reduce"
	"tracekit/spill"
	"tracekit/trace"
)

// A Rule keeps of a trace the messages that a configuration samples: their records, the calls that post, receive and complete them, and the
// regions around those. The reduced trace carries its weight (trace.Sample).
type Rule struct {
	config Config
	made   *Result // nil: the configuration has not decided yet
	sample trace.Sample
}

// Rule returns that of a configuration with WRITE that was tried.
func (x *Result) Rule() *Rule { return &Rule{config: x.run.configs[x.k], made: x} }

// Family returns the random samples by which a trace reaches a size, from mild to severe: each has a tenth fewer messages than the one
// before, all of which are in that one.
func Family(t *trace.Trace) reduce.Family {
	messages := 0.0
	for _, sends := range t.Sends {
		messages += float64(sends.Len())
	}
	share := func(i int) float64 { return math.Pow(0.9, float64(i+1)) }
	f := reduce.Family{Name: "sampled messages", Rules: func(i int) []reduce.Rule {
		return []reduce.Rule{&Rule{config: Config{Strategy: Random, Threshold: math.Round(share(i)*1e6) / 1e6, Analysis: Write,
			Seed: DefaultSeed}}}
	}}
	for messages*share(f.Settings) >= leastSample && share(f.Settings) >= 1e-4 {
		f.Settings++
	}
	return f
}

// leastSample is how many messages the severest sample of a Family has in the mean: with fewer no interval would be valid.
const leastSample = 10

// Name implements reduce.Rule.
func (r *Rule) Name() string { return "sample " + r.config.String() }

// Share implements reduce.WholeRule: times are those of calls, which are counted without it.
func (r *Rule) Share(*trace.Trace) float64 { return 0 }

// Mark implements reduce.WholeRule.
func (r *Rule) Mark(properties map[string]string) {
	properties[trace.PropertySample] = r.sample.String()
}

// Cuts implements reduce.SpanRule.
func (r *Rule) Cuts(ctx context.Context, t *trace.Trace, jobs int) (*reduce.Cuts, error) {
	x := r.made
	if x == nil {
		run, err := pass(ctx, t, []Config{r.config}, Options{Jobs: jobs, totals: true})
		if err != nil {
			return nil, err
		}
		defer run.release()
		x = &Result{Settings: r.config.settings(), run: run}
	}
	r.sample = trace.Sample{Strategy: x.Settings.Strategy, Sampled: x.run.sumsOf(x.k).Messages, Of: x.run.sumsOf(len(x.run.configs)).Messages}
	cuts := reduce.NewCuts(t.Store, len(t.Defs.Locations))
	_, err := engine.Each(ctx, t.Source, engine.Options{Jobs: jobs},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
			c := &cutter{cuts: cuts, location: l, kept: x.kept(l), requests: make(map[uint64]bool), mpi: t.Defs.MPIFunctions()}
			defer c.kept.Release()
			last := uint64(0)
			for b, err := range batches {
				if err != nil {
					return struct{}{}, err
				}
				c.batch(b)
				last = b.First + uint64(len(b.Order))
			}
			for c.stack.Len() > 0 {
				c.end(last)
			}
			cuts.Settle(l)
			return struct{}{}, nil
		})
	return cuts, err
}

// kept returns the events of a location that belong to sampled messages: the records of sends and
// receives and the Enters of their calls, a bit for each sequence number.
func (x *Result) kept(l trace.LocationID) *spill.Table[uint64] {
	t := x.run.t
	events := t.Span[l].Events
	keep := spill.NewZeros[uint64](t.Store, int(events/64+1))
	set := func(seq uint64) {
		if seq < events {
			*keep.Ptr(int(seq / 64)) |= 1 << (seq % 64)
		}
	}
	calls := func(rows ...uint32) {
		for _, c := range rows {
			if c != trace.None {
				set(t.Calls[l].Ptr(int(c)).Seq())
			}
		}
	}
	for i := range t.Sends[l].Len() {
		if x.wrote(l, i) {
			s := t.Sends[l].Ptr(i)
			set(s.Seq())
			calls(s.Call, s.Done)
		}
	}
	for i := range t.Recvs[l].Len() {
		if r := t.Recvs[l].Ptr(i); r.State == trace.Matched && x.wrote(r.SendLoc, int(r.Send)) {
			set(r.Seq())
			set(r.PostSeq)
			calls(r.Call, r.Post)
		}
	}
	return keep
}

// A cutter cuts the records of a location that belong to no sampled message. A region stays if something in it does; an MPI function
// only if it is kept itself.
type cutter struct {
	cuts     *reduce.Cuts
	location trace.LocationID
	kept     *spill.Table[uint64]
	mpi      []trace.MPIFunction // by region
	stack    trace.CallStack[entered]
	requests map[uint64]bool // of sends whose completion is kept
}

// entered is a region on the stack.
type entered struct {
	seq  uint64
	own  bool // its Enter stays if anything in it does
	used bool // something in it stays
}

func (c *cutter) keeps(seq uint64) bool {
	return int(seq/64) < c.kept.Len() && *c.kept.Ptr(int(seq / 64))>>(seq%64)&1 != 0
}

func (c *cutter) cut(from, to uint64) { c.cuts.Add(c.location, from, to) }

func (c *cutter) batch(b *trace.Batch) {
	for seq, r := range b.Events {
		switch r.Table {
		case trace.TableFlow:
			if b.Flow.Kind[r.First].Enters() {
				c.enter(b.Flow.Region[r.First], seq)
			} else {
				c.leave(b.Flow.Region[r.First], seq)
			}
		case trace.TableP2P:
			if !c.keepsMessage(b.P2P.Kind[r.First], b.P2P.Request[r.First], seq) {
				c.cut(seq, seq+1)
			} else if p := c.stack.Top(); p != nil {
				p.used = true
			}
		default:
			c.cut(seq, seq+1)
		}
	}
}

func (c *cutter) enter(region trace.RegionID, seq uint64) {
	kept := c.keeps(seq)
	own := kept || int(region) >= len(c.mpi) || c.mpi[region].Class == trace.ClassNone
	if c.stack.Full() {
		c.end(seq)
	}
	if !own {
		c.cut(seq, seq+1)
	}
	c.stack.Enter(region, entered{seq, own, kept})
}

func (c *cutter) leave(region trace.RegionID, seq uint64) {
	n := c.stack.Leave(region)
	for ; n > 1; n-- {
		c.end(seq)
	}
	if n == 0 { // it leaves nothing
		c.cut(seq, seq+1)
		return
	}
	if p := c.end(seq); !p.own || !p.used {
		c.cut(seq, seq+1)
	}
}

// end takes the innermost region off the stack: all before a record of a region in which nothing stays is cut.
func (c *cutter) end(seq uint64) entered {
	p := c.stack.Pop()
	if !p.used {
		c.cut(p.seq, seq)
	} else if above := c.stack.Top(); above != nil {
		above.used = true
	}
	return p
}

func (c *cutter) keepsMessage(kind trace.Kind, request, seq uint64) bool {
	kept := c.keeps(seq)
	switch kind {
	case trace.KindMpiIsend:
		delete(c.requests, request)
		if kept {
			c.requests[request] = true
		}
	case trace.KindMpiIsendComplete:
		kept = c.requests[request]
		delete(c.requests, request)
	}
	return kept
}
