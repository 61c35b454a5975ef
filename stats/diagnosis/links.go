package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/trace"
)

// What slow messages have in common: it must have this share of what they take too long, and of its messages this share must be slow. Of
// those of a time in which others are not slow, more must be.
const (
	commonShare = 0.8
	inPhase     = 0.5
	fewMessages = 8
	manyPairs   = 4 // of which each is named
	pairLimit   = 1 << 20
	phaseParts  = 512
)

// A linkSum sums messages.
type linkSum struct {
	count, slow uint64
	excess      int64 // of those that are slow, ticks
}

func (s *linkSum) add(o linkSum) {
	s.count, s.slow, s.excess = s.count+o.count, s.slow+o.slow, s.excess+o.excess
}

// links are the messages that calls at some places receive: by the ranks of sender and receiver, and by time.
type links struct {
	f        *finder
	at       []bool                   // by call path
	from, to int64                    // of the run
	nodes    []trace.SystemTreeNodeID // by rank
	typical  [2][65]int64             // within a node and between nodes, by size: what half of the messages take at most, ticks
	least    int64                    // what a slow message takes beyond that: half of the mean over what messages take beyond that
	all      linkSum                  // without those whose time is not known
	lags     [2]int64                 // sums of what slow messages take, and others
	unknown  linkSum                  // of which several end at once in a call
	pairs    map[[2]uint32]*linkSum
	times    [phaseParts]linkSum
	ends     [phaseParts][2]int64 // of the slow ones of a part: the first begin, the last end
	over     bool
}

// distance is 1 if a message goes from one node to another.
func (l *links) distance(from, to uint32) int {
	if int(from) < len(l.nodes) && int(to) < len(l.nodes) && l.nodes[from] != l.nodes[to] {
		return 1
	}
	return 0
}

// A flight is a message: begin is when both sides are ready. It takes what passes from then on, or more, but not more than passes since it
// is sent.
type flight struct {
	from, to    uint32
	r           *trace.Recv
	begin       int64
	least, most int64
	alone       bool // no other ends with it in the call
}

// each goes over the messages.
func (l *links) each(do func(x flight)) {
	t := l.f.t
	for rank, loc := range t.World {
		if int(loc) >= len(t.Recvs) {
			continue
		}
		recvs, calls := t.Recvs[loc], t.Calls[loc].Cursor()
		for i := range recvs.Len() {
			r := recvs.Ptr(i)
			if r.State != trace.Matched || r.Call == trace.None || r.From(t.Rank) == trace.None {
				continue
			}
			c := calls.Ptr(int(r.Call))
			if int(c.Path) >= len(l.at) || !l.at[c.Path] || c.Enter < l.from || c.Leave > l.to || l.f.doubted(loc, r.Call) {
				continue
			}
			sent := t.Sends[r.SendLoc].Ptr(int(r.Send)).Time
			begin := max(c.Enter, sent)
			if w := l.f.a.Waits[loc].Of(int(r.Call)); w != nil { // maybe for the receiver of what it sends
				begin = max(begin, w.From+w.Time)
			}
			same := func(k int) bool {
				if k < 0 || k >= recvs.Len() {
					return false
				}
				o := recvs.Ptr(k)
				return o.Call == r.Call && o.Time == r.Time && o.From(t.Rank) != r.From(t.Rank)
			}
			do(flight{r.From(t.Rank), uint32(rank), r, begin, max(0, r.Time-begin), max(0, r.Time-sent), !same(i-1) && !same(i+1)})
		}
	}
}

// bucket returns the class of a lag: eight for each power of two.
func bucket(lag int64) int {
	n := bits.Len64(uint64(lag))
	if n <= 4 {
		return int(lag)
	}
	return 8*(n-3) + int(lag>>(n-4))&7
}

// least returns the least lag of a class.
func leastOf(bucket int) int64 {
	if bucket < 16 {
		return int64(bucket)
	}
	return int64(8+bucket%8) << (bucket/8 - 1)
}

// findLinks looks at the messages that calls at some places receive.
func (f *finder) findLinks(rows []waitstate.Delay) *links {
	l := &links{f: f, at: make([]bool, len(f.places)), pairs: make(map[[2]uint32]*linkSum), from: math.MinInt64, to: math.MaxInt64}
	for path, at := range f.places {
		l.at[path] = slices.ContainsFunc(rows, func(row waitstate.Delay) bool { return placeOf(row) == at })
	}
	if nodes, known := f.nodes(); known {
		l.nodes = nodes
	}
	start := f.t.Defs.Clock.GlobalOffset
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if s := f.a.Selection; s != nil {
		l.from, l.to = f.ticks(s.FromNs)+start, f.ticks(s.ToNs)+start
	}
	var lags [2][65]*[512]uint64
	l.each(func(x flight) {
		counts := &lags[l.distance(x.from, x.to)][bits.Len64(x.r.Bytes)]
		if *counts == nil {
			*counts = new([512]uint64)
		}
		(*counts)[bucket(x.least)]++
		first, last = min(first, x.begin), max(last, x.begin)
	})
	sum, squares := 0.0, 0.0
	for distance := range lags {
		for size, counts := range lags[distance] {
			if counts == nil {
				continue
			}
			n, seen := uint64(0), uint64(0)
			for _, c := range counts {
				n += c
			}
			for b, c := range counts {
				if seen += c; 2*seen >= n && 2*(seen-c) < n {
					l.typical[distance][size] = leastOf(b + 1)
				} else if c > 0 && 2*seen > n {
					x := float64(leastOf(b) - l.typical[distance][size])
					sum, squares = sum+x*float64(c), squares+x*x*float64(c)
				}
			}
		}
	}
	l.least = max(1, int64(squares/max(1, sum)/2))
	l.each(func(x flight) {
		m, typical := linkSum{count: 1}, l.typical[l.distance(x.from, x.to)][bits.Len64(x.r.Bytes)]
		switch {
		case x.least-typical >= l.least:
			m.slow, m.excess = 1, x.least-typical
		case x.most-typical >= l.least: // it may be slow: it was there before it was asked for
			return
		}
		if !x.alone {
			l.unknown.add(m)
			return
		}
		l.all.add(m)
		l.lags[1-m.slow] += x.least
		part := 0
		if last > first {
			part = int(float64(x.begin-first) / float64(last-first) * (phaseParts - 1))
		}
		if p := &l.ends[part]; m.slow > 0 {
			if l.times[part].slow == 0 {
				*p = [2]int64{x.begin, x.r.Time}
			}
			*p = [2]int64{min(p[0], x.begin), max(p[1], x.r.Time)}
		}
		l.times[part].add(m)
		pair := l.pairs[[2]uint32{x.from, x.to}]
		if pair == nil {
			if l.over = len(l.pairs) >= pairLimit; l.over {
				return
			}
			pair = new(linkSum)
			l.pairs[[2]uint32{x.from, x.to}] = pair
		}
		pair.add(m)
	})
	return l
}

// ticks converts ns.
func (f *finder) ticks(ns int64) int64 {
	return int64(math.Round(float64(ns) / 1e9 * float64(f.t.Defs.Clock.Resolution)))
}

// explains reports whether slow messages are those of a sum.
func (l *links) explains(s linkSum, precise float64) bool {
	return s.slow >= fewMessages && float64(s.excess) >= commonShare*float64(l.all.excess) && float64(s.slow) >= precise*float64(s.count) &&
		s.count < l.all.count
}

// best returns the key whose messages take most too long, if that explains the slow ones; of equal ones the first.
func best[K comparable](l *links, key func(pair [2]uint32) (K, bool), compare func(a, b K) int) (best K, ok bool) {
	sums := make(map[K]*linkSum)
	for pair, s := range l.pairs {
		if k, some := key(pair); some {
			if sums[k] == nil {
				sums[k] = new(linkSum)
			}
			sums[k].add(*s)
		}
	}
	var most linkSum
	for k, s := range sums {
		if !ok || s.excess > most.excess || s.excess == most.excess && compare(k, best) < 0 {
			best, most, ok = k, *s, true
		}
	}
	return best, ok && l.explains(most, commonShare)
}

// phase returns from when until when messages are slow, which others are not; ok is false if that explains nothing.
func (l *links) phase() (from, to int64, ok bool) {
	lo, hi, length := 0, 0, phaseParts+1
	var sum linkSum
	for i, k := 0, 0; k < phaseParts; k++ {
		for sum.add(l.times[k]); float64(sum.excess)-float64(l.times[i].excess) >= 0.95*float64(l.all.excess) && i < k; i++ {
			sum.count, sum.slow, sum.excess = sum.count-l.times[i].count, sum.slow-l.times[i].slow, sum.excess-l.times[i].excess
		}
		if float64(sum.excess) >= 0.95*float64(l.all.excess) && k-i < length && l.explains(sum, inPhase) {
			lo, hi, length, ok = i, k, k-i, true
		}
	}
	if !ok || 2*length > phaseParts {
		return 0, 0, false
	}
	from, to = math.MaxInt64, math.MinInt64
	for k := lo; k <= hi; k++ {
		if l.times[k].slow > 0 {
			from, to = min(from, l.ends[k][0]), max(to, l.ends[k][1])
		}
	}
	return from, to, true
}

// nodes returns by rank the node on which it runs, None where that is not known; known is false if there are no two.
func (f *finder) nodes() (of []trace.SystemTreeNodeID, known bool) {
	if f.t.Defs == nil {
		return nil, false
	}
	for _, l := range f.t.World {
		node := trace.SystemTreeNodeID(trace.None)
		if int(l) < len(f.t.Defs.Locations) {
			node = f.t.Defs.Node(l)
		}
		of = append(of, node)
		known = known || node != of[0] && node != trace.None && of[0] != trace.None
	}
	return of, known
}

// wholeNodes names the nodes that ranks are all of, if these are few and others have ranks, too; nil if not, or if a node has one rank.
func (f *finder) wholeNodes(ranks []uint32) (names []string) {
	of, known := f.nodes()
	if !known || len(ranks) < 2 {
		return nil
	}
	all, some := make(map[trace.SystemTreeNodeID]int), make(map[trace.SystemTreeNodeID]int)
	for _, n := range of {
		all[n]++
	}
	for _, r := range ranks {
		some[of[r]]++
	}
	if len(some) == len(all) || len(some) > fewest {
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(some)) {
		if n == trace.None || some[n] != all[n] || all[n] < 2 {
			return nil
		}
		names = append(names, f.nodeName(n))
	}
	return names
}

func (f *finder) nodeName(n trace.SystemTreeNodeID) string {
	return words.Brief(f.t.Defs.String(f.t.Defs.SystemTree[n].Name))
}

// slowLinks says of slow calls between whom, or when, the messages are slow that they receive, if these have that in common.
func (f *finder) slowLinks(c *candidate, rows []waitstate.Delay) {
	if len(f.t.Recvs) == 0 {
		return
	}
	l := f.findLinks(rows)
	say := func(headline string, ranks ...uint32) {
		c.cause.Headline = headline
		if ranks != nil {
			slices.Sort(ranks)
			c.cause.Ranks = slices.Compact(ranks)
		}
		crossing := len(l.pairs) > 0
		for pair, s := range l.pairs {
			crossing = crossing && (s.slow == 0 || l.distance(pair[0], pair[1]) == 1)
		}
		if crossing {
			c.cause.Evidence["between_nodes"] = 1
		}
		ns := f.t.Defs.Clock.Nanoseconds
		slow, others := ns(l.lags[0]/int64(max(1, l.all.slow))), ns(l.lags[1]/int64(max(1, l.all.count-l.all.slow)))
		c.cause.Evidence["slow_messages"], c.cause.Evidence["slow_message_ns"] = float64(l.all.slow), float64(slow)
		c.cause.Evidence["message_ns"] = float64(others)
		c.text = fmt.Sprintf("%s take %s on average, others %s. ", words.Plural(int(l.all.slow), "slow message", "slow messages"),
			words.Time(slow), words.Time(others)) + c.text
	}
	switch {
	case l.over:
		return
	case l.unknown.excess > l.all.excess:
		c.text += " These calls complete several messages at once: which of them is slow is not recorded."
		return
	}
	whole := func(pair [2]uint32) ([2]uint32, bool) { return pair, true }
	comparePairs := func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) }
	side := func(i int) func(pair [2]uint32) (uint32, bool) {
		return func(pair [2]uint32) (uint32, bool) { return pair[i], true }
	}
	if pair, ok := best(l, whole, comparePairs); ok {
		say(fmt.Sprintf("Messages from rank %d to rank %d are slow", pair[0], pair[1]), pair[0], pair[1])
		return
	}
	for i, headline := range []string{"Messages that rank %d sends are slow", "Messages that rank %d receives are slow"} {
		if rank, ok := best(l, side(i), cmp.Compare[uint32]); ok {
			say(fmt.Sprintf(headline, rank), rank)
			return
		}
	}
	if l.nodes != nil && f.slowNodes(l, say) {
		return
	}
	if from, to, ok := l.phase(); ok {
		ns, start := f.t.Defs.Clock.Nanoseconds, f.t.Defs.Clock.GlobalOffset
		c.cause.Evidence["slow_from_ns"], c.cause.Evidence["slow_to_ns"] = float64(ns(from-start)), float64(ns(to-start))
		say(fmt.Sprintf("Messages are slow from %s to %s", words.Time(ns(from-start)), words.Time(ns(to-start))))
		return
	}
	l.fewPairs(c, say)
}

// slowNodes looks for a node whose messages with others are slow, and says so.
func (f *finder) slowNodes(l *links, say func(headline string, ranks ...uint32)) bool {
	node := func(rank uint32) trace.SystemTreeNodeID {
		if int(rank) < len(l.nodes) {
			return l.nodes[rank]
		}
		return trace.None
	}
	between := func(pair [2]uint32) (x [2]trace.SystemTreeNodeID, ok bool) {
		x = [2]trace.SystemTreeNodeID{node(pair[0]), node(pair[1])}
		return x, x[0] != x[1] && x[0] != trace.None && x[1] != trace.None
	}
	name := func(n trace.SystemTreeNodeID) string {
		return words.Brief(f.t.Defs.String(f.t.Defs.SystemTree[n].Name))
	}
	on := func(of ...trace.SystemTreeNodeID) (ranks []uint32) {
		for pair, s := range l.pairs {
			if _, ok := between(pair); !ok || s.slow == 0 {
				continue
			}
			for _, rank := range pair {
				if slices.Contains(of, node(rank)) {
					ranks = append(ranks, rank)
				}
			}
		}
		return ranks
	}
	way := func(i int) func(pair [2]uint32) (trace.SystemTreeNodeID, bool) {
		return func(pair [2]uint32) (trace.SystemTreeNodeID, bool) {
			x, ok := between(pair)
			return x[i], ok
		}
	}
	compareNodes := func(a, b [2]trace.SystemTreeNodeID) int { return slices.Compare(a[:], b[:]) }
	if x, ok := best(l, between, compareNodes); ok {
		say(fmt.Sprintf("Messages from %s to %s are slow", name(x[0]), name(x[1])), on(x[0], x[1])...)
		return true
	}
	for i, headline := range []string{"Messages that leave %s are slow", "Messages that enter %s are slow"} {
		if n, ok := best(l, way(i), cmp.Compare[trace.SystemTreeNodeID]); ok {
			say(fmt.Sprintf(headline, name(n)), on(n)...)
			return true
		}
	}
	sums := make(map[trace.SystemTreeNodeID]*linkSum)
	for pair, s := range l.pairs {
		if x, ok := between(pair); ok {
			for _, n := range x {
				if sums[n] == nil {
					sums[n] = new(linkSum)
				}
				sums[n].add(*s)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(sums)) {
		if l.explains(*sums[n], commonShare) {
			say(fmt.Sprintf("Messages to and from %s are slow", name(n)), on(n)...)
			return true
		}
	}
	return false
}

// fewPairs names the pairs of ranks whose messages are slow, if they are few.
func (l *links) fewPairs(c *candidate, say func(headline string, ranks ...uint32)) {
	pairs := slices.SortedFunc(maps.Keys(l.pairs), func(a, b [2]uint32) int {
		return cmp.Or(cmp.Compare(l.pairs[b].excess, l.pairs[a].excess), slices.Compare(a[:], b[:]))
	})
	var sum linkSum
	for i, pair := range pairs[:min(manyPairs, len(pairs)/2)] {
		sum.add(*l.pairs[pair])
		if !l.explains(sum, commonShare) {
			continue
		}
		pairs = pairs[:i+1]
		slices.SortFunc(pairs, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		var names []string
		var ranks []uint32
		for _, p := range pairs {
			names, ranks = append(names, fmt.Sprintf("rank %d to rank %d", p[0], p[1])), append(ranks, p[0], p[1])
		}
		say(fmt.Sprintf("Messages between %d pairs of ranks are slow", len(pairs)), ranks...)
		c.text = "They go from " + words.List(names) + ". " + c.text
		if l.nodes == nil {
			c.text += " The trace does not say on which nodes ranks run."
		}
		return
	}
}
