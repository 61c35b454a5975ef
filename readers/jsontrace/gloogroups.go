package jsontrace

import (
	"cmp"
	"slices"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// Operations of gloo do not name their process group. But a group has threads of its own, two for each network interface, which it makes
// when it is made. So the threads of a rank, by number, belong to its groups, in the order in which they were made. Of these assignments,
// with as few threads of a group as can be, those are possible in which the members of each group do the same in the same order, and none
// leaves an operation before another has begun it. A thread's ranks are known if it has the same ones in all of them: programs make several
// groups of the same ranks. Of two possible groups it is the one that explains how long ranks wait. All ranks have theirs in the same
// order. Clocks of different hosts may differ by a constant.

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
	glooCalls   = 1 << 11 // of a thread, that are kept
	glooThreads = 64      // of a rank
	glooTries   = 1 << 12 // to find out whether threads belong to a group
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
	threads := len(ranks[0].threads)
	known, tries := make(map[[3]int]bool), 0
	may := func(from, to, k int) bool {
		is, tried := known[[3]int{from, to, k}]
		if !tried {
			tries++
			is = possible(ranks, of, from, to, k)
			known[[3]int{from, to, k}] = is
		}
		return is
	}
	holds := func(from, to, k int) bool { // and no other one is better
		switch {
		case from == to:
			return true
		case tries > glooTries || !may(from, to, k):
			return false
		}
		for other := range ranks[0].groups {
			if tries > glooTries || !may(from, to, other) || sameRanks(ranks, []int{k, other}) != nil {
				continue
			}
			if tries++; waited(ranks, of, from, to, k, other) {
				return false
			}
		}
		return true
	}
	var found [][]int
	for most := 2; found == nil && most < 2*threads; most *= 2 {
		found = assignments(threads, len(ranks[0].groups), most, holds)
	}
	if tries > glooTries {
		found = nil
	}
	for i, groups := range found {
		for _, r := range ranks {
			r.name(func(g *group) bool { return g.thread != nil && g.thread.tid == r.threads[i].tid }, sameRanks(ranks, groups))
		}
	}
	for _, r := range ranks { // messages are asked for by any thread
		if len(r.messages[0])+len(r.messages[1]) > 0 {
			var groups []int
			for k := range r.groups {
				if matches(ranks, of, k) {
					groups = append(groups, k)
				}
			}
			for _, r := range ranks {
				r.name(func(g *group) bool { return g.thread == nil }, sameRanks(ranks, groups))
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

// sameRanks returns the groups if all have the same ranks, else nil.
func sameRanks(ranks []*glooRank, groups []int) []int {
	for _, r := range ranks {
		for _, k := range groups {
			if !slices.Equal(r.groups[k].ranks, r.groups[groups[0]].ranks) {
				return nil
			}
		}
	}
	return groups
}

// name gives a group its ranks where it is one of a kind, and the names of all groups that it may be.
func (r *glooRank) name(is func(g *group) bool, groups []int) {
	if len(groups) == 0 {
		return
	}
	for _, f := range r.files {
		var names, about []string
		for _, k := range groups {
			names = append(names, r.groups[k].name)
			if label := cmp.Or(f.origin.about[r.groups[k].name], r.groups[k].name); !slices.Contains(about, label) {
				about = append(about, label)
			}
		}
		for i := range f.comms.list {
			if g := &f.comms.list[i]; g.gloo && is(g) {
				g.name, g.about, g.ranks = strings.Join(names, trace.Or), strings.Join(about, trace.Or), r.groups[groups[0]].ranks
			}
		}
	}
}

// operations returns what a rank does on some of its threads, in order, and whether that is all.
func (r *glooRank) operations(threads []*glooThread) (calls []glooOperation, all bool) {
	all = true
	until := int64(-1) // of a thread of which not all is kept
	for _, t := range threads {
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

// operationsOf returns what finds the operations of ranks on their threads from one to another, once for each rank.
func operationsOf(from, to int) func(*glooRank) ([]glooOperation, bool) {
	type found struct {
		calls []glooOperation
		all   bool
	}
	known := make(map[*glooRank]found)
	return func(r *glooRank) ([]glooOperation, bool) {
		f, is := known[r]
		if !is {
			f.calls, f.all = r.operations(r.threads[from:to])
			known[r] = f
		}
		return f.calls, f.all
	}
}

// glooClock is by how much one clock may be ahead of another.
type glooClock struct{ least, most int64 }

// possible reports whether the threads of ranks from one to another may belong to their k-th groups.
func possible(ranks []*glooRank, of map[uint32]*glooRank, from, to, k int) bool {
	operations := operationsOf(from, to)
	for _, r := range ranks {
		own, all := operations(r)
		for _, member := range r.groups[k].ranks {
			other := of[member]
			if other == nil || member <= r.rank {
				continue
			}
			if g := other.groups[k]; g.name != r.groups[k].name || !slices.Equal(g.ranks, r.groups[k].ranks) {
				return false
			}
			clock := glooClock{}
			if r.host == "" || r.host != other.host {
				clock = glooClock{-1 << 62, 1 << 62}
			}
			theirs, whole := operations(other)
			if all && whole && len(own) != len(theirs) || !clock.together(own, theirs) {
				return false
			}
		}
	}
	return true
}

// glooWaits is how often ranks must wait for another one, and glooLate by how many times what an operation usually takes it must be late:
// they would have left by then if they had waited for those of their group alone.
const glooWaits, glooLate = 8, 4

// waited reports whether ranks wait on threads for others of their group of one number once all of that of another number have come.
func waited(ranks []*glooRank, of map[uint32]*glooRank, from, to, k, better int) bool {
	var late, takes []int64
	operations := operationsOf(from, to)
	for _, r := range ranks {
		if r.host == "" || r.host != ranks[0].host {
			return false
		}
		last := func(members []uint32) (begins []int64) { // by operation
			for _, member := range members {
				if other := of[member]; other != nil {
					calls, _ := operations(other)
					for i, c := range calls {
						if i == len(begins) {
							begins = append(begins, c.begin)
						}
						begins[i] = max(begins[i], c.begin)
					}
				}
			}
			return begins
		}
		theirs, others := last(r.groups[k].ranks), last(r.groups[better].ranks)
		own, _ := operations(r)
		for i := range min(len(own), len(theirs), len(others)) {
			if own[i].op.Collective().Pattern() == trace.PatternAllToAll {
				late = append(late, others[i]-theirs[i])
				takes = append(takes, own[i].end-others[i])
			}
		}
	}
	if len(takes) == 0 {
		return false
	}
	slices.Sort(takes)
	usual := takes[len(takes)/2]
	late = slices.DeleteFunc(late, func(ns int64) bool { return ns <= glooLate*usual })
	return len(late) >= glooWaits
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

// assignments returns to which groups each of n threads may belong where threads belong to groups in their order, so many to one at most,
// and nil if that cannot be: holds tells whether those from one to another may be the threads of a group.
func assignments(n, groups, most int, holds func(from, to, k int) bool) [][]int {
	before := make([][]bool, groups+1) // of k and i: the threads before i may belong to the groups before k
	for k := range before {
		before[k] = make([]bool, n+1)
		for to := range before[k] {
			before[k][to] = k == 0 && to == 0
			for from := max(0, to-most); from <= to && k > 0 && !before[k][to]; from++ {
				before[k][to] = before[k-1][from] && holds(from, to, k-1)
			}
		}
	}
	if !before[groups][n] {
		return nil
	}
	out := make([][]int, n)
	behind := make([]bool, n+1) // of i: those from i on may belong to the groups behind
	behind[n] = true
	for k := groups - 1; k >= 0; k-- {
		next := make([]bool, n+1)
		for from := range next {
			for to := from; to <= min(n, from+most); to++ {
				if !before[k][from] || !behind[to] || !holds(from, to, k) {
					continue
				}
				next[from] = true
				for i := from; i < to; i++ {
					if last := len(out[i]) - 1; last < 0 || out[i][last] != k {
						out[i] = append(out[i], k)
					}
				}
			}
		}
		behind = next
	}
	for _, k := range out {
		slices.Reverse(k)
	}
	return out
}
