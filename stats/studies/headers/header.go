package headers

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// Explicit is the number of counters with a tag.
const Explicit = 8

// A Header is what a message carries, and what a rank knows of the path to where it is: times
// by metric, in ticks.
type Header struct {
	Times [Explicit]uint64 // the largest first
	Tags  [Explicit]uint8  // the metrics that Times count; 0: the counter is not used
	Other uint64           // everything else
	Mask  uint64           // bit k: metric k is never shown explicitly
	Hops  uint32           // merges at which a received header dominated; in sampling, those that are left
	Self  uint64           // time of the monitoring itself, not in the other counters

	// Margins are, of each of Times, how much earlier the end of the path would be at least if none of it were spent anywhere: at some
	// merge another path may then be the longest. Layouts leave them out.
	Margins [Explicit]uint64
}

// A Layout is the form of a Header in a message, named by its bytes.
type Layout int

// The layouts. Both have the eight counters, OTHER, the mask and the eight tags. The paper's
// design has a hop count besides, its prototype a tenth counter, for the monitoring itself.
const (
	Layout92 Layout = 92 // counters, OTHER, mask, hops, tags
	Layout96 Layout = 96 // counters, OTHER, mask, Self, tags
)

// Counters returns the number of counters of a layout.
func (l Layout) Counters() int {
	if l == Layout96 {
		return Explicit + 2
	}
	return Explicit + 1
}

// Append appends a header in this layout: integers in network order, tags at the end. What the
// layout has no room for is left out.
func (l Layout) Append(b []byte, h *Header) []byte {
	for _, t := range h.Times {
		b = binary.BigEndian.AppendUint64(b, t)
	}
	b = binary.BigEndian.AppendUint64(b, h.Other)
	b = binary.BigEndian.AppendUint64(b, h.Mask)
	if l == Layout96 {
		b = binary.BigEndian.AppendUint64(b, h.Self)
	} else {
		b = binary.BigEndian.AppendUint32(b, h.Hops)
	}
	return append(b, h.Tags[:]...)
}

// Decode reads a header in this layout.
func (l Layout) Decode(b []byte) (h Header, err error) {
	if len(b) != int(l) {
		return h, fmt.Errorf("a header of %d bytes, want %d", len(b), int(l))
	}
	for i := range h.Times {
		h.Times[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	b = b[8*Explicit:]
	h.Other, h.Mask = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	if l == Layout96 {
		h.Self = binary.BigEndian.Uint64(b[16:])
	} else {
		h.Hops = binary.BigEndian.Uint32(b[16:])
	}
	copy(h.Tags[:], b[len(b)-Explicit:])
	return h, nil
}

// Total returns the sum of all counters but that of the monitoring.
func (h *Header) Total() uint64 {
	sum := h.Other
	for _, t := range h.Times {
		sum += t
	}
	return sum
}

// masked reports whether a metric is never shown. Metrics beyond the mask's bits always may.
func (h *Header) masked(tag uint8) bool { return tag < 64 && h.Mask>>tag&1 != 0 }

// A counted is a metric with its time.
type counted struct {
	tag          uint8
	time, margin uint64
}

// A merger merges times into headers. It keeps memory from one merge to the next.
type merger struct{ all []counted }

// merge adds times by tag (none is negative) to a header: of what has a counter of its own and
// what is added, the largest metrics that are not masked keep or get one, of equal ones those
// with the smaller tags; the rest goes to OTHER.
func (m *merger) merge(h *Header, times []int64) {
	m.all = m.all[:0]
	var explicit, margins [256]uint64
	for i, tag := range h.Tags {
		explicit[tag] += h.Times[i]
		margins[tag] += h.Margins[i]
	}
	for tag := range max(len(times), 256) {
		time, margin := explicit[tag], margins[tag]
		if tag < len(times) {
			time, margin = time+uint64(times[tag]), margin+uint64(times[tag])
		}
		if time == 0 {
			continue
		}
		if tag == 0 || h.masked(uint8(tag)) {
			h.Other += time
			continue
		}
		m.all = append(m.all, counted{uint8(tag), time, margin})
	}
	slices.SortFunc(m.all, func(a, b counted) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.tag, b.tag)) })
	h.Times, h.Tags, h.Margins = [Explicit]uint64{}, [Explicit]uint8{}, [Explicit]uint64{}
	for i, c := range m.all {
		if i < Explicit {
			h.Times[i], h.Tags[i], h.Margins[i] = c.time, c.tag, c.margin
		} else {
			h.Other += c.time
		}
	}
}

// A rival is a path that a merge decided against: it was so much shorter, and loses some of it itself if a counter does.
type rival struct {
	lead  int64
	gains [256]uint64 // by tag, at least
}

// limit limits the margins at a merge. The times of the call that merges are no part of either path: they come behind it.
func (h *Header) limit(r *rival, call *legTimes) {
	for i, tag := range h.Tags {
		var own uint64
		if int(tag) < len(call) {
			own = min(uint64(call[tag]), h.Margins[i])
		}
		h.Margins[i] = min(h.Margins[i]-own, uint64(max(0, r.lead))+r.gains[tag]) + own
	}
}
