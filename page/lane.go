package page

import (
	"tracekit/document/waitstate"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// maxPaths bounds the call paths of one location: what comes later counts as its caller.
const maxPaths = 1 << 14

// A lane tells a taker what one location does, in numbers of activities.
type lane struct {
	b        *builder
	location trace.LocationID
	into     taker
	done     int64 // ns that into was told

	tree       *trace.CallTree
	activities []Activity
	numbers    map[Activity]uint32
	recent     *trace.PathCache          // of the numbers of running in call paths
	follower   *profile.Follower[uint32] // what is kept of a visit is the number of running in it
}

// A taker is told what a location does, one after another from the first event of the trace.
type taker interface {
	take(ns int64, activity uint32)
}

func newLane(b *builder, waits waits.ByCall, l trace.LocationID, into taker) *lane {
	nothing := Activity{Path: trace.None}
	n := &lane{b: b, location: l, into: into, tree: trace.NewCallTree(), recent: new(trace.PathCache),
		activities: []Activity{nothing}, numbers: map[Activity]uint32{nothing: 0}}
	n.follower = &profile.Follower[uint32]{Enter: n.enter, Spend: n.spend}
	n.follower.Begin(b.t, waits, l)
	n.until(b.t.Span[l].First, 0)
	return n
}

// end tells the rest of the run.
func (n *lane) end() {
	n.follower.End()
	n.until(n.b.last, 0)
	n.recent, n.follower = nil, nil
}

func (n *lane) enter(caller *uint32, region trace.RegionID, site trace.SourceLocationID, _ *trace.Call) uint32 {
	node := trace.PathNode{Parent: trace.None, Region: region, Site: site}
	if caller != nil {
		node.Parent = n.activities[*caller].Path
	}
	number, known := n.recent.Lookup(node)
	if !known {
		path := n.tree.Find(node)
		if path == trace.None {
			if path = node.Parent; len(n.tree.Nodes) < maxPaths || path == trace.None {
				path = n.tree.Add(node)
			}
		}
		number = n.number(Activity{Path: path})
		n.recent.Remember(node, number)
	}
	return number
}

func (n *lane) spend(end int64, _ trace.RegionID, visit *uint32, wait waitstate.Kind) {
	number := uint32(0)
	if visit != nil {
		number = *visit
	}
	if wait != waitstate.None {
		number = n.number(Activity{Path: n.activities[number].Path, Wait: wait})
	}
	n.until(end, number)
}

func (n *lane) until(end int64, activity uint32) {
	if ns := n.b.ns(end) - n.done; ns > 0 {
		n.done += ns
		n.into.take(ns, activity)
	}
}

func (n *lane) number(a Activity) uint32 {
	k, ok := n.numbers[a]
	if !ok {
		k = uint32(len(n.activities))
		n.numbers[a] = k
		n.activities = append(n.activities, a)
	}
	return k
}
