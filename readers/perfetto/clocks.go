package perfetto

import (
	"math/bits"
	"slices"
	"sort"

	"tracekit/readers/internal/protobuf"
)

// The clocks that have numbers of their own. Those from firstOfSequence on belong to a sequence.
const (
	clockRealtime   = 1
	clockMonotonic  = 3
	clockBoottime   = 6
	firstOfSequence = 64
	lastOfSequence  = 127
)

// A clockKey tells a clock: that of a sequence, or of the whole trace (sequence 0).
type clockKey struct {
	id       uint64
	sequence uint32
}

func keyOf(id uint64, sequence uint32) clockKey {
	if id < firstOfSequence || id > lastOfSequence {
		sequence = 0
	}
	return clockKey{id, sequence}
}

// A clock is converted by what snapshots say of it.
type clock struct {
	pairs       []pair // ascending in own
	incremental bool
	unit        uint64 // ns
	latest      uint64 // the reading that the next one of an incremental clock adds to
}

// A pair is one moment on a clock and on the axis of the trace, in ns.
type pair struct{ own, axis int64 }

// clocks converts times of all clocks to those of one, the axis.
type clocks struct {
	axis     uint64 // its number; 0: not known yet
	byKey    map[clockKey]*clock
	pairs    int
	lost     uint64 // readings beyond pairLimit
	last     clockKey
	clock    *clock // of last
	epoch    int64  // ns since 1970 at the time 0 of the axis
	hasEpoch bool
	readings []reading // scratch
}

// A reading is what a snapshot says of one clock.
type reading struct {
	key         clockKey
	raw, unit   uint64
	incremental bool
	time        int64
}

const (
	pairLimit = 1 << 20
	clockMax  = 1 << 16 // clocks of sequences
	farthest  = 1 << 61 // ns: times beyond cannot be added
)

func newClocks() *clocks { return &clocks{byKey: make(map[clockKey]*clock)} }

// find returns a clock, nil if no snapshot has it.
func (c *clocks) find(key clockKey) *clock {
	if c.clock == nil || c.last != key {
		c.last, c.clock = key, c.byKey[key]
	}
	return c.clock
}

// snapshot takes a snapshot of a sequence; it returns false if it cannot be decoded or has no clock from which there is a
// way to the axis.
func (c *clocks) snapshot(data []byte, sequence uint32) bool {
	c.readings = c.readings[:0]
	primary := uint64(0)
	m := protobuf.Of(data)
	for m.Next() && len(c.readings) < firstOfSequence {
		switch {
		case m.Number == 1 && !m.IsNumber():
			r, ok := parseReading(m.Data, sequence)
			if !ok {
				return false
			}
			c.readings = append(c.readings, r)
		case m.Number == 2 && m.IsNumber():
			primary = m.Value
		}
	}
	axis, ok := c.onAxis(primary)
	if m.Broken || !ok {
		return false
	}
	for i := range c.readings {
		c.note(&c.readings[i], axis)
	}
	return true
}

func parseReading(data []byte, sequence uint32) (r reading, ok bool) {
	r.unit = 1
	id := uint64(0)
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case 1:
			id = m.Value
		case 2:
			r.raw = m.Value
		case 3:
			r.incremental = m.Value != 0
		case 4:
			r.unit = max(1, m.Value)
		}
	}
	r.key = keyOf(id, sequence)
	r.time, ok = nanoseconds(r.raw, r.unit)
	return r, ok && !m.Broken && id != 0
}

// nanoseconds returns a reading in ns; ok is false if it is too large.
func nanoseconds(raw, unit uint64) (int64, bool) {
	hi, lo := bits.Mul64(raw, unit)
	return int64(lo), hi == 0 && lo < farthest
}

// onAxis returns the time on the axis of the readings, of which the first snapshot decides what the axis is.
func (c *clocks) onAxis(primary uint64) (int64, bool) {
	of := func(id uint64) int {
		return slices.IndexFunc(c.readings, func(r reading) bool { return r.key == clockKey{id: id} })
	}
	if c.axis == 0 {
		for _, id := range []uint64{clockBoottime, primary, clockMonotonic} {
			if of(id) >= 0 && id != 0 {
				c.axis = id
				break
			}
		}
		if c.axis == 0 && len(c.readings) > 0 && c.readings[0].key.sequence == 0 {
			c.axis = c.readings[0].key.id
		}
	}
	if i := of(c.axis); i >= 0 {
		return c.readings[i].time, true
	}
	for _, r := range c.readings {
		if known := c.byKey[r.key]; known != nil {
			return known.convert(r.time)
		}
	}
	return 0, false
}

// note keeps what a snapshot says of a clock.
func (c *clocks) note(r *reading, axis int64) {
	if r.key.id == clockRealtime && !c.hasEpoch {
		c.epoch, c.hasEpoch = r.time-axis, true
	}
	known := c.byKey[r.key]
	if known == nil {
		if len(c.byKey) >= clockMax {
			c.lost++
			return
		}
		known = &clock{}
		c.byKey[r.key] = known
		c.clock = nil
	}
	known.incremental, known.unit, known.latest = r.incremental, r.unit, r.raw
	if r.key == (clockKey{id: c.axis}) {
		return
	}
	if c.pairs == pairLimit {
		c.lost++
		return
	}
	i := known.after(r.time)
	if len(known.pairs)-i > disorder {
		c.lost++
		return
	}
	c.pairs++
	known.pairs = slices.Insert(known.pairs, i, pair{r.time, axis})
}

// disorder is how many later snapshots may come before one.
const disorder = 64

// after returns the number of the first pair that is later than a time of the clock.
func (k *clock) after(time int64) int {
	return sort.Search(len(k.pairs), func(i int) bool { return k.pairs[i].own > time })
}

// convert returns the time on the axis, by the nearest snapshot before, else by the first.
func (k *clock) convert(time int64) (int64, bool) {
	n := len(k.pairs)
	if n == 0 {
		return 0, false
	}
	i := n - 1 // nearly always
	if k.pairs[i].own > time {
		i = max(0, k.after(time)-1)
	}
	t := k.pairs[i].axis + (time - k.pairs[i].own)
	return t, t < farthest && t > -farthest
}

// time returns the time on the axis of a packet of a sequence; id 0 stands for the clock of the trace.
func (c *clocks) time(raw, id uint64, sequence uint32) (int64, bool) {
	if id == 0 || id == c.axis || id == clockBoottime && c.axis == 0 {
		return nanoseconds(raw, 1)
	}
	known := c.find(keyOf(id, sequence))
	if known == nil {
		return 0, false
	}
	if known.incremental {
		known.latest += raw
		raw = known.latest
	}
	ns, ok := nanoseconds(raw, known.unit)
	if !ok {
		return 0, false
	}
	return known.convert(ns)
}
