package jsontrace

import (
	"cmp"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// Operations of gloo do not name their process group. But a group has threads of its own, which it makes when it is made. So the threads
// of a rank, by number, belong to its groups, in the order in which they were made: to one or several of them. Of these assignments those
// are possible in which the members of each group do the same in the same order, and none leaves an operation before another has begun it.
// If one alone is possible, it is the one. All ranks have theirs in the same order. Clocks of different hosts may differ by a constant.

// A glooThread is a thread on which a group of gloo communicates.
type glooThread struct {
	tid   ident
	calls []glooOperation
	more  bool // than are kept
}

type glooOperation struct {
	begin, end int64
	op         nest.Operation
}

const (
	glooCalls       = 1 << 11 // of a thread, that are kept
	glooThreads     = 64      // of a rank
	glooAssignments = 1 << 12 // that are tried
)

func (t *glooThread) add(op nest.Operation, ev *event) {
	if t.more = len(t.calls) == glooCalls; !t.more {
		t.calls = append(t.calls, glooOperation{ev.time, nest.AddTime(ev.time, ev.dur), op})
	}
}

// A glooGroup is a process group of a rank.
type glooGroup struct {
	name  string
	ranks []uint32
}

// A glooRank is a rank of which it is not known which group its operations are of.
//
//	messages[sends][peer] counts messages
type glooRank struct {
	rank     uint32
	host     string // "": not recorded
	files    []*file
	groups   []glooGroup // of two ranks or more, in the order in which they were made
	threads  []*glooThread
	messages [2]map[uint32]int
}

// glooGroups finds the groups of operations of gloo.
func (a *assembler) glooGroups() {
	var ranks []*glooRank
	of := make(map[uint32]*glooRank)
	for _, f := range a.files {
		if _, sure := f.origin.soleRanks(true); sure || !f.origin.hasRank {
			continue
		}
		r := of[f.origin.rank]
		if r == nil {
			r = &glooRank{rank: f.origin.rank, host: f.members["host_name"]}
			for _, g := range f.origin.gloo {
				if len(g.ranks) > 1 && slices.Contains(g.ranks, r.rank) {
					r.groups = append(r.groups, g)
				}
			}
			of[r.rank], ranks = r, append(ranks, r)
		}
		r.read(f)
	}
	if len(ranks) < 2 || slices.ContainsFunc(ranks, func(r *glooRank) bool {
		return len(r.groups) != len(ranks[0].groups) || len(r.threads) != len(ranks[0].threads) || len(r.threads) > glooThreads
	}) {
		return
	}
	for _, r := range ranks {
		slices.SortFunc(r.threads, func(x, y *glooThread) int { return compareIdents(x.tid, y.tid) })
	}
	if n := len(ranks[0].threads); n > 0 {
		if found := onlyAssignment(n, len(ranks[0].groups), func(groups []int) bool { return possible(ranks, of, groups) }); found != nil {
			for _, r := range ranks {
				r.assign(found)
			}
		}
	}
	for _, r := range ranks { // messages are asked for by any thread
		if len(r.messages[0])+len(r.messages[1]) > 0 {
			if k := onlyOne(len(r.groups), func(k int) bool { return matches(ranks, of, k) }); k >= 0 {
				for _, r := range ranks {
					r.name(func(g *group) bool { return g.thread == nil }, k)
				}
			}
			return
		}
	}
}

// read takes what a file says about a rank.
func (r *glooRank) read(f *file) {
	r.files = append(r.files, f)
	for i := range f.comms.list {
		g := &f.comms.list[i]
		for sends, counts := range g.messages {
			for peer, n := range counts {
				if r.messages[sends] == nil {
					r.messages[sends] = make(map[uint32]int)
				}
				r.messages[sends][peer] += n
			}
		}
		if g.thread == nil {
			continue
		}
		at := slices.IndexFunc(r.threads, func(t *glooThread) bool { return t.tid == g.thread.tid })
		if at < 0 {
			at, r.threads = len(r.threads), append(r.threads, &glooThread{tid: g.thread.tid})
		}
		t := r.threads[at]
		for _, c := range g.thread.calls {
			t.calls = append(t.calls, glooOperation{nest.AddTime(c.begin, f.base), nest.AddTime(c.end, f.base), c.op})
		}
		t.more = t.more || g.thread.more
	}
}

// assign gives threads their groups.
func (r *glooRank) assign(groups []int) {
	for i, t := range r.threads {
		r.name(func(g *group) bool { return g.thread != nil && g.thread.tid == t.tid }, groups[i])
	}
}

// name gives a group its name and its ranks where it is one of a kind.
func (r *glooRank) name(is func(g *group) bool, k int) {
	for _, f := range r.files {
		for i := range f.comms.list {
			if g := &f.comms.list[i]; g.gloo && is(g) {
				g.name, g.ranks = r.groups[k].name, r.groups[k].ranks
			}
		}
	}
}

// operations returns what a rank does in a group, in order, and whether that is all.
func (r *glooRank) operations(groups []int, k int) (calls []glooOperation, all bool) {
	all = true
	until := int64(-1) // of a thread of which not all is kept
	for i, t := range r.threads {
		if groups[i] != k {
			continue
		}
		calls = append(calls, t.calls...)
		if last := len(t.calls) - 1; t.more && (all || t.calls[last].begin < until) {
			all, until = false, t.calls[last].begin
		}
	}
	slices.SortFunc(calls, func(x, y glooOperation) int { return cmp.Compare(x.begin, y.begin) })
	if !all {
		calls = slices.DeleteFunc(calls, func(c glooOperation) bool { return c.begin > until })
	}
	return calls, all
}

// glooClock is by how much one clock may be ahead of another.
type glooClock struct{ least, most int64 }

// possible reports whether threads may belong to groups as assigned.
func possible(ranks []*glooRank, of map[uint32]*glooRank, groups []int) bool {
	for _, r := range ranks {
		clocks := make(map[uint32]glooClock) // by rank
		for k, g := range r.groups {
			own, all := r.operations(groups, k)
			for _, member := range g.ranks {
				other := of[member]
				if other == nil || member <= r.rank {
					continue
				}
				at := slices.IndexFunc(other.groups, func(h glooGroup) bool { return h.name == g.name && slices.Equal(h.ranks, g.ranks) })
				if at < 0 {
					return false
				}
				clock, known := clocks[member]
				if !known && (r.host == "" || r.host != other.host) {
					clock = glooClock{-1 << 62, 1 << 62}
				}
				theirs, whole := other.operations(groups, at)
				if all && whole && len(own) != len(theirs) || !clock.together(own, theirs) {
					return false
				}
				clocks[member] = clock
			}
		}
	}
	return true
}

// together reports whether two ranks may do operations with each other, and by how much the clock of x may be ahead then.
func (a *glooClock) together(x, y []glooOperation) bool {
	for i := range min(len(x), len(y)) {
		if x[i].op != y[i].op {
			return false
		}
		if p := x[i].op.Collective().Pattern(); p == trace.PatternBarrier || p == trace.PatternAllToAll { // nobody leaves before all are there
			a.least, a.most = max(a.least, x[i].begin-y[i].end), min(a.most, x[i].end-y[i].begin)
		}
	}
	return a.least <= a.most
}

// matches reports whether the messages of ranks may be those of their k-th groups: what is sent is received.
func matches(ranks []*glooRank, of map[uint32]*glooRank, k int) bool {
	for _, r := range ranks {
		members := r.groups[k].ranks
		for sends, counts := range r.messages {
			for peer, n := range counts {
				if int(peer) >= len(members) || members[peer] == r.rank {
					return false
				}
				other := of[members[peer]]
				if other == nil {
					continue
				}
				own := slices.Index(other.groups[k].ranks, r.rank)
				if own < 0 || other.messages[1-sends][uint32(own)] != n {
					return false
				}
			}
		}
	}
	return true
}

// onlyAssignment returns the only one of which a function holds that assigns n threads to groups in their order; nil if there is none, or
// are several or too many.
func onlyAssignment(n, groups int, holds func([]int) bool) (found []int) {
	tried, several := 0, false
	at := make([]int, n)
	var try func(i, from int)
	try = func(i, from int) {
		if several = several || tried >= glooAssignments; several {
			return
		}
		if i == n {
			if tried++; holds(at) {
				several, found = found != nil, slices.Clone(at)
			}
			return
		}
		for at[i] = from; at[i] < groups; at[i]++ {
			try(i+1, at[i])
		}
	}
	if try(0, 0); several {
		return nil
	}
	return found
}

// onlyOne returns the only number below n for which a function holds, -1 if there are others.
func onlyOne(n int, holds func(int) bool) int {
	only := -1
	for k := range n {
		if !holds(k) {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = k
	}
	return only
}
