package perfetto

import (
	"google.golang.org/protobuf/encoding/protowire"

	"tracekit/readers/internal/protobuf"
)

// The fields of TracePacket that are read.
const (
	fieldSnapshot   = 6
	fieldTime       = 8
	fieldSequence   = 10
	fieldEvent      = 11
	fieldInterned   = 12
	fieldFlags      = 13
	fieldCleared    = 41
	fieldDropped    = 42
	fieldProcess    = 43
	fieldThread     = 44
	fieldCompressed = 50
	fieldClock      = 58
	fieldDefaults   = 59
	fieldTrack      = 60
	fieldZstd       = 133
)

// The flags of a packet.
const (
	flagCleared = 1
	flagNeeded  = 2
)

// about are fields that say who wrote a packet, or something about the recording: they are
// neither events nor what the system recorded.
var about = map[int]bool{3: true, 4: true, 5: true, 33: true, 35: true, 36: true, 79: true, 87: true, 89: true, 98: true}

// A packet is a TracePacket.
type packet struct {
	time, clock       uint64
	hasTime, hasClock bool
	dropped           bool
	sequence          uint32
	flags             uint64
	event             []byte
	rare              *parts
}

// parts are what few packets have, beside an event.
type parts struct {
	used            bool
	interned        []byte
	defaults        []byte
	track           []byte
	snapshot        []byte
	process, thread []byte // descriptors as they were before those of tracks
	compressed      []byte
	zstd            []byte
	other           int // a field that is not read; 0: none
}

// parse reads a packet; it returns false if it cannot be decoded.
func (p *packet) parse(b []byte) bool {
	if p.rare.used {
		*p.rare = parts{}
	}
	m := protobuf.Of(b)
	for m.Next() {
		if m.Type == protowire.BytesType {
			if m.Number == fieldEvent {
				p.event = m.Data
			} else {
				p.rare.message(m.Number, m.Data)
			}
			continue
		}
		switch m.Number {
		case fieldTime:
			p.time, p.hasTime = m.Value, true
		case fieldSequence:
			p.sequence = uint32(m.Value)
		case fieldFlags:
			p.flags |= m.Value
		case fieldCleared:
			if m.Value != 0 {
				p.flags |= flagCleared
			}
		case fieldDropped:
			p.dropped = m.Value != 0
		case fieldClock:
			p.clock, p.hasClock = m.Value, true
		}
	}
	return !m.Broken
}

func (p *parts) message(number int, data []byte) {
	p.used = true
	switch number {
	case fieldInterned:
		p.interned = data
	case fieldDefaults:
		p.defaults = data
	case fieldTrack:
		p.track = data
	case fieldSnapshot:
		p.snapshot = data
	case fieldProcess:
		p.process = data
	case fieldThread:
		p.thread = data
	case fieldCompressed:
		p.compressed = data
	case fieldZstd:
		p.zstd = data
	default:
		if !about[number] {
			p.other = number
		}
	}
}

// systemPackets names the most frequent packets of the system by their fields, as the public trace_packet.proto numbers them.
var systemPackets = map[int]string{1: "ftrace", 2: "process tree", 7: "system statistics", 9: "process statistics", 33: "configuration",
	34: "statistics of ftrace", 35: "statistics of the trace", 37: "heap profile", 38: "battery", 39: "log", 40: "power rails",
	45: "system information", 46: "trigger", 52: "GPU counters", 53: "GPU render stages", 54: "samples of the program", 56: "heap graph",
	66: "performance samples", 69: "events of the recorder", 71: "GPU memory", 76: "frame timeline"}
