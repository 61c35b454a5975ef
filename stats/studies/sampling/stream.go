package sampling

import (
	"math"
	"math/bits"

	"tracekit/spill"
	"tracekit/trace"
)

// A stream is the sends of one rank in the order of posting, with all that was sampled of them.
// Locations outside MPI that send have a stream each.
//
//	samplers[k] and sums[k] are of configuration k; sums[len(samplers)] is the population
//	keys[i] is a category, cells[i*len(sums):][:len(sums)] what was counted of it, likewise
type stream struct {
	rank      uint32 // None: outside MPI
	locations []trace.LocationID
	next      []int // by location: the send that comes next
	sends     int

	samplers []sampler
	sums     []Sums
	index    map[key]uint32
	recent   [recentKeys]recentKey
	keys     []key
	cells    []cell
	extras   []amounts // as cells, if the sampled analyses are asked for

	passed  int64 // of the last send
	pause   int64 // the mean time between two sends
	skipped uint64
}

// A key is a category of a stream; sites are numbers of run.sites.
type key struct {
	to, send, receive uint32
	bytes             uint64
}

// recentKeys is the number of categories that are looked up without a map: neighbours are few.
const recentKeys = 8

type recentKey struct {
	key
	category uint32 // plus 1; 0: none
}

// Sums adds up the messages of a stream.
type Sums struct {
	Messages     uint64 // matched
	Unmatched    uint64 // sampled in vain, for nobody receives them
	AfterPause   uint64 // of Messages: sent later after the one before than is usual for the rank
	Unexpected   uint64 // of Messages: sent before the receive was posted
	Large        uint64 // of Messages: above the limit of the cost model
	Bytes        moments
	Latency      moments // ticks
	LateSender   moments // ticks
	LateReceiver moments // ticks
}

// moments are what estimates of a total need of the sampled values.
type moments struct {
	sum      int64
	sq, cube float64
}

func (m *moments) add(v int64) {
	x := float64(v)
	m.sum, m.sq, m.cube = m.sum+v, m.sq+x*x, m.cube+x*x*x
}

func (m *moments) merge(o *moments) {
	m.sum, m.sq, m.cube = m.sum+o.sum, m.sq+o.sq, m.cube+o.cube
}

func (s *Sums) merge(o *Sums) {
	s.Messages, s.Unmatched = s.Messages+o.Messages, s.Unmatched+o.Unmatched
	s.AfterPause, s.Large = s.AfterPause+o.AfterPause, s.Large+o.Large
	s.Unexpected += o.Unexpected
	s.Bytes.merge(&o.Bytes)
	s.Latency.merge(&o.Latency)
	s.LateSender.merge(&o.LateSender)
	s.LateReceiver.merge(&o.LateReceiver)
}

// A cell is the latencies, in ticks, of one category.
type cell struct {
	count    uint64
	total    int64
	min, max int64
	decades  *[decades]uint64 // nil: not asked for, or none yet
}

func (c *cell) add(latency int64) {
	if c.count == 0 || latency < c.min {
		c.min = latency
	}
	if c.count == 0 || latency > c.max {
		c.max = latency
	}
	c.count++
	c.total += latency
}

// amounts are what the messages of a category have of the sampled analyses.
type amounts struct {
	lateSender, lateReceiver      int64 // ticks
	sendOverhead, receiveOverhead int64 // ns
}

// decades is the number of classes of FREQ: below 0, below 1 ns, and a power of ten each.
const decades = 21

// decadeBounds returns the first tick of each class from the second on.
func decadeBounds(resolution uint64) (bounds [decades - 1]int64) {
	ns := uint64(1)
	for k := 1; k < len(bounds); k++ {
		bounds[k] = ticksAbove(ns, resolution)
		ns *= 10
	}
	return bounds
}

// ticksAbove returns the least number of ticks that last so many ns.
func ticksAbove(ns, resolution uint64) int64 {
	hi, lo := bits.Mul64(ns, max(resolution, 1))
	if hi >= 1e9 {
		return math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, 1e9)
	if rest > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// decadeOf returns the class of a latency.
func decadeOf(bounds *[decades - 1]int64, latency int64) int {
	low, high := 0, len(bounds) // classes up to low begin at or below it
	for low < high {
		if mid := (low + high) / 2; bounds[mid] <= latency {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// A message is what a rank learns of one that it sends.
type message struct {
	key
	large      bool
	pause      bool
	unexpected bool
	latency    int64
	extra      amounts
}

// category returns the number of a category, and makes it if need be. If a rank has too many,
// further ones share the category of each receiver and size class (see pooled).
func (s *stream) category(k key, most int) int {
	slot := &s.recent[(k.to^k.send^k.receive<<1^uint32(k.bytes>>3))%recentKeys]
	if slot.category > 0 && slot.key == k {
		return int(slot.category - 1)
	}
	n, ok := s.index[k]
	switch {
	case !ok && len(s.keys) >= most && k.send != pooled:
		return s.category(key{to: trace.None, send: pooled, receive: pooled, bytes: 1 << max(bits.Len64(k.bytes)-1, 0)}, most)
	case !ok:
		n = uint32(len(s.keys))
		s.index[k] = n
		s.keys = append(s.keys, k)
		s.cells = append(s.cells, make([]cell, len(s.sums))...)
		if s.extras != nil {
			s.extras = append(s.extras, make([]amounts, len(s.sums))...)
		}
	}
	*slot = recentKey{k, n + 1}
	return int(n)
}

// pooled is the site of categories that stand for many.
const pooled = math.MaxUint32 - 1

// nextSend returns the location and row of the send that is posted next, if that is before end.
func (s *stream) nextSend(sends []*spill.Table[trace.Send], end int64) (at int, row *trace.Send) {
	for i, l := range s.locations {
		if s.next[i] >= sends[l].Len() {
			continue
		}
		if x := sends[l].Ptr(s.next[i]); x.Time < end && (row == nil || x.Time < row.Time) {
			at, row = i, x
		}
	}
	return at, row
}
