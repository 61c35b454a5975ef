package samples

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	"tracekit/trace"
)

// Generate runs a program model and gives its events to the sink that open returns. The
// model runs twice, since definitions come first and say how many events there are and how
// long the run is. The sink is closed at the end, but not after an error. Memory is bounded by the number of
// ranks, whatever the number of iterations. The errors are those of options that make no
// sense, of the sink, and of ctx.
func Generate(ctx context.Context, o Options, open func(trace.Info, *trace.Defs) (trace.Sink, error)) (*Truth, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("generating a trace: %w", err)
	}
	p := planOf(o)
	r := rand.New(rand.NewPCG(o.Seed, 0x7261636b6974))
	clocks := makeClocks(o, r)
	info := trace.Info{Creator: "tracekit " + moduleVersion(), Machine: "simulated", Description: describe(o)}
	defs := makeDefs(o, p, clocks)
	truth, err := simulate(ctx, o, p, clocks, counter{defs})
	if err != nil {
		return nil, err
	}
	defs.Clock.Length = uint64(truth.Last - truth.First)
	sink, err := open(info, defs)
	if err != nil {
		return nil, err
	}
	if truth, err = simulate(ctx, o, planOf(o), clocks, sink); err != nil {
		return nil, err
	}
	return truth, sink.Close()
}

// A counter is a sink that notes in the definitions how many events locations have.
type counter struct{ *trace.Defs }

func (c counter) Write(b *trace.Batch) error {
	c.Locations[b.Location].Events += uint64(b.Len())
	return nil
}

func (counter) Close() error { return nil }

// moduleVersion returns the version of this program as far as it is known.
func moduleVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

func describe(o Options) string {
	return fmt.Sprintf("%s, %d ranks, %d iterations, seed %d", o.Program, o.Ranks, o.Iterations, o.Seed)
}

// simulate runs a plan.
func simulate(ctx context.Context, o Options, p *plan, clocks []localClock, sink trace.Sink) (*Truth, error) {
	s := &simulation{program: p, iterations: o.Iterations, network: o.Network, record: o.Plant.Record,
		instances: make(map[instanceKey]*instance), truth: &Truth{}}
	for _, c := range p.comms {
		s.comms = append(s.comms, c.commMembers)
	}
	for id := range o.Ranks {
		r := &rank{id: id, script: script{rank: id}, requests: make(map[int32]*request), ordinals: make(map[trace.CommID]uint64)}
		for t := range o.Threads {
			rec := newRecorder(sink, trace.LocationID(id*o.Threads+t), &clocks[id])
			if t == 0 {
				r.master = rec
			} else {
				r.workers = append(r.workers, rec)
			}
		}
		s.ranks = append(s.ranks, r)
		s.truth.Clock = append(s.truth.Clock, clocks[id].process)
	}
	s.truth.Locations = o.Ranks * o.Threads
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("generating %s: %w", o.Program, err)
	}
	return s.truth, nil
}

// A plan is what a program model needs.
type plan struct {
	regions []userRegion // from regionUser on
	comms   []namedComm  // the first are MPI_COMM_WORLD and MPI_COMM_SELF
	step    func(s *script, i int)
	planted func(s *script, i int) // nil: nothing
}

// iteration implements program.
func (p *plan) iteration(s *script, i int) {
	p.step(s, i)
	if p.planted != nil {
		p.planted(s, i)
	}
}

// A userRegion is a region of the modelled program.
type userRegion struct {
	name string
	line uint32
}

// A namedComm is a communicator of the modelled program.
type namedComm struct {
	name string
	commMembers
}

// The communicators of every program.
const (
	commWorld trace.CommID = iota
	commSelf
	commUser // the first of a program's own
)

// newComm returns a communicator of some world ranks, in that order.
func newComm(name string, world ...int) namedComm {
	c := namedComm{name: name, commMembers: commMembers{world: world, index: make(map[int]int)}}
	for i, w := range world {
		c.index[w] = i
	}
	return c
}

// newIntercomm returns an intercommunicator between two groups of world ranks.
func newIntercomm(name string, a, b []int) namedComm {
	c := newComm(name, a...)
	c.other = b
	for i, w := range b {
		c.index[w] = i
	}
	return c
}

// worldComms returns the communicators of every program, and others.
func worldComms(ranks int, more ...namedComm) []namedComm {
	world := make([]int, ranks)
	for i := range world {
		world[i] = i
	}
	return append([]namedComm{
		{name: "MPI_COMM_WORLD", commMembers: commMembers{world: world}},
		{name: "MPI_COMM_SELF", commMembers: commMembers{self: true}},
	}, more...)
}
