package phases

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// A marker is a class of calls: those of one path that end a sequence of operations. Calls that
// move nothing, such as polls, of which there may be any number, are no operations; so call sites
// are told apart that the trace does not know, by what the program does around them.
type marker struct {
	path trace.PathID
	view view
	hash uint64 // of the sequence

	visits      int
	first, last int64
	row         int // of the first one
	operations  int // before the last one
	distance    int // of the last two, in operations
	breaks      int // distances that are not the one before
	durations   welford
	logs        welford // of durations, base 2, rounded up
	distances   welford
}

// A view is how sequences are looked at: of how many calls, by the index in lengths, and whether only
// their paths or also partners, tags and sizes of their messages tell them apart.
type view struct {
	length   int
	contents bool
}

// lengths are those of sequences, each twice as long as the one before.
var lengths = [...]int{1, 2, 4, 8}

// What can be a marker: so many visits, over such a part of the time between the first rank's first
// call and its last, that cut it into intervals whose numbers of operations and durations have such coefficients of variation; where the
// numbers are equal, durations may differ more. Of sequences the first so many are looked at.
const (
	leastVisits = 5
	mostVisits  = 1 << 14
	leastSpan   = 0.5
	mostSpread  = 0.5

	mostDoublings = 1.5 // standard deviation of the logarithms of durations, base 2: some intervals may be many times as long as the others
	mostMarkers   = 1 << 15
)

// If there are markers whose intervals have exactly as many operations, others do not count. An
// odd interval, as the one around what precedes the main loop, breaks once or twice.
const (
	mostBreaks    = 2
	leastPerBreak = 5 // intervals
)

func (m *marker) exact() bool { return m.breaks <= min(mostBreaks, (m.visits-1)/leastPerBreak) }

// score is the variation of the intervals as if operations had been independent: so many of them,
// taken together, vary that much less.
func (m *marker) score() float64 { return m.durations.variation() * math.Sqrt(m.distances.mean) }

// search returns the marker that cuts the run of a location into the most equal intervals, among
// paths that all ranks visit equally often; nil if there is none.
func search(ctx context.Context, t *trace.Trace, l trace.LocationID, common map[trace.PathID]int, jobs int) (*marker, error) {
	found, err := engine.Map(ctx, jobs, 2, func(_ context.Context, i int) ([]*marker, error) {
		return markersOf(t, l, i == 1, common), nil
	})
	if err != nil {
		return nil, err
	}
	candidates := slices.Concat(found...)
	if slices.ContainsFunc(candidates, (*marker).exact) {
		candidates = slices.DeleteFunc(candidates, func(m *marker) bool { return !m.exact() })
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	best := slices.MinFunc(candidates, func(a, b *marker) int { return cmp.Compare(a.score(), b.score()) })
	// Of those that part the same loop: the one that does so most often.
	period := math.Round(best.distances.mean)
	candidates = slices.DeleteFunc(candidates, func(m *marker) bool { return math.Round(m.distances.mean) != period })
	return slices.MinFunc(candidates, func(a, b *marker) int {
		return cmp.Or(cmp.Compare(b.visits, a.visits), cmp.Compare(a.score(), b.score()), cmp.Compare(a.row, b.row))
	}), nil
}

// markersOf returns the markers with or without contents, the shorter sequences first, each in order of
// their first visits.
func markersOf(t *trace.Trace, l trace.LocationID, contents bool, common map[trace.PathID]int) (out []*marker) {
	var found [len(lengths)]collection
	for k := range found {
		found[k] = collection{view: view{k, contents}, index: make(map[uint64]*marker)}
	}
	known := make([]bool, len(t.Tree.Nodes)) // by path
	for p := range common {
		known[p] = true
	}
	begin, end := int64(math.MaxInt64), int64(math.MinInt64)
	operations := 0
	sequences(t, l, contents, func(row int, c *trace.Call, moved int, recent *window) {
		if c.Class != trace.ClassInit && c.Class != trace.ClassFinalize {
			begin, end = min(begin, c.Enter), max(end, c.Enter)
		}
		operations += moved
		if moved == 0 || int(c.Path) >= len(known) || !known[c.Path] {
			return
		}
		for k, hash := range recent.hashes() {
			found[k].visit(row, c, operations, hash)
		}
	})
	for k := range found {
		for _, m := range found[k].all {
			if m.visits >= leastVisits && m.visits <= mostVisits && float64(m.last-m.first) >= leastSpan*float64(end-begin) &&
				m.distances.variation() <= mostSpread && (m.durations.variation() <= mostSpread || m.exact() && m.logs.deviation() <= mostDoublings) {
				out = append(out, m)
			}
		}
	}
	return out
}

// A collection holds what may be markers in one view.
type collection struct {
	view  view
	index map[uint64]*marker // by hash, in which the path is, too
	all   []*marker          // in order of their first visits
}

// visit notes a call that ends a sequence of that hash, with the operations so far.
func (f *collection) visit(row int, c *trace.Call, operations int, hash uint64) {
	m := f.index[hash]
	switch {
	case m != nil:
		m.durations.add(float64(c.Enter - m.last))
		m.logs.add(float64(bits.Len64(uint64(max(0, c.Enter-m.last)))))
		distance := operations - m.operations
		if m.distances.add(float64(distance)); m.visits > 1 && distance != m.distance {
			m.breaks++
		}
		m.distance = distance
	case len(f.all) == mostMarkers:
		return
	default:
		m = &marker{path: c.Path, view: f.view, hash: hash, first: c.Enter, row: row}
		f.index[hash], f.all = m, append(f.all, m)
	}
	m.visits, m.last, m.operations = m.visits+1, c.Enter, operations
}

// ordinals returns which visits of its path are those of a marker.
func (m *marker) ordinals(t *trace.Trace, l trace.LocationID) (out []int) {
	n := 0
	sequences(t, l, m.view.contents, func(_ int, c *trace.Call, moved int, recent *window) {
		if c.Path != m.path {
			return
		}
		if moved > 0 && recent.hashes()[m.view.length] == m.hash {
			out = append(out, n)
		}
		n++
	})
	return out
}

// sequences gives away the calls of a location in order, each with the number of messages and
// collectives that it begins or completes, and with the last calls that do.
func sequences(t *trace.Trace, l trace.LocationID, contents bool, each func(row int, c *trace.Call, moved int, recent *window)) {
	calls, sends, recvs := t.Calls[l], t.Sends[l], t.Recvs[l]
	var recent window
	for first, rows := range calls.Rows {
		for i := range rows {
			c, lastSend, lastRecv := &rows[i], sends.Len(), recvs.Len()
			if next := first + i + 1; i+1 < len(rows) {
				lastSend, lastRecv = int(rows[i+1].FirstSend), int(rows[i+1].FirstRecv)
			} else if next < calls.Len() {
				lastSend, lastRecv = int(calls.Ptr(next).FirstSend), int(calls.Ptr(next).FirstRecv)
			}
			moved := lastSend - int(c.FirstSend) + lastRecv - int(c.FirstRecv)
			if c.Coll != trace.None || c.Class == trace.ClassColl {
				moved++
			}
			if moved > 0 {
				messages := uint64(0) // in any order
				for k := int(c.FirstSend); contents && k < lastSend; k++ {
					s := sends.Ptr(k)
					messages += message(1, s.To(t.Rank), s.Tag, s.Bytes)
				}
				for k := int(c.FirstRecv); contents && k < lastRecv; k++ {
					r := recvs.Ptr(k)
					messages += message(2, r.From(t.Rank), r.Tag, r.Bytes)
				}
				recent.add(step(step(basis, uint64(c.Path)), messages))
			}
			each(first+i, c, moved, &recent)
		}
	}
}

// longest is the last of lengths.
const longest = 8

// A window holds the last calls so far, each as a word; the last one is at place at.
type window struct {
	words [longest]uint64
	at    uint
}

func (w *window) add(word uint64) {
	w.at--
	w.words[w.at%longest] = word
}

// hashes returns those of the sequences of all lengths that the last call ends.
func (w *window) hashes() (out [len(lengths)]uint64) {
	sum, n := uint64(basis), 0
	for k, length := range lengths {
		for ; n < length; n++ {
			sum = step(sum, w.words[(w.at+uint(n))%longest])
		}
		out[k] = sum
	}
	return out
}

// message hashes a message: which way it goes, with whom, and what.
func message(way uint64, peer, tag uint32, bytes uint64) uint64 {
	return step(step(step(step(basis, way), uint64(peer)), uint64(tag)), bytes)
}

const basis = 14695981039346656037

// step adds a word to a hash (FNV-1a by words, spread by a multiplication).
func step(h, word uint64) uint64 {
	h = (h ^ word) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// welford sums up values by his method.
type welford struct{ n, mean, square float64 }

func (w *welford) add(x float64) {
	w.n++
	d := x - w.mean
	w.mean += d / w.n
	w.square += d * (x - w.mean)
}

// variation is the coefficient of variation; infinite if there are no values above 0.
func (w *welford) variation() float64 {
	if w.mean <= 0 {
		return math.Inf(1)
	}
	return w.deviation() / w.mean
}

func (w *welford) deviation() float64 { return math.Sqrt(w.square / w.n) }
