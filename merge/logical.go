package merge

import (
	"context"
	"math"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A logicalClock makes the controlled logical clock of Becker, Rabenseifner, Wolf and
// Linford (Parallel Computing 35, 2009): it moves receives behind their sends and the
// ends of collectives behind the entries that must come first, lets the shift that this
// causes fade forwards, and spreads each jump backwards.
//
// All locations of a process have one clock, so that what happens between its threads
// keeps its order. The clock is a function of time: events of one tick stay together.
// Since an event may so be moved by another one of its tick that comes after it, a pass
// can leave violations; the next one starts from its result.
type logicalClock struct {
	trace   *trace.Trace
	parts   []*spill.Table[part]
	maps    []trace.ClockMap // by location: the measured offsets if they are used, and the knots so far
	domains [][]trace.LocationID
	latency int64
	jobs    int
	doubts  *doubts // what does not bind; nil: nothing

	// Of the pass that is going on:
	fade    int64                 // ticks in which the shift becomes one tick smaller
	sent    []*spill.Table[int64] // by location: when each send happens
	recvd   []*spill.Table[int64] // by location: when each receive happens
	ends    []*spill.Table[int64] // by domain: when its points of collectives happen, in order of walking
	meets   *spill.Table[meeting] // by collective
	entered map[uint32]int64      // by member of a scan: when it enters
	ready   []int                 // domains that may go on
	queues  map[uint32][]int      // by collective: domains that wait for it
	heirs   [][]int               // by location: domains that wait for one of its sends
}

// A meeting is what a collective makes its members wait for.
type meeting struct {
	missing uint32 // members that others wait for and that have not entered
	enter   int64  // the latest entry of them
	leave   int64  // the earliest end of a member that waits
}

// fades are 1/(1-γ) of the passes: a shift fades by one tick in so many.
var fades = [...]int64{100_000, 10_000, 1000, 100, 10}

// patience is the number of passes without success after which the logical clock gives
// up: the trace contradicts itself, or its clocks tick too coarsely.
const patience = 3

// run makes knots until no violation is left or nothing helps, and returns what is left.
func (c *logicalClock) run(ctx context.Context) (left census, err error) {
	best, failures := uint64(math.MaxUint64), 0
	defer c.release()
	for pass := 0; failures < patience; pass++ {
		c.fade = fades[min(pass, len(fades)-1)]
		if err := c.forward(ctx); err != nil {
			return left, err
		}
		if err := c.backward(ctx, pass > 0); err != nil {
			return left, err
		}
		left, err = violations(ctx, c.trace, c.corrected, c.latency, c.jobs, c.doubts)
		if err != nil || left.total() == 0 {
			return left, err
		}
		if failures++; left.total() < best {
			best, failures = left.total(), 0
		}
	}
	return left, nil
}

// corrected is the timing of the knots so far.
func (c *logicalClock) corrected(l trace.LocationID, t int64) int64 { return c.maps[l].At(t) }

// binds reports whether a part's collective says anything about the order of events.
func (c *logicalClock) binds(p part) bool {
	return binding(c.trace.Collectives.Ptr(int(p.collective))) && !c.doubts.collective(p.collective)
}

// maxShift returns the largest shift in all knots.
func (c *logicalClock) maxShift() (largest int64) {
	for i := range c.maps {
		for _, rows := range c.maps[i].Knots.Rows {
			for _, k := range rows {
				largest = max(largest, k.Shift)
			}
		}
	}
	return largest
}

// release lets the tables of a pass go.
func (c *logicalClock) release() {
	for _, tables := range [][]*spill.Table[int64]{c.sent, c.recvd, c.ends} {
		for _, t := range tables {
			t.Release()
		}
	}
	c.sent, c.recvd, c.ends = nil, nil, nil
	c.meets.Release()
}

// begin prepares the tables of a pass.
func (c *logicalClock) begin(ctx context.Context) error {
	t := c.trace
	c.release()
	c.sent, c.recvd = make([]*spill.Table[int64], len(t.Calls)), make([]*spill.Table[int64], len(t.Calls))
	c.ends = make([]*spill.Table[int64], len(c.domains))
	c.queues, c.heirs = make(map[uint32][]int), make([][]int, len(t.Calls))
	c.entered = make(map[uint32]int64)
	c.meets = spill.NewZeros[meeting](t.Store, t.Collectives.Len())
	_, err := engine.Map(ctx, c.jobs, chunks(t.Collectives.Len()), func(_ context.Context, k int) (struct{}, error) {
		for i := k * chunk; i < min((k+1)*chunk, t.Collectives.Len()); i++ {
			c.meets.Set(i, meeting{missing: c.givers(t.Collectives.Ptr(i)), enter: math.MinInt64, leave: math.MaxInt64})
		}
		return struct{}{}, nil
	})
	return err
}

// givers counts the members of a collective that others wait for.
func (c *logicalClock) givers(row *trace.Collective) (n uint32) {
	if !binding(row) {
		return 0
	}
	for k := range int(row.Count) {
		if gives(row, c.trace.Members.Ptr(int(row.First)+k)) {
			n++
		}
	}
	return n
}
