package otf2

import (
	"encoding/binary"
	"math/bits"

	"tracekit/trace"
)

// Nearly all events of nearly all traces are Enter, Leave and point-to-point records, and
// most have a timestamp record of their own. run decodes these straight from the bytes of
// the chunk into the columns of the batch. What makes it fast:
//
//   - every record that run begins has window bytes in reach, so that fields are read
//     without asking for the chunk's end; the last few records of a chunk are left to
//     the table-driven decoder;
//   - a compressed integer is one load of 8 bytes and a mask;
//   - the columns have one constant size, so that one comparison per row covers them all.

const (
	// maxBatch is the number of events in a batch: the columns of flow and point-to-point
	// events, 70 bytes a row, stay in the second-level cache.
	maxBatch = 4096

	// window is at least the size of the largest record that is decoded here (MpiIsend with
	// a long prefix: 10 + 3·5 + 2·9 bytes) and of the 8 bytes that the last load may exceed.
	window = 64
)

// flowColumns is the memory of a batch's Flow table.
type flowColumns struct {
	seq    [maxBatch]uint64
	time   [maxBatch]int64
	region [maxBatch]trace.RegionID
	kind   [maxBatch]trace.Kind
}

// p2pColumns is the memory of a batch's P2P table.
type p2pColumns struct {
	seq     [maxBatch]uint64
	time    [maxBatch]int64
	bytes   [maxBatch]uint64
	request [maxBatch]uint64
	peer    [maxBatch]uint32
	comm    [maxBatch]trace.CommID
	tag     [maxBatch]uint32
	kind    [maxBatch]trace.Kind
}

// masks[n] keeps the lowest n bytes of a word.
var masks = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// run decodes events until the batch is full, the segment has fewer than window bytes
// left, or a record needs more care: one that is not an event, is damaged, or is not
// frequent. That record is not consumed; the caller looks at it.
func (s *stream) run() {
	var (
		data   = s.data
		pos    = s.pos
		safe   = s.safe
		now    = s.time
		first  = s.batch.First
		n      = s.events
		rows   = s.flowRows
		limit  = s.limit
		flow   = s.flow
		order  = s.order
		region = s.regions
		big    = s.bigEndian
	)
	for n < limit && pos <= safe {
		w := data[pos : pos+window : pos+window]
		switch id := w[0]; id {
		case idTimestamp:
			t := binary.LittleEndian.Uint64(w[1:])
			if big {
				t = bits.ReverseBytes64(t)
			}
			if int64(t) < now {
				s.events = n
				s.decreases(pos)
			}
			now = int64(t)
			pos += 9

		case uint8(trace.KindEnter), uint8(trace.KindLeave):
			size := int(w[1])
			if size > 4 {
				goto careful
			}
			v := uint32(binary.LittleEndian.Uint64(w[2:]) & masks[size])
			if big {
				v = bits.ReverseBytes32(v) >> (32 - 8*size)
			}
			if uint(v) >= uint(len(region)) || region[v] == trace.None {
				goto careful
			}
			if uint(rows) >= maxBatch || uint(n) >= maxBatch {
				goto careful
			}
			flow.seq[rows] = first + uint64(n)
			flow.time[rows] = now
			flow.region[rows] = trace.RegionID(region[v])
			flow.kind[rows] = trace.Kind(id)
			order[n] = trace.TableFlow
			rows++
			n++
			pos += 2 + size

		case uint8(trace.KindMpiSend), uint8(trace.KindMpiIsend), uint8(trace.KindMpiRecv), uint8(trace.KindMpiIrecv):
			next := s.message(w, trace.Kind(id), now, n)
			if next == 0 {
				goto careful
			}
			n++
			pos += next

		case uint8(trace.KindMpiIsendComplete), uint8(trace.KindMpiIrecvRequest), uint8(trace.KindMpiRequestTest), uint8(trace.KindMpiRequestCancelled):
			next := s.requestOnly(w, trace.Kind(id), now, n)
			if next == 0 {
				goto careful
			}
			n++
			pos += next

		default:
			goto careful
		}
	}
careful:
	s.pos, s.time, s.events, s.flowRows = pos, now, n, rows
}

// number reads a compressed integer of at most size bytes at w[pos]; next is 0 if it has
// an impossible size.
func (s *stream) number(w []byte, pos, size int) (v uint64, next int) {
	n := int(w[pos])
	if n > size {
		if n == 0xFF {
			return undefined64 >> (64 - 8*size), pos + 1
		}
		return 0, 0
	}
	v = binary.LittleEndian.Uint64(w[pos+1:]) & masks[n]
	if s.bigEndian {
		v = bits.ReverseBytes64(v) >> (64 - 8*n)
	}
	return v, pos + 1 + n
}

// message decodes an MpiSend, MpiIsend, MpiRecv or MpiIrecv into row n of the batch and
// returns its size; 0 if it needs more care.
func (s *stream) message(w []byte, kind trace.Kind, now int64, n int) int {
	pos, end := 2, 2+int(w[1])
	if w[1] == 0xFF {
		size := binary.LittleEndian.Uint64(w[2:])
		if s.bigEndian {
			size = bits.ReverseBytes64(size)
		}
		pos, end = 10, 10+int(min(size, window))
	}
	peer, p1 := s.number(w, pos, 4)
	comm, p2 := s.number(w, p1, 4)
	tag, p3 := s.number(w, p2, 4)
	size, p4 := s.number(w, p3, 8)
	request, p5 := uint64(0), p4
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		request, p5 = s.number(w, p4, 8)
	}
	if p1 == 0 || p2 == 0 || p3 == 0 || p4 == 0 || p5 == 0 || p5 > end || end > window {
		return 0
	}
	if comm >= uint64(len(s.comms)) || s.comms[comm] == trace.None {
		return 0
	}
	i, p := s.p2pRows, s.p2p
	if p == nil || uint(i) >= maxBatch || uint(n) >= maxBatch {
		return 0
	}
	p.seq[i] = s.batch.First + uint64(n)
	p.time[i] = now
	p.kind[i] = kind
	p.peer[i] = uint32(peer)
	p.comm[i] = trace.CommID(s.comms[comm])
	p.tag[i] = uint32(tag)
	p.bytes[i] = size
	p.request[i] = request
	s.order[n] = trace.TableP2P
	s.p2pRows++
	return end
}

// requestOnly decodes an event that names a request, like message.
func (s *stream) requestOnly(w []byte, kind trace.Kind, now int64, n int) int {
	request, end := s.number(w, 1, 8)
	i, p := s.p2pRows, s.p2p
	if end == 0 || p == nil || uint(i) >= maxBatch || uint(n) >= maxBatch {
		return 0
	}
	p.seq[i] = s.batch.First + uint64(n)
	p.time[i] = now
	p.kind[i] = kind
	p.peer[i] = trace.None
	p.comm[i] = trace.None
	p.tag[i] = 0
	p.bytes[i] = 0
	p.request[i] = request
	s.order[n] = trace.TableP2P
	s.p2pRows++
	return end
}

// simple decodes an event at pos that has a short length prefix and only numbers; it
// reports whether it could. The table says what the numbers are.
func (s *stream) simple(id uint8) bool {
	layout := &s.layouts[id]
	if layout.sizes == nil || layout.noLength || s.pos > s.safe {
		return false
	}
	w := s.data[s.pos : s.pos+window : s.pos+window]
	pos, end := 2, 2+int(w[1])
	r := &s.record
	r.values, r.list = r.values[:0], r.list[:0]
	for _, size := range layout.sizes {
		if size == 1 {
			r.values = append(r.values, uint64(w[pos]))
			pos++
			continue
		}
		v, next := s.number(w, pos, size)
		if next == 0 {
			return false
		}
		r.values, pos = append(r.values, v), next
	}
	if pos > end || end > window {
		return false
	}
	s.add(trace.Kind(id), s.base+int64(s.pos))
	s.pos += end
	return true
}

// metric decodes a Metric event at pos like simple. Its size depends on the number of its
// values, so the room for it is looked at here.
func (s *stream) metric() bool {
	const slack = 16 // more than number reads beyond a field
	w := s.data[s.pos:]
	if s.pos > s.safe || 2+int(w[1])+slack > len(w) || w[1] == 0xFF {
		return false
	}
	end := 2 + int(w[1])
	ref, pos := s.number(w, 2, 4)
	if pos == 0 || pos >= end {
		return false
	}
	count := int(w[pos])
	pos++
	r := &s.record
	r.values, r.list = append(r.values[:0], ref), r.list[:0]
	for range count {
		if pos >= end {
			return false
		}
		v, next := s.number(w, pos+1, 8)
		if next == 0 {
			return false
		}
		r.list = append(r.list, uint64(w[pos]), v)
		pos = next
	}
	if pos > end {
		return false
	}
	s.add(trace.KindMetric, s.base+int64(s.pos))
	s.pos += end
	return true
}
