package paraver

import (
	"fmt"

	"tracekit/trace"
)

// machine defines the nodes, the tasks and the threads; it is the first to define. The tree is
// one machine, node 0, with the header's nodes below it; tasks of a node that does not exist
// are on the machine. The names are those of the .row file, if it has them.
func (r *reading) machine() {
	d, n, h := r.defs, r.names, r.header
	d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Name: n.text(or(r.row.name("SYSTEM", 0), "machine")),
		Class: n.text("machine"), Parent: trace.None})
	for i := range h.cpus {
		d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Ref: uint64(i + 1), Parent: 0,
			Name: n.text(or(r.row.name("NODE", i), fmt.Sprintf("node %d", i+1))), Class: n.text("node")})
	}
	for a, tasks := range h.appls {
		var places appl
		for t, task := range tasks {
			places.tasks = append(places.tasks, r.task(a, t, task))
		}
		r.appls = append(r.appls, places)
	}
	world := trace.Group{Name: n.text("MPI"), Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI}
	for _, a := range r.appls {
		for _, t := range a.tasks {
			member := t.lane
			if t.threads == 0 {
				member = trace.None
			}
			world.Members = append(world.Members, member)
		}
	}
	d.Groups = append(d.Groups, world)
}

// task defines a task and its threads.
func (r *reading) task(a, t int, task task) taskPlace {
	d, n := r.defs, r.names
	rank := len(d.LocationGroups)
	place := taskPlace{rank: uint32(rank), lane: uint32(len(d.Locations)), threads: int64(task.threads)}
	node := trace.SystemTreeNodeID(0)
	if task.node >= 1 && task.node < len(d.SystemTree) {
		node = trace.SystemTreeNodeID(task.node)
	}
	d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(rank), Kind: 1, Node: node, Creator: trace.None,
		Name: n.text(or(r.row.name("TASK", rank), fmt.Sprintf("TASK %d.%d", a+1, t+1)))})
	for i := range task.threads {
		id := len(d.Locations)
		name := or(r.row.name("THREAD", id), fmt.Sprintf("THREAD %d.%d.%d", a+1, t+1, i+1))
		d.Locations = append(d.Locations, trace.Location{Ref: uint64(id), Name: n.text(name),
			Kind: trace.LocationCPUThread, Group: trace.LocationGroupID(rank)})
	}
	return place
}

// makeLanes makes the lanes of all threads.
func (r *reading) makeLanes() {
	r.lanes = make([]lane, len(r.defs.Locations))
	for _, a := range r.appls {
		for _, t := range a.tasks {
			for i := range t.threads {
				r.lanes[int64(t.lane)+i].task = t.rank
			}
		}
	}
	for i := range r.lanes {
		r.lanes[i].location = trace.LocationID(i)
		r.lanes[i].rooted.limit = max(maxRootRanges/len(r.lanes), leastRootRanges)
	}
}

// openLane makes the streams of a lane, when the first line speaks of it: a header can
// announce many threads.
func (r *reading) openLane(l *lane) {
	l.events = r.spool.Stream(l.location * laneStreams)
	l.messages = r.spool.Stream(l.location*laneStreams + messageStream)
	l.states = r.spool.Stream(l.location*laneStreams + stateStream)
}

// or returns b if a is empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
