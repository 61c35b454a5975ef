// Package codectest takes streams of package codec apart, and makes ones that no Coder would
// have written, for tests that forge them.
package codectest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"slices"

	"tracekit/codec"
	"tracekit/trace/tracetest/mutate"
)

// Payload returns what the packets of a stream hold that code writes.
func Payload(code func(*codec.Coder)) (all []byte, err error) {
	var b bytes.Buffer
	c := codec.NewWriter(&b, "")
	if code(c); c.Close() != nil {
		return nil, c.Err()
	}
	for _, p := range packets(b.Bytes()) {
		all = append(all, b.Bytes()[p.from:p.to]...)
	}
	return all, nil
}

// A span is where the payload of a packet lies.
type span struct{ from, to int }

// packets returns the packets of streams that follow each other, but those that end a stream.
func packets(streams []byte) (all []span) {
	for at := 0; at+8 < len(streams); { // a number of 8 bytes may end a file
		at += bytes.IndexByte(streams[at:], '\n') + 1
		for size := uint64(1); size > 0; {
			n, head := binary.Uvarint(streams[at:])
			p := span{at + head, at + head + int(n)}
			if size, at = n, p.to+4; size > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

// Flip returns streams that follow each other with one to three bits flipped in what their packets hold; the checksums
// are right.
func Flip(streams []byte, r *rand.Rand) []byte {
	streams = slices.Clone(streams)
	all := packets(streams)
	for range 1 + r.IntN(3) {
		p := all[r.IntN(len(all))]
		copy(streams[p.from:p.to], mutate.Bits(1).Apply(r, streams[p.from:p.to]))
		binary.LittleEndian.PutUint32(streams[p.to:], checksum(streams[p.from:p.to]))
	}
	return streams
}

func checksum(packet []byte) uint32 { return crc32.Checksum(packet, crc32.MakeTable(crc32.Castagnoli)) }

// Packed returns a stream of one packet, whose checksum is right.
func Packed(line string, payload []byte) []byte {
	stream := []byte(line + "\n")
	for _, packet := range [][]byte{payload, nil} {
		stream = binary.AppendUvarint(stream, uint64(len(packet)))
		stream = append(stream, packet...)
		stream = binary.LittleEndian.AppendUint32(stream, checksum(packet))
	}
	return stream
}
