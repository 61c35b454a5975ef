package waits

import (
	"cmp"
	"math/bits"
	"slices"

	"tracekit/document"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// messageSums adds up the messages of the selection while the walk over calls meets them
// at their receivers.
type messageSums struct {
	t                                         *trace.Trace
	scope                                     *scope.Scope
	count                                     uint64
	bytes                                     uint64
	outside                                   uint64
	unmatchedSends, unmatchedRecvs, cancelled uint64
	latency                                   numbers.Distribution  // ticks
	earlyBytes                                uint64                // of those below 0
	sizes                                     [64]byteClass         // class k: sizes of k bits
	times                                     [64]byteClass         // class k: latencies of k bits, in ticks
	row                                       []document.MatrixCell // by sender, of the receiver that is being walked over
	touched                                   []uint32
	cells                                     map[[2]uint32]document.MatrixCell
	waits                                     map[[2]uint32]int64 // ticks that calls wait for messages, by ranks of sender and receiver
	senders, receivers                        rankTimes           // of the location at hand: for whom it waits
}

// rankTimes sums ticks by rank.
type rankTimes struct {
	ticks   []int64
	touched []uint32
}

func (r *rankTimes) add(rank uint32, ticks int64) {
	if ticks <= 0 || int(rank) >= len(r.ticks) {
		return
	}
	if r.ticks[rank] == 0 {
		r.touched = append(r.touched, rank)
	}
	r.ticks[rank] = numbers.Plus(r.ticks[rank], ticks)
}

// take iterates over the sums and forgets them.
func (r *rankTimes) take(yield func(rank uint32, ticks int64) bool) {
	for _, rank := range r.touched {
		yield(rank, r.ticks[rank])
		r.ticks[rank] = 0
	}
	r.touched = r.touched[:0]
}

type byteClass struct{ count, bytes uint64 }

func (c *byteClass) add(bytes uint64) {
	c.count++
	c.bytes += bytes
}

func (c *byteClass) merge(o byteClass) { c.count, c.bytes = c.count+o.count, c.bytes+o.bytes }

func newMessageSums(t *trace.Trace, s *scope.Scope) *messageSums {
	n := len(t.World)
	return &messageSums{t: t, scope: s, row: make([]document.MatrixCell, n), cells: make(map[[2]uint32]document.MatrixCell),
		waits:   make(map[[2]uint32]int64),
		senders: rankTimes{ticks: make([]int64, n)}, receivers: rankTimes{ticks: make([]int64, n)}}
}

func (m *messageSums) merge(o *messageSums) {
	m.count, m.bytes, m.outside = m.count+o.count, m.bytes+o.bytes, m.outside+o.outside
	m.unmatchedSends, m.unmatchedRecvs, m.cancelled = m.unmatchedSends+o.unmatchedSends, m.unmatchedRecvs+o.unmatchedRecvs,
		m.cancelled+o.cancelled
	m.latency.Merge(&o.latency)
	m.earlyBytes += o.earlyBytes
	for k := range m.sizes {
		m.sizes[k].merge(o.sizes[k])
		m.times[k].merge(o.times[k])
	}
	for key, c := range o.cells {
		sum := m.cells[key]
		addCell(&sum, &c)
		m.cells[key] = sum
	}
	for key, wait := range o.waits {
		m.waits[key] = numbers.Plus(m.waits[key], wait)
	}
}

// A callTime is when a call is entered and left, or twice the time of what is recorded outside any.
type callTime struct{ enter, leave int64 }

// add counts a message from one location to another: posted is the call that sends it, taken
// the one that completes its receive.
func (m *messageSums) add(from, to trace.LocationID, bytes uint64, posted, taken callTime) {
	if !m.scope.Whole {
		in := m.scope.Overlaps(from, posted.enter, posted.leave)
		if in != m.scope.Overlaps(to, taken.enter, taken.leave) {
			m.outside++
			return
		}
		if !in {
			return
		}
	}
	m.count++
	m.bytes += bytes
	latency := taken.leave - posted.enter
	m.sizes[min(bits.Len64(bytes), 63)].add(bytes)
	if m.latency.Add(latency); latency >= 0 {
		m.times[bits.Len64(uint64(latency))].add(bytes)
	} else { // clocks disagree
		m.earlyBytes += bytes
	}
	// The matrix has ranks; a location without one counts in the totals alone.
	rank := m.t.Rank[from]
	if int(rank) >= len(m.row) {
		return
	}
	cell := &m.row[rank]
	if cell.Count == 0 {
		m.touched = append(m.touched, rank)
	}
	cell.Count, cell.Bytes, cell.TimeNs = cell.Count+1, cell.Bytes+bytes, cell.TimeNs+latency
}

// addCell adds what is summed of a cell; its times are ticks.
func addCell(c, o *document.MatrixCell) {
	c.Count, c.Bytes, c.TimeNs = c.Count+o.Count, c.Bytes+o.Bytes, c.TimeNs+o.TimeNs
}

// endWaits adds the waits of one location to those of all.
func (m *messageSums) endWaits(l trace.LocationID) {
	add := func(from, to uint32, ticks int64) {
		key := [2]uint32{from, to}
		m.waits[key] = numbers.Plus(m.waits[key], ticks)
	}
	for from, ticks := range m.senders.take {
		add(from, m.t.Rank[l], ticks)
	}
	for to, ticks := range m.receivers.take {
		add(m.t.Rank[l], to, ticks)
	}
}

// lost counts a receive without a partner.
func (m *messageSums) lost(l trace.LocationID, r *trace.Recv) {
	if !m.scope.Overlaps(l, r.Time, r.Time) {
		return
	}
	switch r.State {
	case trace.Unmatched:
		m.unmatchedRecvs++
	case trace.Cancelled:
		m.cancelled++
	}
}

// endReceiver adds the matrix cells of one receiving location to the matrix.
func (m *messageSums) endReceiver(l trace.LocationID) {
	for _, from := range m.touched {
		key := [2]uint32{from, m.t.Rank[l]}
		sum := m.cells[key]
		addCell(&sum, &m.row[from])
		m.cells[key], m.row[from] = sum, document.MatrixCell{}
	}
	m.touched = m.touched[:0]
}

// lostSend counts a send without a partner.
func (m *messageSums) lostSend(l trace.LocationID, s *trace.Send) {
	if !m.scope.Overlaps(l, s.Time, s.Time) {
		return
	}
	switch s.State {
	case trace.Unmatched:
		m.unmatchedSends++
	case trace.Cancelled:
		m.cancelled++
	}
}

// Matrix returns the communication matrix, the cells with the most bytes first.
func (m *messageSums) Matrix(r numbers.Rate) []document.MatrixCell {
	cells := []document.MatrixCell{}
	for key, c := range m.cells {
		c.From, c.To, c.TimeNs, c.WaitNs = key[0], key[1], r.Ns(c.TimeNs), r.Ns(m.waits[key])
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b document.MatrixCell) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return cells
}

// Result returns the block of the document.
func (m *messageSums) Result(r numbers.Rate) *document.Messages {
	out := &document.Messages{Count: m.count, Bytes: m.bytes, UnmatchedSends: m.unmatchedSends,
		UnmatchedReceives: m.unmatchedRecvs, OutsideSelection: m.outside, Cancelled: m.cancelled,
		Sizes: bytesClasses(&m.sizes, numbers.Rate{Resolution: numbers.NsPerSecond}), Latencies: bytesClasses(&m.times, r)}
	if m.count == 0 {
		return out
	}
	d := &m.latency
	sum, _ := d.Sum()
	out.Latency = &document.Latency{BelowZero: d.BelowZero(), Min: r.Ns(d.Min()), Mean: r.Mean(sum, m.count),
		P50: r.Ns(d.Quantile(0.5)), P99: r.Ns(d.Quantile(0.99)), Max: r.Ns(d.Max())}
	if n := d.BelowZero(); n > 0 {
		below := document.BytesClass{From: r.Ns(d.Min()), Count: n, Bytes: m.earlyBytes}
		out.Latencies = append([]document.BytesClass{below}, out.Latencies...)
	}
	return out
}

// bytesClasses returns the classes that are not empty, ascending, with converted bounds.
func bytesClasses(classes *[64]byteClass, r numbers.Rate) []document.BytesClass {
	out := []document.BytesClass{}
	for k, c := range classes {
		if c.count == 0 {
			continue
		}
		row := document.BytesClass{Count: c.count, Bytes: c.bytes, To: 1}
		if k > 0 {
			row.From, row.To = r.Ns(1<<(k-1)), r.Ns(1<<min(k, 62))
		}
		out = append(out, row)
	}
	return out
}
