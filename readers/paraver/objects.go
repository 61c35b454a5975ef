package paraver

import (
	"sync"

	"tracekit/trace"
)

// objects is how locations become tasks and threads: first the ranks of MPI_COMM_WORLD in
// order, each with its locations, the master first; then the other processes.
type objects struct {
	tasks []writtenTask
	ranks int
	nodes []trace.SystemTreeNodeID // by node from 0; None: not known
	place []place                  // by location
}

// A writtenTask is a process; group is None if it is not known.
type writtenTask struct {
	group   trace.LocationGroupID
	node    int // from 1
	threads []trace.LocationID
}

// A place is where a location stands in Paraver's hierarchy; all numbers from 1.
type place struct{ cpu, task, thread int }

func newObjects(d *trace.Defs) *objects {
	o := &objects{place: make([]place, len(d.Locations))}
	world, ranks := d.World(), d.Ranks()
	o.tasks, o.ranks = make([]writtenTask, len(world)), len(world)
	for r := range o.tasks {
		o.tasks[r].group = trace.None
		if l := world[r]; int(l) < len(d.Locations) {
			o.tasks[r].group = d.Locations[l].Group
			o.add(r, l)
		}
	}
	others := make(map[trace.LocationGroupID]int)
	for i, l := range d.Locations {
		if o.place[i].task != 0 {
			continue
		}
		task := int(ranks[i])
		if ranks[i] == trace.None {
			n, ok := others[l.Group]
			if !ok {
				n = len(o.tasks)
				others[l.Group] = n
				o.tasks = append(o.tasks, writtenTask{group: l.Group})
			}
			task = n
		}
		o.add(task, trace.LocationID(i))
	}
	o.placeOnNodes(d)
	return o
}

func (o *objects) add(task int, l trace.LocationID) {
	if o.place[l].task != 0 {
		return // one location with several ranks
	}
	t := &o.tasks[task]
	t.threads = append(t.threads, l)
	o.place[l] = place{task: task + 1, thread: len(t.threads)}
}

// placeOnNodes numbers the nodes and gives every thread a CPU of its own.
func (o *objects) placeOnNodes(d *trace.Defs) {
	numbers := make(map[trace.SystemTreeNodeID]int)
	for i := range o.tasks {
		t, node := &o.tasks[i], trace.SystemTreeNodeID(trace.None)
		if int(t.group) < len(d.LocationGroups) {
			node = d.LocationGroups[t.group].Node
		}
		if _, ok := numbers[node]; !ok {
			o.nodes = append(o.nodes, node)
			numbers[node] = len(o.nodes)
		}
		t.node = numbers[node]
	}
	cpu := 0
	for n := range o.nodes {
		for _, t := range o.tasks {
			for _, l := range t.threads {
				if t.node == n+1 {
					cpu++
					o.place[l].cpu = cpu
				}
			}
		}
	}
}

// cpus returns the number of CPUs of each node, at least one.
func (o *objects) cpus() []int {
	n := make([]int, len(o.nodes))
	for _, t := range o.tasks {
		n[t.node-1] += len(t.threads)
	}
	for i := range n {
		n[i] = max(n[i], 1)
	}
	return n
}

// peers resolves ranks in communicators, and numbers the communicators of the file: those
// of the definitions first; of one that stands for every process alone, one for each rank
// follows.
type peers struct {
	comms   []peerComm
	world   int
	self    int                        // number of the first communicator of one rank; 0: none
	inverse []func() map[uint32]uint32 // by communicator, made when needed
}

// A peerComm holds world ranks.
type peerComm struct {
	members, remote []uint32
	inter, self     bool
	global          bool // ranks are world ranks
	usable          bool
}

func newPeers(d *trace.Defs, o *objects) *peers {
	p := &peers{world: o.ranks}
	ranks := d.Ranks()
	for _, c := range d.Comms {
		n := peerComm{inter: c.Inter}
		if int(c.Group) < len(d.Groups) {
			g := &d.Groups[c.Group]
			n.self, n.global = g.Kind == trace.GroupCommSelf, g.Flags&trace.GroupGlobalMembers != 0
			n.members, n.usable = g.WorldRanks(ranks, uint32(o.ranks)), true
		}
		if c.Inter && int(c.Remote) < len(d.Groups) {
			n.remote = d.Groups[c.Remote].WorldRanks(ranks, uint32(o.ranks))
		}
		p.comms = append(p.comms, n)
		if n.self {
			p.self = -1 // to be numbered
		}
	}
	for i := range p.comms {
		p.inverse = append(p.inverse, sync.OnceValue(p.comms[i].invert))
	}
	if p.self != 0 {
		p.self = 3*len(p.comms) + 1
	}
	return p
}

// group returns the number of the communicator that is one of an intercommunicator's groups.
func (p *peers) group(c int, remote bool) int {
	if remote {
		return 2*len(p.comms) + 1 + c
	}
	return len(p.comms) + 1 + c
}

// id returns the number that the file gives a communicator, 0 if it has none: then it is
// known to a rank alone, or not at all.
func (p *peers) id(c trace.CommID, me uint32) int64 {
	switch {
	case int(c) >= len(p.comms) || !p.comms[c].usable:
		return 0
	case p.comms[c].self:
		return int64(p.self) + int64(me)
	}
	return int64(c) + 1
}

// rank returns the world rank of a partner, None if it cannot be told.
func (p *peers) rank(c trace.CommID, me, peer uint32) uint32 {
	if int(c) >= len(p.comms) || !p.comms[c].usable {
		return trace.None
	}
	comm := &p.comms[c]
	members := comm.members
	switch {
	case comm.self:
		return me
	case comm.global:
		if int(peer) < p.world {
			return peer
		}
		return trace.None
	case comm.inter:
		if _, ok := p.index(c)[me]; ok {
			members = comm.remote
		}
	}
	if int(peer) >= len(members) {
		return trace.None
	}
	return members[peer]
}

// local returns the rank in a communicator of a partner: the file knows only communicators
// whose events name such ranks.
func (p *peers) local(c trace.CommID, peer uint32) uint32 {
	if int(c) < len(p.comms) && p.comms[c].global {
		if i, ok := p.index(c)[peer]; ok {
			return i
		}
	}
	return peer
}

// index returns the inverse of the members.
func (p *peers) index(c trace.CommID) map[uint32]uint32 { return p.inverse[c]() }

// invert makes the inverse of a communicator's members.
func (c *peerComm) invert() map[uint32]uint32 {
	inverse := make(map[uint32]uint32)
	for i, m := range c.members {
		if m != trace.None {
			inverse[m] = uint32(i)
		}
	}
	return inverse
}

// isRoot reports whether a process is the root that it names in a collective.
func (p *peers) isRoot(c trace.CommID, me, root uint32) bool {
	switch {
	case root == trace.RootSelf:
		return true
	case root == trace.RootNone || root == trace.RootThisGroup || int(c) >= len(p.comms) || p.comms[c].inter:
		return false
	}
	return p.rank(c, me, root) == me
}
