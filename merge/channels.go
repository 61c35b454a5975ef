package merge

import "tracekit/trace"

// A channelKey names a channel: what is sent on it is received in the same order.
type channelKey struct {
	comm     trace.CommID
	from, to uint32 // world ranks
	tag      uint32
}

// A channel is a queue of sends that no receive has taken, or of receives for which no
// send has come.
type channel struct {
	key     channelKey
	head    ref
	tail    ref
	waiting waiting
}

type waiting uint8

const (
	freeSlot waiting = iota // of the table: no channel
	nothingWaits
	sendsWait
	recvsWait
)

// pop removes the head; next is the one behind it.
func (c *channel) pop(next ref) {
	c.head = next
	if next == noRef {
		c.waiting = nothingWaits
	}
}

// A channelTable finds channels by key: a hash table with linear probing. Channels in
// which nothing waits are forgotten when it is full.
//
//	len(slots) is a power of two and at least twice the number of channels
type channelTable struct {
	slots []channel
	n     int
}

// find returns the channel of a key, which it makes if need be. The pointer is valid
// until the next call.
func (t *channelTable) find(k channelKey) *channel {
	if t.n >= len(t.slots)/2 {
		t.rebuild()
	}
	c := t.seek(k)
	if c.waiting == freeSlot {
		*c = channel{key: k, waiting: nothingWaits}
		t.n++
	}
	return c
}

func (t *channelTable) seek(k channelKey) *channel {
	h := (uint64(k.comm)<<32|uint64(k.tag))*0x9E3779B97F4A7C15 ^ (uint64(k.from)<<32|uint64(k.to))*0xC2B2AE3D27D4EB4F
	for i := int(h >> 20); ; i++ {
		c := &t.slots[i&(len(t.slots)-1)]
		if c.waiting == freeSlot || c.key == k {
			return c
		}
	}
}

// rebuild makes room by leaving out the idle channels, and by doubling the table if many
// are left.
func (t *channelTable) rebuild() {
	old, busy := t.slots, 0
	t.each(func(*channel) { busy++ })
	size := max(64, len(old))
	if 4*(busy+1) > size {
		size *= 2
	}
	t.slots, t.n = make([]channel, size), busy
	for i := range old {
		if c := &old[i]; c.waiting > nothingWaits {
			*t.seek(c.key) = *c
		}
	}
}

// each calls f for every channel in which something waits.
func (t *channelTable) each(f func(*channel)) {
	for i := range t.slots {
		if c := &t.slots[i]; c.waiting > nothingWaits {
			f(c)
		}
	}
}
