package perfetto

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"tracekit/readers/internal/protobuf"
	"tracekit/readers/internal/wire"
)

const (
	windowBytes = 256 << 10 // of a window at first
	packetLimit = 64 << 20  // bytes of a packet; the window grows to this
	headerBytes = 20        // that the tag and the length of a field take at most
	packetTag   = 1<<3 | byte(protowire.BytesType)
)

// An input is a window on the bytes of a trace.
//
//	buf[pos:] is what was read and not consumed
//	offset is the position in the trace of buf[0]
//	eof: nothing comes after buf
type input struct {
	r      io.Reader
	buf    []byte
	pos    int
	offset int64
	eof    bool
	err    error // why the trace ended, if not at the end of the file
}

func newInput(r io.Reader) *input { return &input{r: r, buf: make([]byte, 0, windowBytes)} }

// at returns the position of the next byte.
func (in *input) at() int64 { return in.offset + int64(in.pos) }

// need reports whether n bytes lie in the window, for which more is read.
func (in *input) need(n int) bool {
	for len(in.buf)-in.pos < n {
		if in.eof {
			return false
		}
		in.more()
	}
	return true
}

// more reads further bytes behind what is not consumed, which moves.
func (in *input) more() {
	if in.pos == 0 && len(in.buf) == cap(in.buf) {
		in.buf = append(make([]byte, 0, 2*cap(in.buf)), in.buf...)
	}
	in.offset += int64(in.pos)
	in.buf, _, in.eof, in.err = wire.Refill(in.r, in.buf, in.pos)
	in.pos = 0
}

// What next found.
type found int

const (
	foundEnd    found = iota
	foundPacket       // of which data are returned
	foundLarge        // a packet that is larger than the limit, which was passed over
	foundCut          // a packet that ends behind the end
	foundBroken       // no packet: see resume
)

// next returns the next packet, which is valid until the call after.
func (in *input) next() ([]byte, found) {
	for {
		in.need(headerBytes)
		b := in.buf[in.pos:]
		if len(b) == 0 {
			return nil, foundEnd
		}
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, in.short(b)
		}
		const packets = uint64(packetTag >> 3)
		kind := protowire.Type(tag & 7)
		if tag>>3 == 0 || tag>>3 > uint64(protowire.MaxValidNumber) || tag>>3 == packets && tag != uint64(packetTag) ||
			kind == protowire.StartGroupType { // no trace has groups
			return nil, foundBroken
		}
		if kind != protowire.BytesType { // a field that is newer than this program
			size := protowire.ConsumeFieldValue(protowire.Number(tag>>3), kind, b[n:])
			if size < 0 {
				return nil, in.short(b)
			}
			in.pos += n + size
			continue
		}
		length, k := protowire.ConsumeVarint(b[n:])
		switch {
		case k < 0:
			return nil, in.short(b)
		case length > packetLimit:
			if length >= 1<<40 {
				return nil, foundBroken
			}
			in.pos += n + k
			if !in.skip(int64(length)) {
				return nil, foundCut
			}
			return nil, foundLarge
		case !in.need(n + k + int(length)):
			return nil, foundCut
		}
		from := in.pos + n + k
		in.pos = from + int(length)
		if tag == uint64(packetTag) {
			return in.buf[from:in.pos], foundPacket
		}
	}
}

// short tells a field that the end cuts from one that cannot be decoded.
func (in *input) short(b []byte) found {
	if len(b) < headerBytes && in.eof {
		return foundCut
	}
	return foundBroken
}

// skip passes bytes over; it returns false if there are fewer.
func (in *input) skip(n int64) bool {
	for {
		k := min(n, int64(len(in.buf)-in.pos))
		in.pos += int(k)
		if n -= k; n == 0 {
			return true
		}
		if in.eof {
			return false
		}
		in.more()
	}
}

const (
	chain     = 3         // packets that follow each other where reading goes on
	chainSpan = 128 << 10 // bytes in which they must lie
)

// resume goes on behind damage: to the next place, at a position or behind it, from which packets follow
// each other. It returns false if there is none.
func (in *input) resume(at int64) bool {
	if back := int(at - in.offset); at >= in.offset && back <= in.pos {
		in.pos = back
	}
	for {
		in.need(chainSpan)
		for i, b := range in.buf[in.pos:] {
			if !in.eof && len(in.buf)-in.pos-i < chainSpan {
				in.pos += i
				break
			}
			if b == packetTag && follows(in.buf[in.pos+i:], in.eof) {
				in.pos += i
				return true
			}
		}
		if in.eof {
			in.pos = len(in.buf)
			return false
		}
	}
}

// follows reports whether bytes are packets that follow each other, a few of them, or to the end.
func follows(b []byte, eof bool) bool {
	for range chain {
		if len(b) == 0 {
			return eof
		}
		if b[0] != packetTag {
			return false
		}
		packet, n := protowire.ConsumeBytes(b[1:])
		if n < 0 || !sound(packet) {
			return false
		}
		b = b[1+n:]
	}
	return true
}

// sound reports whether a packet can be decoded and says whose it is, as nearly all do.
func sound(packet []byte) bool {
	m := protobuf.Of(packet)
	return tells(&m) && !m.Broken
}

// begins reports whether bytes are the begin of such a packet.
func begins(b []byte) bool {
	m := protobuf.Of(b)
	if tells(&m) {
		return true
	}
	tag, n := protowire.ConsumeVarint(b[m.Sound():]) // the field that is cut
	return n > 0 && tag&7 == uint64(protowire.BytesType) && payload(int(tag>>3))
}

// tells goes through the fields of a packet for one that only packets have.
func tells(m *protobuf.Message) (known bool) {
	for m.Next() {
		switch m.Number {
		case fieldSequence, fieldTime:
			known = known || m.Type == protowire.VarintType
		default:
			known = known || m.Type == protowire.BytesType && payload(m.Number)
		}
	}
	return known
}

// payload reports whether a field holds what packets are for.
func payload(number int) bool {
	switch number {
	case fieldTrack, fieldEvent, fieldSnapshot, fieldCompressed, fieldZstd, fieldInterned, fieldDefaults:
		return true
	}
	return false
}
