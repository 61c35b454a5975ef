package page

import (
	"tracekit/stats"
	"tracekit/trace"
)

// maxDepth bounds the stack, so that endless recursion cannot fill memory: what is deeper
// counts as the region at that depth.
const maxDepth = 1 << 10

// maxPaths bounds the call paths of one location: what comes later counts as its caller.
const maxPaths = 1 << 14

// A lane follows the call stack of one location and notes what it does. Times in it are
// corrected ticks until they become runs.
type lane struct {
	b        *builder
	location trace.LocationID
	tree     *trace.CallTree
	stack    trace.CallStack[visit]
	below    int // regions entered below the deepest visit
	call     int // row of the location's calls that comes next
	now      int64
	last     int64
	times    []int64

	activities []Activity
	numbers    map[Activity]uint32
	recent     struct { // the number that was asked for last
		activity Activity
		number   uint32
	}
	done int64 // ns that into holds
	into taker
}

// A taker is told what a location does, one after another from the first event of the trace.
type taker interface {
	take(ns int64, activity uint32)
}

// A visit is a region that is entered and not left.
type visit struct {
	path trace.PathID
	wait stats.CallWait
}

func newLane(b *builder, l trace.LocationID, into taker) *lane {
	s := b.t.Span[l]
	n := &lane{b: b, location: l, tree: trace.NewCallTree(), now: s.First, last: s.First, into: into,
		activities: []Activity{{Path: trace.None}}, numbers: map[Activity]uint32{{Path: trace.None}: 0}}
	n.recent.activity.Path = trace.None
	n.spend(b.ns(s.First), Activity{Path: trace.None})
	return n
}

func (n *lane) batch(batch *trace.Batch) {
	f := &batch.Flow
	n.times = append(n.times[:0], f.Time...)
	n.last = n.b.t.Clock.Maps[n.location].Correct(n.times, n.last)
	for i, t := range n.times {
		if !f.Kind[i].Enters() {
			n.leave(t, f.Region[i])
			continue
		}
		site := trace.SourceLocationID(trace.None)
		if len(f.Context) > 0 {
			if c := f.Context[i]; int(c) < len(n.b.t.Defs.CallingContexts) {
				site = n.b.t.Defs.CallingContexts[c].Site
			}
		}
		n.enter(t, f.Region[i], site, f.Seq[i])
	}
}

// close ends the row where the run ends.
func (n *lane) close() {
	n.fill(n.b.t.Span[n.location].Last)
	n.spend(n.b.length-n.done, Activity{Path: trace.None})
}

func (n *lane) enter(t int64, region trace.RegionID, site trace.SourceLocationID, seq uint64) {
	if n.stack.Len() == maxDepth {
		n.below++
		return
	}
	n.fill(t)
	parent := trace.PathID(trace.None)
	if v := n.stack.Top(); v != nil {
		parent = v.path
	}
	node := trace.PathNode{Parent: parent, Region: region, Site: site}
	path := n.tree.Find(node)
	if path == trace.None {
		if path = parent; len(n.tree.Nodes) < maxPaths || parent == trace.None {
			path = n.tree.Add(node)
		}
	}
	n.stack.Enter(region, visit{path: path, wait: n.wait(seq)})
}

// wait returns how the call waits that was entered by event seq. Sequence numbers ascend
// from one use to the next.
func (n *lane) wait(seq uint64) (w stats.CallWait) {
	calls := n.b.t.Calls[n.location]
	for ; n.call < calls.Len(); n.call++ {
		switch c := calls.Ptr(n.call); {
		case c.Seq > seq:
			return w
		case c.Seq == seq && n.b.waits != nil:
			w = n.b.waits[n.location].At(n.call)
		}
	}
	return w
}

func (n *lane) leave(t int64, region trace.RegionID) {
	if n.below > 0 {
		n.below--
		return
	}
	ended := n.stack.Leave(region)
	if ended == 0 {
		return
	}
	n.fill(t)
	for range ended {
		n.stack.Pop()
	}
}

// fill notes what the location does from now to t.
func (n *lane) fill(t int64) {
	v := n.stack.Top()
	if v == nil {
		n.until(t, Activity{Path: trace.None})
		return
	}
	if w := &v.wait; w.Time > 0 {
		n.until(min(t, w.From), Activity{Path: v.path})
		n.until(min(t, w.From+w.SenderTime), Activity{Path: v.path, Wait: stats.LateSender})
		n.until(min(t, w.From+w.Time), Activity{Path: v.path, Wait: w.Kind})
	}
	n.until(t, Activity{Path: v.path})
}

func (n *lane) until(t int64, a Activity) {
	if t > n.now {
		n.now = t
		n.spend(n.b.ns(t)-n.done, a)
	}
}

func (n *lane) spend(ns int64, a Activity) {
	if ns > 0 {
		n.done += ns
		n.into.take(ns, n.number(a))
	}
}

func (n *lane) number(a Activity) uint32 {
	if n.recent.activity == a {
		return n.recent.number
	}
	k, ok := n.numbers[a]
	if !ok {
		k = uint32(len(n.activities))
		n.numbers[a] = k
		n.activities = append(n.activities, a)
	}
	n.recent.activity, n.recent.number = a, k
	return k
}
