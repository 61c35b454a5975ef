package paraver

import (
	"cmp"
	"fmt"
	"sync"

	"tracekit/trace"
)

// machine defines the nodes, the tasks and the threads; it is the first to define. The tree is
// one machine, node 0, with the header's nodes below it; tasks of a node that does not exist
// are on the machine. The names are those of the .row file, if it has them.
func (r *reading) machine() {
	d, n, h := r.defs, r.names, r.header
	d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Name: n.text(cmp.Or(r.row.name("SYSTEM", 0), "machine")),
		Class: n.text("machine"), Parent: trace.None})
	for i := range h.cpus {
		d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Ref: uint64(i + 1), Parent: 0,
			Name: n.text(cmp.Or(r.row.name("NODE", i), fmt.Sprintf("node %d", i+1))), Class: n.text("node")})
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
			member := t.first
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
	place := taskPlace{rank: uint32(rank), first: uint32(len(d.Locations)), threads: int64(task.threads)}
	node := trace.SystemTreeNodeID(0)
	if task.node >= 1 && task.node < len(d.SystemTree) {
		node = trace.SystemTreeNodeID(task.node)
	}
	d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(rank), Kind: 1, Node: node, Creator: trace.None,
		Name: n.text(cmp.Or(r.row.name("TASK", rank), fmt.Sprintf("TASK %d.%d", a+1, t+1)))})
	r.beside = r.beside || task.threads > 1
	for i := range task.threads {
		id := len(d.Locations)
		name := cmp.Or(r.row.name("THREAD", id), fmt.Sprintf("THREAD %d.%d.%d", a+1, t+1, i+1))
		d.Locations = append(d.Locations, trace.Location{Ref: uint64(id), Name: n.text(name),
			Kind: trace.LocationCPUThread, Group: trace.LocationGroupID(rank)})
	}
	return place
}

// makeThreads makes the threads that the header announces.
func (r *reading) makeThreads() {
	r.threads = make([]thread, len(r.defs.Locations))
	for _, a := range r.appls {
		for _, t := range a.tasks {
			for i := range t.threads {
				r.threads[int64(t.first)+i].task = t.rank
			}
		}
	}
	for i := range r.threads {
		r.threads[i].location = trace.LocationID(i)
		r.threads[i].rooted.limit = max(maxRootRanges/len(r.threads), leastRootRanges)
	}
}

// openThread makes the streams of a thread, when the first line speaks of it: a header can
// announce many threads.
func (r *reading) openThread(l *thread) {
	l.events = r.spool.Stream(l.location * threadStreams)
	l.messages = r.spool.Stream(l.location*threadStreams + messageStream)
	l.states = r.spool.Stream(l.location*threadStreams + stateStream)
}

// tables is what the lines of a trace have in common: the definitions, as far as lines have
// asked for them, and how what lines name is found in them. The definitions are numbered in
// the order in which the lines of the file need them.
//
// Decoders look things up while they hold the lock for reading. Only the reading adds to the
// tables, and what is in them keeps its meaning, but for the changes that version counts.
type tables struct {
	sync.RWMutex
	defs     *trace.Defs
	pcf      *pcf
	names    *names
	meters   *meters
	types    *eventTypes
	sites    *sites
	comms    *comms
	appls    []appl
	instants map[regionKey]trace.StringID
	dialect  bool                // written by this package: see own.go
	beside   bool                // some task has several threads
	tasks    uint32              // type of the tasks that threads run; 0: none
	known    map[trace.Code]bool // findings that are described
	version  int                 // of the dialect and of the communicators
}

// An appl is an application.
type appl struct{ tasks []taskPlace }

// A taskPlace is the place of a task: its world rank, its first thread and the number of its
// threads.
type taskPlace struct {
	rank, first uint32
	threads     int64
}

// place returns the place of a task by numbers from 1, nil if there is none.
func (t *tables) place(appl, task int64) *taskPlace {
	if appl < 1 || appl > int64(len(t.appls)) {
		return nil
	}
	a := &t.appls[appl-1]
	if task < 1 || task > int64(len(a.tasks)) {
		return nil
	}
	return &a.tasks[task-1]
}
