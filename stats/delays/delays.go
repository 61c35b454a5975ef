package delays

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Finder finds what makes others wait (DEFINITIONS 2.3): backward over all waits, the costs of each are charged to places: where the one
// waited for has spent more time than the one that waits since they last synchronised. They are handed on to the waits that it had itself.
//
// What a wait needs of the time since then does not depend on the waits after it. It is found on all cores, a batch of waits at a time;
// only the costs go from wait to wait.
type Finder struct {
	t         *trace.Trace
	jobs      int
	scope     *scope.Scope
	waits     *spill.Table[delayedWait]
	Segments  []*profile.Segments // to be set before Run: see profile.Delegated
	Steps     *Steps              // to be set before Run; nil: the trace is of no training job
	meetings  *meetings
	callWaits waits.ByCall

	kinds  []waitstate.Kind        // of the waits
	place  [waitstate.Kinds]int    // in kinds
	later  []float64               // by place: what the present wait costs in later ones
	costs  *spill.Table[delayCost] // in order in which they were met
	index  map[costKey]uint32      // rows of costs
	recent [1024]recentCost        // of index, by a hash of their keys
	total  [waitstate.Kinds]delayTotal
	handed []handedOn // by location: to the waits that are still to come
}

// A costKey is a place on one location.
type costKey struct {
	location trace.LocationID
	path     trace.PathID
}

// A recentCost is a row of costs that was looked up.
type recentCost struct {
	costKey
	after uint32 // row + 1; 0: none
}

// A delayCost is what a place has cost others, in ticks of their waits by kind: those that
// ended at the end of the interval with the delay, and later ones through the waits between.
type delayCost struct {
	costKey
	short, long [waitstate.Kinds]float64
	outside     float64 // of both: what ends in none of the steps
	longest     delayedMost
}

// A delayedMost is the call that waits longest at once for a place, in which state, and how long, in ticks.
type delayedMost struct {
	path trace.PathID
	kind waitstate.Kind
	time float64
}

// A delayTotal is what becomes of all waits of one kind, in ticks.
//
//	waits = short + long + unexplained = direct + indirect = propagating + terminal
type delayTotal struct {
	short, long, unexplained float64
	handed, taken            float64 // costs of later waits, by those waits' kind
	indirect, propagating    float64
}

// NewFinder returns what finds the delays behind the waits that w has found.
func NewFinder(w *waits.Finder) *Finder {
	return &Finder{t: w.T, jobs: w.Jobs, scope: w.Scope, callWaits: w.Calls,
		costs: spill.NewTable[delayCost](w.T.Store), index: make(map[costKey]uint32), handed: make([]handedOn, len(w.T.Calls))}
}

// Order lists the waits and finds where the pairs that wait for each other have last done so.
func (d *Finder) Order(ctx context.Context, w *waits.Finder) (err error) {
	if d.waits, err = delayedWaits(ctx, w); err != nil {
		return err
	}
	var met [waitstate.Kinds]bool
	for _, rows := range d.waits.Rows {
		for i := range rows {
			met[rows[i].kind] = true
		}
	}
	for k, ok := range met {
		if ok {
			d.place[k] = len(d.kinds)
			d.kinds = append(d.kinds, waitstate.Kind(k))
		}
	}
	d.later = make([]float64, len(d.kinds))
	return openPairs(ctx, d.waits)
}

// The waits of a batch are compared at the same time, in chunks. If not all is in memory, there should be some of each location, and most
// in all.
const (
	delayChunk    = 1024
	leastBatch    = 32 * delayChunk
	mostBatch     = 128 * delayChunk
	locationBatch = 128
)

// Run finds the costs. All segments must be there.
func (d *Finder) Run(ctx context.Context) (err error) {
	if d.meetings, err = newMeetings(ctx, d.t, d.jobs); err != nil {
		return err
	}
	defer d.meetings.binds.Release()
	batch := leastBatch
	if d.t.Store.Spilled() > 0 {
		batch = max(leastBatch, min(locationBatch*len(d.t.Calls), mostBatch))
	}
	var ready *comparisons
	for end := d.waits.Len(); end > 0 || ready != nil; {
		first := max(0, end-1) / batch * batch
		var made *comparisons
		err := engine.Beside(ctx, d.jobs, func(context.Context) error {
			if ready != nil {
				d.charge(ready)
			}
			return nil
		}, func(ctx context.Context) (err error) {
			if first < end {
				made, err = d.compareBatch(ctx, first, end)
			}
			return err
		})
		if err != nil {
			return err
		}
		ready, end = made, first
	}
	for i := range d.total {
		// Where clocks disagree, a wait may end before the one that it has caused by the order
		// of calls: what is handed on to it comes too late.
		d.total[i].unexplained += d.total[i].handed - d.total[i].taken
	}
	return nil
}

// charge hands the costs of a batch's waits to who has caused them, the last wait first.
func (d *Finder) charge(c *comparisons) {
	waits := d.waits.Cursor()
	for i := len(c.waits) - 1; i >= 0; i-- {
		k := &c.waits[i]
		d.chargeWait(waits.Ptr(c.first+i), k, c.excess[k.chunk][k.first:k.end])
	}
}

func (d *Finder) chargeWait(w *delayedWait, k *comparison, excess []profile.Segment) {
	kind, time, kinds, later := w.kind, float64(w.time), d.kinds, d.later
	totals := &d.total
	total := &totals[kind]
	share := d.handed[w.at.Location].to(w.at.Call, later)
	total.propagating += share * time
	for j, i := range kinds {
		later[j] *= time
		totals[i].taken += later[j]
	}
	known := float64(k.delay + k.wait)
	if known == 0 {
		total.unexplained += time
		for j, i := range kinds {
			totals[i].unexplained += later[j]
		}
		return
	}
	sigma := min(1, time/known)
	total.unexplained += time - sigma*known
	total.indirect += sigma * float64(k.wait)
	short, long := sigma, later // of each tick of delay or wait
	total.short += short * float64(k.delay)
	for j, i := range kinds {
		long[j] /= known
		totals[i].long += long[j] * float64(k.delay)
	}
	whole := short // of each tick of delay, in all waits
	for j := range kinds {
		whole += long[j]
	}
	inStep, outside := d.Steps.at(w.end, d.t.Rank[w.cause.Location])
	for _, x := range excess {
		c := d.cost(costKey{w.cause.Location, x.Path})
		more := float64(x.Time)
		switch {
		case outside:
			c.outside += whole * more
		case inStep != nil:
			*inStep += whole * more
		}
		c.short[kind] += short * more
		if short*more > c.longest.time {
			c.longest = delayedMost{d.Segments[w.at.Location].Own(w.at.Call).Path, waitstate.Kind(kind), short * more}
		}
		for j, i := range kinds {
			c.long[i] += long[j] * more
		}
	}
	if k.wait > 0 {
		long[d.place[kind]] += sigma
		for j, i := range kinds {
			totals[i].handed += long[j] * float64(k.wait)
		}
		d.handed[w.cause.Location].add(k.opened.cause, long, sigma)
	}
}

// Release gives the memory back.
func (d *Finder) Release() {
	d.waits.Release()
	d.costs.Release()
}

func (d *Finder) cost(key costKey) *delayCost {
	r := &d.recent[(uint32(key.location)*31+uint32(key.path))%uint32(len(d.recent))]
	if r.after == 0 || r.costKey != key {
		row, ok := d.index[key]
		if !ok {
			row = uint32(d.costs.Append(delayCost{costKey: key}))
			d.index[key] = row
		}
		*r = recentCost{key, row + 1}
	}
	return d.costs.Ptr(int(r.after - 1))
}

// handedOn holds what the waits of a location cost others, per tick of such a wait: those
// between the opening of a synchronisation interval and its end. It is asked for calls in
// descending order, and knows only intervals that end after them.
//
//	costs are of all steps up to there, of each as many as there are kinds of wait
type handedOn struct {
	steps []handedStep // by opened, ascending
	costs []float64
}

type handedStep struct {
	opened int64   // the call; -1: the begin of the run
	share  float64 // the largest of one wait, of all steps up to there
}

// add hands on costs to all waits after a call. It may change the list of costs.
func (h *handedOn) add(opened uint32, costs []float64, share float64) {
	at := int64(opened)
	if opened == trace.None {
		at = -1
	}
	i, n := len(h.steps), len(costs)
	for i > 0 && h.steps[i-1].opened > at {
		i--
	}
	for k := i; k < len(h.steps); k++ {
		h.steps[k].add(h.costs[k*n:], costs, share)
	}
	if i > 0 && h.steps[i-1].opened == at {
		h.steps[i-1].add(h.costs[(i-1)*n:], costs, share)
		return
	}
	step := handedStep{at, share}
	if i > 0 {
		step.add(costs, h.costs[(i-1)*n:], h.steps[i-1].share)
	}
	h.steps, h.costs = append(h.steps, step), append(h.costs, costs...)
	for k := len(h.steps) - 1; k > i; k-- { // mostly it is one of the last
		h.steps[k], h.steps[k-1] = h.steps[k-1], step
		for j, x := range costs {
			h.costs[k*n+j], h.costs[(k-1)*n+j] = h.costs[(k-1)*n+j], x
		}
	}
}

// add adds costs to the sums of a step.
func (s *handedStep) add(sums, costs []float64, share float64) {
	for j := range min(len(sums), len(costs)) {
		sums[j] += costs[j]
	}
	s.share = max(s.share, share)
}

// to finds what is handed on to the waits of a call.
func (h *handedOn) to(call uint32, costs []float64) (share float64) {
	n := len(h.steps)
	for n > 0 && h.steps[n-1].opened >= int64(call) {
		n--
	}
	h.steps, h.costs = h.steps[:n], h.costs[:n*len(costs)]
	if n == 0 {
		clear(costs)
		return 0
	}
	copy(costs, h.costs[(n-1)*len(costs):])
	return h.steps[n-1].share
}
