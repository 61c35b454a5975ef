package paraver

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// Every location has a place of its own: a thread of a task, and a CPU of that task's node. Ranks are the first tasks.
func TestPlacesOfLocations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := &trace.Defs{Strings: []string{""}}
		for range r.IntN(4) {
			d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Parent: trace.None})
		}
		for range r.IntN(6) {
			node := trace.SystemTreeNodeID(r.IntN(len(d.SystemTree) + 1))
			if int(node) == len(d.SystemTree) {
				node = trace.None
			}
			d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Node: node, Creator: trace.None})
		}
		if len(d.LocationGroups) == 0 {
			continue
		}
		for range 1 + r.IntN(9) {
			d.Locations = append(d.Locations, trace.Location{Group: trace.LocationGroupID(r.IntN(len(d.LocationGroups)))})
		}
		var world []uint32 // one location of each of some processes
		for l := range d.Locations {
			if !slices.ContainsFunc(world, func(m uint32) bool { return d.Locations[m].Group == d.Locations[l].Group }) && r.IntN(3) > 0 {
				world = append(world, uint32(l))
			}
		}
		r.Shuffle(len(world), func(i, j int) { world[i], world[j] = world[j], world[i] })
		d.Groups = []trace.Group{{Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI, Members: world}}
		o := newObjects(d)
		for rank, l := range world {
			if p := o.place[l]; p.task != rank+1 || p.thread != 1 {
				t.Errorf("rank %d is thread %d of task %d", rank, p.thread, p.task)
			}
		}
		cpus := o.cpus()
		seen := make(map[string]bool)
		for l, p := range o.place {
			task := o.tasks[p.task-1]
			if task.threads[p.thread-1] != trace.LocationID(l) || task.group != d.Locations[l].Group {
				t.Errorf("location %d is not in its place %+v", l, p)
			}
			if node := o.nodes[task.node-1]; node != d.LocationGroups[task.group].Node {
				t.Errorf("location %d is on node %d", l, node)
			}
			seen[fmt.Sprint(p.task, p.thread)], seen[fmt.Sprint("cpu", p.cpu)] = true, true
		}
		if len(seen) != 2*len(o.place) {
			t.Errorf("%d locations share places or CPUs: %+v", len(o.place), o.place)
		}
		for l, p := range o.place { // CPUs are numbered node by node
			before := 0
			for n := range o.tasks[p.task-1].node - 1 {
				for _, task := range o.tasks {
					if task.node == n+1 {
						before += len(task.threads)
					}
				}
			}
			if p.cpu <= before || p.cpu > before+cpus[o.tasks[p.task-1].node-1] {
				t.Errorf("location %d has CPU %d, its node those from %d on", l, p.cpu, before+1)
			}
		}
	}
}

// Partners by their rank in a communicator, as world ranks; local is the way back where ranks are those of the world.
func TestPartners(t *testing.T) {
	d := tracetest.MustParse(t, `
location 0 rank=0
location 1 rank=1
location 2 rank=2
location 3 rank=3
comm 1 PART ranks=3,0,2
comm 2 BRIDGE ranks=0,1 others=2,3
comm 3 MPI_COMM_SELF self
`).Definitions
	p := newPeers(d, newObjects(d))
	const none = trace.None
	for _, c := range []struct {
		comm     trace.CommID
		me, peer uint32
		want     uint32
	}{
		{0, 1, 3, 3}, {0, 1, 4, none},
		{1, 0, 0, 3}, {1, 0, 1, 0}, {1, 0, 2, 2}, {1, 0, 3, none},
		{2, 0, 0, 2}, {2, 1, 1, 3}, {2, 2, 0, 0}, {2, 3, 1, 1}, {2, 0, 2, none},
		{3, 2, 0, 2}, {3, 2, 9, 2},
		{9, 0, 0, none}, {none, 0, 0, none},
	} {
		if got := p.rank(c.comm, c.me, c.peer); got != c.want {
			t.Errorf("rank %d of communicator %d is %d to rank %d, want %d", c.peer, c.comm, got, c.me, c.want)
		}
	}
	ids := make(map[int64]bool) // those of the file are different: one for each of SELF
	for c := range trace.CommID(len(d.Comms)) {
		for me := range uint32(4) {
			ids[p.id(c, me)] = true
			for _, root := range []uint32{0, 1, 2, 3, trace.RootSelf, trace.RootNone, trace.RootThisGroup} {
				want := root == trace.RootSelf || root < 4 && !p.comms[c].inter && p.rank(c, me, root) == me
				if got := p.isRoot(c, me, root); got != want {
					t.Errorf("rank %d is root %d of communicator %d: %v", me, root, c, got)
				}
			}
		}
	}
	if len(ids) != 3+4 || ids[0] {
		t.Errorf("the file's communicators are %v", slices.Sorted(maps.Keys(ids)))
	}
}

// However a thread's collectives are cut into blocks, each has the root that was flagged.
func TestRootsOfBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		const tasks, comms = 4, 3
		threads := make([]thread, tasks)
		parts := make([]rootedCalls, tasks)
		var want [comms][]uint32
		for range r.IntN(60) {
			c := trace.CommID(r.IntN(comms))
			root := uint32(r.IntN(tasks + 1)) // tasks: none is flagged
			if n := len(want[c]); n > 0 && r.IntN(3) > 0 {
				root = want[c][n-1]
			}
			want[c] = append(want[c], root)
			for task := range threads {
				parts[task].add(c, uint32(task) == root)
				if r.IntN(4) == 0 {
					threads[task].rooted.join(&parts[task])
					parts[task] = rootedCalls{}
				}
			}
		}
		for task := range threads {
			threads[task].task = uint32(task)
			threads[task].rooted.join(&parts[task])
		}
		found := newRoots(threads)
		for c, list := range want {
			for i, root := range append(list, tasks) {
				if root == tasks {
					root = trace.None
				}
				if got := found.find(trace.CommID(c), uint32(i)); got != root {
					t.Fatalf("communicator %d, collective %d has the root %d, want %d of %v", c, i, got, root, list)
				}
			}
		}
	}
}

// What is written as a message is the nth send and the nth receive of their ranks, communicator and tag.
func TestMessagesArePairedInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const ranks = 4
	type end struct{ tag, comm int }
	channel := func(from, to int, e end) string {
		return fmt.Sprintf("%d to %d, tag %d, communicator %d", from, to, e.tag, e.comm)
	}
	sends, receives := make(map[string][]int), make(map[string][]int)
	text, at := "", 0
	var locations [ranks][]string
	for range 400 {
		from, to, e := r.IntN(ranks), r.IntN(ranks), end{tag: 1 + r.IntN(2), comm: r.IntN(2)}
		k := channel(from, to, e)
		at++
		if r.IntN(2) == 0 {
			sends[k] = append(sends[k], at)
			locations[from] = append(locations[from], fmt.Sprintf(" %d MpiSend to=%d tag=%d bytes=%d comm=%d",
				at, to, e.tag, len(sends[k]), e.comm))
		} else {
			receives[k] = append(receives[k], at)
			locations[to] = append(locations[to], fmt.Sprintf(" %d MpiRecv from=%d tag=%d bytes=%d comm=%d",
				at, from, e.tag, len(receives[k]), e.comm))
		}
	}
	for l, lines := range locations {
		text += fmt.Sprintf("location %d rank=%d\n%s\n", l, l, strings.Join(lines, "\n"))
	}
	text += "comm 1 OTHER ranks=0,1,2,3\n"
	want, alone := make(map[string]int), 0
	for k, list := range sends {
		var from, to, tag int
		fmt.Sscanf(k, "%d to %d, tag %d", &from, &to, &tag)
		for i := range min(len(list), len(receives[k])) {
			want[fmt.Sprintf("from %d at %d to %d at %d: %d bytes, tag %d", from+1, list[i], to+1, receives[k][i], i+1, tag)]++
		}
		alone += max(len(list)-len(receives[k]), 0)
	}
	path := filepath.Join(t.TempDir(), "a.prv")
	lost := write(t, tracetest.MustParse(t, text), path, CreateOptions{Plain: true})
	got := make(map[string]int)
	for line := range strings.Lines(string(tracetest.ReadFile(t, path))) {
		var f [13]int
		if n, _ := fmt.Sscanf(strings.ReplaceAll(line, ":", " "), "3 %d %d %d %d %d %d %d %d %d %d %d %d %d", &f[0], &f[1], &f[2], &f[3], &f[4],
			&f[5], &f[6], &f[7], &f[8], &f[9], &f[10], &f[11], &f[12]); n == 13 {
			var tag int
			fmt.Sscanf(line[strings.LastIndexByte(line, ':')+1:], "%d", &tag)
			got[fmt.Sprintf("from %d at %d to %d at %d: %d bytes, tag %d", f[2], f[4], f[8], f[11], f[12], tag)]++
		}
	}
	if !maps.Equal(got, want) || len(want) < 100 {
		t.Errorf("%d messages, want %d: %v, want %v", len(got), len(want), got, want)
	}
	if lost["sends without a receive"] != uint64(alone) {
		t.Errorf("%d sends are alone, want %d", lost["sends without a receive"], alone)
	}
}
