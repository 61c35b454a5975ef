package perfetto

import (
	"bytes"
	"compress/zlib"

	"tracekit/readers/internal/protobuf/protobuftest"
)

func message(fields ...any) []byte { return protobuftest.Message(fields...) }

type fixed = protobuftest.Fixed

// A generator writes packets.
type generator struct{ bytes.Buffer }

func (g *generator) packet(fields ...any) { g.Write(message(1, message(fields...))) }

// snapshot writes a snapshot of clocks of a sequence: clock, time, clock, time …
func (g *generator) snapshot(sequence int, readings ...int) {
	var b []byte
	for i := 0; i < len(readings); i += 2 {
		b = append(b, message(1, message(1, readings[i], 2, readings[i+1]))...)
	}
	g.packet(fieldSnapshot, b, fieldSequence, sequence)
}

func (g *generator) process(uuid, pid int, name string) {
	g.packet(fieldTrack, message(1, uuid, 3, message(1, pid, 6, name)), fieldSequence, 1)
}

func (g *generator) thread(uuid, parent, pid, tid int, name string) {
	g.packet(fieldTrack, message(1, uuid, 5, parent, 4, message(1, pid, 2, tid, 5, name)), fieldSequence, 1)
}

func (g *generator) named(uuid, parent int, name string) {
	g.packet(fieldTrack, message(1, uuid, 5, parent, 2, name), fieldSequence, 1)
}

func (g *generator) counter(uuid, parent int, name string, fields ...any) {
	g.packet(fieldTrack, message(1, uuid, 5, parent, 2, name, 8, message(fields...)), fieldSequence, 1)
}

// event writes an event with plain names on sequence 1, which needs no state.
func (g *generator) event(typ, time, track int, name, category string, fields ...any) {
	e := []any{eventType, typ, eventTrack, track}
	if name != "" {
		e = append(e, eventName, name)
	}
	if category != "" {
		e = append(e, eventCategory, category)
	}
	g.packet(fieldTime, time, fieldSequence, 1, fieldEvent, message(append(e, fields...)...))
}

func (g *generator) begin(time, track int, name, category string, fields ...any) {
	g.event(typeBegin, time, track, name, category, fields...)
}

func (g *generator) end(time, track int) { g.event(typeEnd, time, track, "", "") }

// number is an argument of an event.
func number(name string, value int) []byte { return message(10, name, 4, value) }

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}
