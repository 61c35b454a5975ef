package hangs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/document"
)

// A Kind says why ranks wait.
type Kind string

// The kinds of causes, the surest first.
const (
	Type    Kind = "type"    // ranks call different operations
	Sizes   Kind = "sizes"   // or with different numbers of elements
	Types   Kind = "dtypes"  // or with elements of different types
	Order   Kind = "order"   // or operations of several groups in different orders
	Missing Kind = "missing" // a rank has not arrived
	NoDump  Kind = "no_dump" // all have that have a dump
	Stuck   Kind = "stuck"   // all have, and agree
)

var kinds = []Kind{Type, Sizes, Types, Order, Missing, NoDump, Stuck}

// A Result says why a job stands still.
type Result struct {
	Hangs    int      `json:"hangs"`    // causes that follow from no other one
	Sentence string   `json:"sentence"` // the first cause, or that there is none
	Ranks    []int    `json:"ranks"`    // with a dump
	Causes   []Cause  `json:"causes"`   // those that follow from others last
	Last     []LastOp `json:"last"`     // of each rank
}

// A Cause is an operation that has not completed, and why.
type Cause struct {
	Kind      Kind   `json:"kind"`
	Sentence  string `json:"sentence"`
	Group     string `json:"group"`
	Operation string `json:"operation"`
	Sequence  int64  `json:"sequence"` // of the operation in its group
	Waiting   []int  `json:"waiting"`  // ranks that have called it
	Missing   []int  `json:"missing"`  // that have not
	NoDump    []int  `json:"no_dump"`  // of which there is no dump, or one that is cut off
	Odd       []int  `json:"odd"`      // that call something else than most
	Since     int64  `json:"since_ns"` // when the first one called it, after 1970
	Follows   bool   `json:"follows"`  // the missing ranks wait elsewhere

	entries map[int]*entry // by waiting rank
}

// A LastOp is the last operation that a rank has called.
type LastOp struct {
	Rank      int    `json:"rank"`
	Operation string `json:"operation"` // "": none
	Completed bool   `json:"completed"`
	Line      string `json:"line"` // that called it, "": not recorded
}

// Find reads the dumps of files and directories, and finds why the job stands still. An error is that nothing can be read.
func Find(paths ...string) (*Result, []document.Finding, error) {
	dumps, findings, err := read(paths)
	if err != nil {
		return nil, nil, err
	}
	return find(dumps), findings, nil
}

// mostCauses bounds the causes that are looked at, and those that are found among them.
const mostCauses = 4096

// A finder holds the dumps by rank, and the operations of each group.
type finder struct {
	dumps  map[int]*dump
	ranks  []int
	groups map[string]*members // by name and ranks
	of     map[*group]*members // the same, by the groups of each dump
}

// members are the ranks of a group, and what they have called.
type members struct {
	*group
	collectives map[int][]*entry // by rank
	messages    map[int][]*entry
}

func find(dumps []*dump) *Result {
	f := &finder{dumps: make(map[int]*dump), groups: make(map[string]*members), of: make(map[*group]*members)}
	out := &Result{Ranks: []int{}, Causes: []Cause{}, Last: []LastOp{}}
	for _, d := range dumps {
		f.dumps[d.rank] = d
		f.ranks = append(f.ranks, d.rank)
		for _, e := range d.entries {
			f.add(d, e)
		}
		for _, g := range d.groups {
			f.members(g)
		}
	}
	for _, m := range f.groups {
		m.settle()
	}
	for _, d := range dumps {
		out.Last = append(out.Last, f.last(d))
	}
	out.Ranks = f.ranks
	for _, key := range slices.Sorted(maps.Keys(f.groups)) {
		m := f.groups[key]
		if m.ranks == nil { // those that call its operations
			m.ranks = slices.Sorted(maps.Keys(m.collectives))
		}
		if c := f.collective(m); c != nil {
			out.Causes = append(out.Causes, *c)
		}
		if out.Causes = append(out.Causes, f.messages(m)...); len(out.Causes) > mostCauses {
			out.Causes = out.Causes[:mostCauses]
			break
		}
	}
	out.Causes = circles(out.Causes)
	out.Causes = append(out.Causes, orders(out.Causes)...)
	slices.SortStableFunc(out.Causes, func(a, b Cause) int {
		if a.Follows != b.Follows {
			return map[bool]int{false: -1, true: 1}[a.Follows]
		}
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Since, b.Since))
	})
	for i := range out.Causes {
		c := &out.Causes[i]
		if !c.Follows {
			out.Hangs++
		}
		for _, ranks := range []*[]int{&c.Waiting, &c.Missing, &c.NoDump, &c.Odd} {
			*ranks = append([]int{}, *ranks...)
		}
	}
	out.Sentence = settled(dumps)
	if len(out.Causes) > 0 {
		out.Sentence = out.Causes[0].Sentence
	}
	return out
}

// settled says what dumps without a cause show: what could not be read may still wait.
func settled(dumps []*dump) string {
	operations, cut := 0, 0
	for _, d := range dumps {
		operations += len(d.entries)
		if d.cut {
			cut++
		}
	}
	switch {
	case operations == 0:
		return "No operation could be read, so the dumps cannot show a hang."
	case cut > 0:
		return fmt.Sprintf("All operations that could be read have completed, but %d of %d dumps are damaged.", cut, len(dumps))
	}
	return "All recorded operations have completed: the dumps show no hang."
}

// members returns a group, which groups of other ranks may share its name with.
func (f *finder) members(g *group) *members {
	if m := f.of[g]; m != nil {
		return m
	}
	key := fmt.Sprint(g.name, g.ranks)
	m := f.groups[key]
	if m == nil {
		m = &members{g, make(map[int][]*entry), make(map[int][]*entry)}
		f.groups[key] = m
	}
	f.of[g] = m
	return m
}

func (f *finder) add(d *dump, e *entry) {
	g := d.groups[e.group]
	if g == nil {
		g = &group{name: e.group, about: e.about}
		d.groups[e.group] = g
	}
	m := f.members(g)
	if e.message {
		m.messages[d.rank] = append(m.messages[d.rank], e)
	} else {
		m.collectives[d.rank] = append(m.collectives[d.rank], e)
	}
}

// settle completes operations that are over, of which no more is recorded: messages, and collectives that all members have called. One
// that is over on a rank, and that another has not called, has failed.
func (m *members) settle() {
	least := int64(math.MaxInt64) // that all have called
	called := func(r int) {
		last := int64(math.MinInt64)
		for _, e := range m.collectives[r] {
			last = max(last, e.seq)
		}
		least = min(least, last)
	}
	for _, r := range m.ranks {
		called(r)
	}
	for r := range m.collectives {
		called(r)
	}
	for _, ranks := range []map[int][]*entry{m.collectives, m.messages} {
		for _, entries := range ranks {
			for _, e := range entries {
				if e.over && (e.message || e.seq <= least) {
					e.state = completed
				}
			}
		}
	}
}

// last returns what a rank has called last.
func (f *finder) last(d *dump) LastOp {
	out := LastOp{Rank: d.rank}
	if n := len(d.entries); n > 0 {
		e := d.entries[n-1]
		g := d.groups[e.group]
		if g == nil {
			g = &group{name: e.group, about: e.about}
		}
		out.Operation, out.Completed, out.Line = fmt.Sprintf("%s %d of %s", e.op, e.number(), g), e.state == completed, line(e.frames)
	}
	return out
}

// number is the operation's number in its group.
func (e *entry) number() int64 {
	if e.message {
		return e.p2p
	}
	return e.seq
}

// line returns the line that called an operation: the innermost one that is not of PyTorch.
func line(frames any) string {
	l, _ := frames.(*list)
	if l == nil {
		return ""
	}
	for _, x := range l.items {
		m, _ := x.(dict)
		file, _ := m["filename"].(string)
		at, ok := m["line"].(int64)
		if ok && file != "" && !strings.Contains(filepath.ToSlash(file), "/torch/") {
			return fmt.Sprintf("%s:%d", filepath.Base(file), at)
		}
	}
	return ""
}

// collective returns the first collective of a group that has not completed on all ranks that have called it; nil if there is none.
func (f *finder) collective(m *members) *Cause {
	seq, since := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, entries := range m.collectives {
		for _, e := range entries {
			if e.state != completed {
				seq = min(seq, e.seq)
			}
		}
	}
	if seq == math.MaxInt64 {
		return nil
	}
	c := &Cause{Group: m.String(), Sequence: seq, entries: make(map[int]*entry)}
	calls := make(map[int][]*entry)
	for _, r := range m.ranks {
		if f.dumps[r] == nil {
			c.NoDump = append(c.NoDump, r)
			continue
		}
		last := int64(math.MinInt64)
		for _, e := range m.collectives[r] {
			last = max(last, e.seq)
			if e.seq != seq {
				continue
			}
			if calls[r] = append(calls[r], e); c.entries[r] == nil && e.state != completed {
				c.entries[r] = e
			}
			since = min(since, e.created)
		}
		switch {
		case c.entries[r] != nil:
			c.Waiting = append(c.Waiting, r)
		case last < seq && f.dumps[r].cut:
			c.NoDump = append(c.NoDump, r)
		case last < seq:
			c.Missing = append(c.Missing, r)
		}
	}
	if len(c.Waiting) == 0 {
		return nil // who waits is no member
	}
	c.Since = since
	c.Operation = c.entries[c.Waiting[0]].op
	if !c.disagree(m, calls) {
		c.absent(fmt.Sprintf("%s %d of %s", c.Operation, seq, m), "in which "+rankList(c.Waiting, "waits", "wait"))
	}
	return c
}

// absent says who has not arrived at an operation.
func (c *Cause) absent(operation, who string) {
	switch {
	case len(c.Missing) > 0:
		c.Kind = Missing
		c.Sentence = fmt.Sprintf("%s not arrived at %s, %s.", capital(rankList(c.Missing, "has", "have")), operation, who)
	case len(c.NoDump) > 0:
		c.Kind = NoDump
		c.Sentence = fmt.Sprintf("There is no whole dump of %s, which may be missing at %s, %s.", rankList(c.NoDump, "", ""), operation, who)
	default:
		c.Kind = Stuck
		c.Sentence = fmt.Sprintf("All ranks have called %s alike, but it has not completed on %s.", operation, rankList(c.Waiting, "", ""))
	}
}

// disagree finds the ranks that call something else than most, or with other tensors, and reports whether there are any.
func (c *Cause) disagree(m *members, calls map[int][]*entry) bool {
	for _, by := range []struct {
		kind Kind
		of   func(*entry) string
		text string
	}{
		{Type, func(e *entry) string { return e.op }, "%[1]s %[2]s as operation %[4]d of %[5]s, where %[6]s %[7]s."},
		{Sizes, (*entry).elements, "%[1]s %[2]s in %[3]s %[4]d of %[5]s, where %[6]s %[7]s."},
		{Types, (*entry).types, "%[1]s %[2]s in %[3]s %[4]d of %[5]s, where %[6]s %[7]s."},
	} {
		classes := make(map[string][]int)
		for _, r := range slices.Sorted(maps.Keys(calls)) {
			var said []string
			for _, e := range calls[r] {
				said = append(said, by.of(e))
			}
			text := strings.Join(said, " and ")
			classes[text] = append(classes[text], r)
		}
		if len(classes) < 2 {
			continue
		}
		order := slices.SortedFunc(maps.Keys(classes), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(classes[b]), len(classes[a])), cmp.Compare(classes[a][0], classes[b][0]))
		})
		for _, text := range order[1:] {
			c.Odd = append(c.Odd, classes[text]...)
		}
		slices.Sort(c.Odd)
		verbs := map[Kind][2]string{Type: {"calls", "call"}, Sizes: {"has", "have"}, Types: {"has", "have"}}[by.kind]
		odd, most := classes[order[1]], classes[order[0]]
		c.Kind = by.kind
		c.Sentence = fmt.Sprintf(by.text, capital(rankList(odd, verbs[0], verbs[1])), order[1], c.Operation, c.Sequence, m,
			rankList(most, verbs[0], verbs[1]), order[0])
		return true
	}
	return false
}

// messages returns the first messages between ranks of a group that have not completed.
func (f *finder) messages(m *members) (out []Cause) {
	type pair struct{ from, to int }
	sends, receives := make(map[pair]*entry), make(map[pair]*entry)
	global := func(k int) (int, bool) {
		if k < len(m.ranks) {
			return m.ranks[k], true
		}
		return k, false
	}
	for _, r := range slices.Sorted(maps.Keys(m.messages)) {
		for _, e := range m.messages[r] {
			peer, ok := global(e.peer)
			if e.state == completed || !ok {
				continue
			}
			by, p := sends, pair{r, peer}
			if e.op == "recv" {
				by, p = receives, pair{peer, r}
			}
			if by[p] == nil {
				by[p] = e
			}
		}
	}
	pairs := maps.Clone(sends)
	maps.Copy(pairs, receives)
	for _, p := range slices.SortedFunc(maps.Keys(pairs),
		func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }) {
		out = append(out, f.message(m, p.from, p.to, sends[p], receives[p]))
	}
	return out
}

// message says why a message has not completed, of which a rank has called the send, or another one the receive, or both.
func (f *finder) message(m *members, from, to int, send, recv *entry) Cause {
	c := Cause{Group: m.String(), entries: make(map[int]*entry)}
	here, there, e, verb := from, to, send, "receive"
	if send == nil {
		here, there, e, verb = to, from, recv, "send"
	}
	c.Operation, c.Sequence, c.Since = e.op, e.number(), e.created
	c.Waiting, c.entries[here] = []int{here}, e
	name := fmt.Sprintf("%s %d of %s", e.op, e.number(), m)
	switch {
	case send != nil && recv != nil:
		c.Waiting, c.entries[to], c.Since = []int{from, to}, recv, min(send.created, recv.created)
		slices.Sort(c.Waiting)
		if a, b := send.in.elements(), recv.out.elements(); a != b {
			c.Kind, c.Odd = Sizes, []int{to}
			c.Sentence = fmt.Sprintf("Rank %d sends %s in %s, but rank %d receives %s.", from, a, name, to, b)
			return c
		}
		c.Kind = Stuck
		c.Sentence = fmt.Sprintf("Rank %d sends to rank %d in %s, and both have called it, but it has not completed.", from, to, name)
	case f.dumps[there] == nil || f.dumps[there].cut:
		c.Kind, c.NoDump = NoDump, []int{there}
		c.Sentence = fmt.Sprintf("There is no whole dump of rank %d, for which rank %d waits in %s.", there, here, name)
	default:
		c.Kind, c.Missing = Missing, []int{there}
		c.Sentence = fmt.Sprintf("Rank %d has not called the %s for which rank %d waits in %s.", there, verb, here, name)
	}
	return c
}

// circles marks the causes whose missing ranks wait in others. Where these lead back, ranks call the operations in different orders.
func circles(causes []Cause) []Cause {
	next := make([][]int, len(causes)) // the causes in which missing ranks wait
	waiting := make(map[int][]int)
	for j := range causes {
		for _, r := range causes[j].Waiting {
			waiting[r] = append(waiting[r], j)
		}
	}
	for i := range causes {
		for _, r := range causes[i].Missing {
			next[i] = append(next[i], waiting[r]...)
		}
		slices.Sort(next[i])
		next[i] = slices.DeleteFunc(slices.Compact(next[i]), func(j int) bool { return j == i })
	}
	for i := range causes {
		if len(next[i]) == 0 {
			continue
		}
		way := circle(next, i)
		if causes[i].Follows = way == nil || way[0] != slices.Min(way); way == nil {
			continue
		}
		c := &causes[i]
		c.Kind = Order
		var parts []string
		for k, at := range way {
			x := &causes[at]
			if k == 2 {
				parts = append(parts, fmt.Sprintf("and %d more", len(way)-2))
				break
			}
			parts = append(parts, fmt.Sprintf("%s in %s of %s for %s", rankList(x.Waiting, "waits", "wait"), x.Operation, x.Group,
				rankList(x.Missing, "", "")))
		}
		c.Sentence = "Ranks call operations in different orders: " + strings.Join(parts, ", ") + "."
	}
	return causes
}

// circle returns a way from a cause back to itself, nil if there is none.
func circle(next [][]int, start int) []int {
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, j := range next[queue[0]] {
			if _, seen := from[j]; seen {
				continue
			}
			if from[j] = queue[0]; j != start {
				queue = append(queue, j)
				continue
			}
			way := []int{}
			for k := from[start]; k != start; k = from[k] {
				way = append(way, k)
			}
			way = append(way, start)
			slices.Reverse(way)
			return way
		}
	}
	return nil
}

// orders returns causes of operations that all ranks have called, but some ranks the one first and some the other one.
func orders(causes []Cause) (out []Cause) {
	for i := range causes {
		for j := range causes[:i] {
			a, b := &causes[j], &causes[i]
			if a.Kind != Stuck || b.Kind != Stuck {
				continue
			}
			var ab, ba []int
			for _, r := range a.Waiting {
				if x, y := a.entries[r], b.entries[r]; y == nil {
				} else if x.record < y.record {
					ab = append(ab, r)
				} else {
					ba = append(ba, r)
				}
			}
			if len(ab) == 0 || len(ba) == 0 {
				continue
			}
			c := *a
			c.Kind, c.Odd = Order, ba
			if len(ab) < len(ba) {
				c.Odd = ab
			}
			c.Sentence = fmt.Sprintf("%s %s of %s before %s of %s, %s it after.", capital(rankList(ab, "calls", "call")), a.Operation, a.Group,
				b.Operation, b.Group, rankList(ba, "calls", "call"))
			a.Follows, b.Follows = true, true
			if out = append(out, c); len(out) == mostCauses {
				return out
			}
		}
	}
	return out
}
