package phases

import (
	"cmp"
	"context"
	"math"
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
	distances   welford
}

// A view is how sequences are looked at: of how many calls, and whether only their paths or also
// partners, tags and sizes of their messages tell them apart.
type view struct {
	length   int
	contents bool
}

var views = [...]view{{1, false}, {2, false}, {4, false}, {8, false}, {1, true}, {2, true}, {4, true}, {8, true}}

// What can be a marker: so many visits, over such a part of the time between the first rank's first
// call and its last, that cut it into intervals whose durations and numbers of operations have such
// coefficients of variation. Of sequences the first so many are looked at.
const (
	leastVisits = 5
	mostVisits  = 1 << 14
	leastSpan   = 0.5
	mostSpread  = 0.5
	mostMarkers = 1 << 15
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
	found, err := engine.Map(ctx, jobs, len(views), func(_ context.Context, i int) ([]*marker, error) {
		return markersOf(t, l, views[i], common), nil
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

// markersOf returns the markers in one view, in order of their first visits.
func markersOf(t *trace.Trace, l trace.LocationID, v view, common map[trace.PathID]int) (out []*marker) {
	type class struct {
		path trace.PathID
		hash uint64
	}
	index := make(map[class]*marker)
	var all []*marker
	begin, end := int64(math.MaxInt64), int64(math.MinInt64)
	operations := 0
	sequences(t, l, v, func(row int, c *trace.Call, moved int, hash uint64) {
		if c.Class != trace.ClassInit && c.Class != trace.ClassFinalize {
			begin, end = min(begin, c.Enter), max(end, c.Enter)
		}
		if moved == 0 {
			return
		}
		operations += moved
		key := class{c.Path, hash}
		m := index[key]
		switch {
		case m != nil:
			m.durations.add(float64(c.Enter - m.last))
			distance := operations - m.operations
			if m.distances.add(float64(distance)); m.visits > 1 && distance != m.distance {
				m.breaks++
			}
			m.distance = distance
		case common[c.Path] < leastVisits || len(all) == mostMarkers:
			return
		default:
			m = &marker{path: c.Path, view: v, hash: hash, first: c.Enter, row: row}
			index[key], all = m, append(all, m)
		}
		m.visits, m.last, m.operations = m.visits+1, c.Enter, operations
	})
	for _, m := range all {
		if m.visits >= leastVisits && m.visits <= mostVisits && float64(m.last-m.first) >= leastSpan*float64(end-begin) &&
			m.durations.variation() <= mostSpread && m.distances.variation() <= mostSpread {
			out = append(out, m)
		}
	}
	return out
}

// ordinals returns which visits of its path are those of a marker.
func (m *marker) ordinals(t *trace.Trace, l trace.LocationID) (out []int) {
	n := 0
	sequences(t, l, m.view, func(_ int, c *trace.Call, moved int, hash uint64) {
		if c.Path != m.path {
			return
		}
		if moved > 0 && hash == m.hash {
			out = append(out, n)
		}
		n++
	})
	return out
}

// sequences gives away the calls of a location in order: how many messages and collectives they
// begin or complete, and a hash of the last so many calls that do; of calls that do not, 0.
func sequences(t *trace.Trace, l trace.LocationID, v view, each func(row int, c *trace.Call, moved int, hash uint64)) {
	calls, sends, recvs := t.Calls[l], t.Sends[l], t.Recvs[l]
	window := make([]uint64, 0, v.length)
	send, recv := 0, 0
	for row := range calls.Len() {
		c := calls.Ptr(row)
		lastSend, lastRecv := sends.Len(), recvs.Len()
		if row+1 < calls.Len() {
			next := calls.Ptr(row + 1)
			lastSend, lastRecv = int(next.FirstSend), int(next.FirstRecv)
		}
		moved, messages := 0, uint64(0) // in any order
		for send = int(c.FirstSend); send < lastSend; send++ {
			s := sends.Ptr(send)
			moved, messages = moved+1, messages+mix(1, uint64(s.To), uint64(s.Tag), s.Bytes)
		}
		for recv = int(c.FirstRecv); recv < lastRecv; recv++ {
			r := recvs.Ptr(recv)
			moved, messages = moved+1, messages+mix(2, uint64(r.From), uint64(r.Tag), r.Bytes)
		}
		if c.Coll != trace.None || c.Class == trace.ClassColl {
			moved++
		}
		hash := uint64(0)
		if moved > 0 {
			if len(window) == v.length {
				window = append(window[:0], window[1:]...)
			}
			if !v.contents {
				messages = 0
			}
			window = append(window, mix(uint64(c.Path), messages))
			hash = mix(window...)
		}
		each(row, c, moved, hash)
	}
}

// mix hashes some words (FNV-1a by words, spread by a multiplication).
func mix(words ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
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
	return math.Sqrt(w.square/w.n) / w.mean
}
