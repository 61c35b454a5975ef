package otf2

import (
	"encoding/binary"
	"math/bits"

	"tracekit/trace"
)

// Nearly all events of nearly all traces are Enter, Leave and point-to-point records, and
// most have a timestamp record of their own. run decodes these straight from the bytes of
// the chunk into the columns of the batch, and others that consist of numbers by their
// layout. What makes it fast:
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
	// a long prefix: 10 + 3·5 + 2·9 bytes) and of the 8 bytes that the last load may exceed:
	// from each of the first lastField+1 bytes on there are 9.
	window    = lastField + 9
	lastField = 63
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

// collColumns is the memory of a batch's Coll table.
type collColumns struct {
	seq      [maxBatch]uint64
	time     [maxBatch]int64
	sent     [maxBatch]uint64
	received [maxBatch]uint64
	request  [maxBatch]uint64
	comm     [maxBatch]trace.CommID
	root     [maxBatch]uint32
	kind     [maxBatch]trace.Kind
	op       [maxBatch]trace.CollectiveOp
}

// masks[n] keeps the lowest n bytes of a word.
var masks = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

// run decodes events until the batch is full, the segment has fewer than window bytes
// left, or a record needs more care: one that is not an event, is damaged, or is not
// frequent. That record is not consumed; the caller looks at it.
//
// The inner loop takes timestamps, Enter and Leave. It calls nothing, so that nearly all that it
// needs stays in registers. Its events belong in Flow, the table of number 0: Order, which is
// all zeros at first, says so already.
func (s *stream) run() {
	var (
		data   = s.data[s.pos:len(s.data):len(s.data)]
		now    = s.time
		flow   = s.flow
		region = s.regions
		big    = s.bigEndian
	)
	for {
		others := s.events - s.flowRows
		first, rows, end := s.batch.First+uint64(others), uint(s.flowRows), min(uint(s.limit-others), maxBatch)
		for rows < end && len(data) >= window {
			x := binary.LittleEndian.Uint64(data) // number and size, and at least 4 bytes of an identifier
			if uint8(x) == idTimestamp {
				t := binary.LittleEndian.Uint64(data[1:])
				if big {
					t = bits.ReverseBytes64(t)
				}
				if int64(t) < now {
					break
				}
				now, data = int64(t), data[9:]
				continue
			}
			id, size := uint8(x), int(uint8(x>>8))
			if id-uint8(trace.KindEnter) > 1 || size > 4 {
				break
			}
			v := uint32(x>>16) & uint32(masks[size])
			if big {
				v = bits.ReverseBytes32(v) >> (32 - 8*size)
			}
			if uint(v) >= uint(len(region)) {
				break
			}
			r := region[v]
			if r == trace.None {
				break
			}
			flow.seq[rows] = first + uint64(rows)
			flow.time[rows] = now
			flow.region[rows] = trace.RegionID(r)
			flow.kind[rows] = trace.Kind(id)
			rows++
			data = data[2+size:]
		}
		s.pos, s.time, s.events, s.flowRows = len(s.data)-len(data), now, others+int(rows), int(rows)
		if rows >= end || len(data) < window {
			return
		}
		w, size := (*[window]byte)(data), 0
		switch kind := trace.Kind(w[0]); kind {
		case trace.KindMpiSend, trace.KindMpiIsend, trace.KindMpiRecv, trace.KindMpiIrecv:
			size = s.message(w, kind)
		case trace.KindMpiIsendComplete, trace.KindMpiIrecvRequest, trace.KindMpiRequestTest, trace.KindMpiRequestCancelled:
			size = s.requestOnly(w, kind)
		case trace.KindMetric:
			size = s.metric(data)
		case trace.KindCollectiveBegin, trace.KindCollectiveEnd, trace.KindNonBlockingCollectiveRequest, trace.KindNonBlockingCollectiveComplete:
			size = s.collective(w, kind)
		case trace.KindEnter, trace.KindLeave, trace.KindCallingContextEnter, trace.KindCallingContextLeave, trace.KindParameterString:
			size = s.byLayout(w, kind)
		default:
			size = s.other(w, kind)
		}
		if size == 0 {
			return
		}
		data = data[size:]
	}
}

// number reads a compressed integer of at most size bytes at w[pos], where pos is at most
// lastField; next is 0 if it has an impossible size. So has one that is looked for at w[0],
// where the number of the record is: a failure needs to be looked for but once.
func (s *stream) number(w *[window]byte, pos, size int) (v uint64, next int) {
	pos &= lastField
	n := int(w[pos])
	if n > size {
		if n == 0xFF {
			return undefined64 >> (64 - 8*size), pos + 1
		}
		return 0, 0
	}
	v = binary.LittleEndian.Uint64(w[pos+1:pos+9]) & masks[n]
	if s.bigEndian {
		v = bits.ReverseBytes64(v) >> (64 - 8*n)
	}
	return v, pos + 1 + n
}

// message adds the MpiSend, MpiIsend, MpiRecv or MpiIrecv at pos to the batch and returns its size;
// 0 if it needs more care.
func (s *stream) message(w *[window]byte, kind trace.Kind) int {
	pos, end := 2, 2+int(w[1])
	if w[1] == 0xFF {
		size := binary.LittleEndian.Uint64(w[2:])
		if s.bigEndian {
			size = bits.ReverseBytes64(size)
		}
		pos, end = 10, 10+int(min(size, window))
	}
	peer, pos := s.number(w, pos, 4)
	comm, pos := s.number(w, pos, 4)
	tag, pos := s.number(w, pos, 4)
	bytes, pos := s.number(w, pos, 8)
	request := uint64(0)
	if kind == trace.KindMpiIsend || kind == trace.KindMpiIrecv {
		request, pos = s.number(w, pos, 8)
	}
	if pos == 0 || pos > end || end > window || comm >= uint64(len(s.comms)) {
		return 0
	}
	i, p, id := s.p2pRows, s.p2p, s.comms[comm]
	if id == trace.None || p == nil || uint(i) >= maxBatch {
		return 0
	}
	p.seq[i] = s.batch.First + uint64(s.events)
	p.time[i] = s.time
	p.kind[i] = kind
	p.peer[i] = uint32(peer)
	p.comm[i] = trace.CommID(id)
	p.tag[i] = uint32(tag)
	p.bytes[i] = bytes
	p.request[i] = request
	s.order[s.events] = trace.TableP2P
	s.events++
	s.p2pRows = i + 1
	return end
}

// requestOnly adds an event that names a request, like message.
func (s *stream) requestOnly(w *[window]byte, kind trace.Kind) int {
	request, end := s.number(w, 1, 8)
	i, p := s.p2pRows, s.p2p
	if end == 0 || p == nil || uint(i) >= maxBatch {
		return 0
	}
	p.seq[i] = s.batch.First + uint64(s.events)
	p.time[i] = s.time
	p.kind[i] = kind
	p.peer[i] = trace.None
	p.comm[i] = trace.None
	p.tag[i] = 0
	p.bytes[i] = 0
	p.request[i] = request
	s.order[s.events] = trace.TableP2P
	s.events++
	s.p2pRows = i + 1
	return end
}

// collective adds an event of a collective, like message.
func (s *stream) collective(w *[window]byte, kind trace.Kind) int {
	pos, end := 2, 2+int(w[1])
	comm, op := uint32(trace.None), uint8(0)
	root, sent, received, request := uint64(trace.None), uint64(0), uint64(0), uint64(0)
	if kind == trace.KindCollectiveEnd || kind == trace.KindNonBlockingCollectiveComplete {
		var ref uint64
		op = w[2]
		ref, pos = s.number(w, 3, 4)
		root, pos = s.number(w, pos, 4)
		sent, pos = s.number(w, pos, 8)
		received, pos = s.number(w, pos, 8)
		if ref >= uint64(len(s.comms)) || s.comms[ref] == trace.None {
			return 0
		}
		comm = s.comms[ref]
	}
	if kind == trace.KindNonBlockingCollectiveRequest || kind == trace.KindNonBlockingCollectiveComplete {
		request, pos = s.number(w, pos, 8)
	}
	i, c := s.collRows, s.coll
	if pos == 0 || pos > end || end > window || c == nil || uint(i) >= maxBatch {
		return 0
	}
	c.seq[i] = s.batch.First + uint64(s.events)
	c.time[i] = s.time
	c.kind[i] = kind
	c.op[i] = trace.CollectiveOp(op)
	c.comm[i] = trace.CommID(comm)
	c.root[i] = uint32(root)
	c.sent[i] = sent
	c.received[i] = received
	c.request[i] = request
	s.order[s.events] = trace.TableColl
	s.events++
	s.collRows = i + 1
	return end
}

// byLayout adds the event at pos of a kind that consists of numbers, like message.
func (s *stream) byLayout(w *[window]byte, kind trace.Kind) int {
	r := &s.record
	values, size := s.numbers(w, kind, r.values[:0], nil)
	if size == 0 {
		return 0
	}
	r.values, r.list = values, r.list[:0]
	s.add(kind, s.base+int64(s.pos))
	return size
}

// other is byLayout for kinds without a table of their own, and for what is no event.
func (s *stream) other(w *[window]byte, kind trace.Kind) int {
	o := &s.batch.Other
	args, size := s.numbers(w, kind, o.Args, s.local)
	if size == 0 {
		return 0
	}
	o.Args = args
	o.End(s.batch.First+uint64(s.events), s.time, kind)
	s.order[s.events] = trace.TableOther
	s.events++
	return size
}

// numbers appends the numbers of which a record consists that has a short length prefix if any, made
// global if the location's definitions are given, and returns its size; 0 if it needs more care. The
// table says what the numbers are.
func (s *stream) numbers(w *[window]byte, kind trace.Kind, to []uint64, local *localDefs) ([]uint64, int) {
	layout := &s.layouts[kind]
	if layout.numbers == nil {
		return to, 0
	}
	pos, end := 2, 2+int(w[1])
	if layout.noLength {
		pos, end = 1, window
	}
	for _, f := range layout.numbers {
		v, next := uint64(w[pos&lastField]), pos+1
		if f.size > 1 {
			if v, next = s.number(w, pos, int(f.size)); next == 0 {
				return to, 0
			}
		}
		if local != nil && f.space != noSpace {
			v = local.maps[f.space].get(v)
		}
		to, pos = append(to, v), next
	}
	if layout.noLength {
		end = pos
	}
	if pos > end || end > window {
		return to, 0
	}
	return to, end
}

// metric adds a Metric event like message. Its size depends on the number of its values.
func (s *stream) metric(data []byte) int {
	if 2+int(data[1])+window > len(data) || data[1] == 0xFF {
		return 0
	}
	end := 2 + int(data[1])
	ref, pos := s.number((*[window]byte)(data), 2, 4)
	if pos == 0 || pos >= end {
		return 0
	}
	count := int(data[pos])
	pos++
	r := &s.record
	r.values, r.list = append(r.values[:0], ref), r.list[:0]
	for range count {
		if pos >= end {
			return 0
		}
		v, size := s.number((*[window]byte)(data[pos:]), 1, 8)
		if size == 0 {
			return 0
		}
		r.list = append(r.list, uint64(data[pos]), v)
		pos += size
	}
	if pos > end {
		return 0
	}
	s.add(trace.KindMetric, s.base+int64(s.pos))
	return end
}
