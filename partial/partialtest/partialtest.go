// Package partialtest takes streams of package partial apart, and makes ones that no Coder would
// have written, for tests that forge them.
package partialtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"tracekit/partial"
)

// Payload returns what the packets of a stream hold that code writes.
func Payload(code func(*partial.Coder)) (all []byte, err error) {
	var b bytes.Buffer
	c := partial.NewWriter(&b, "")
	if code(c); c.Close() != nil {
		return nil, c.Err()
	}
	_, packets, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	for {
		n, head := binary.Uvarint(packets)
		if head < 1 || uint64(len(packets)) < uint64(head)+n+4 {
			return nil, errors.New("no packet")
		}
		if n == 0 {
			return all, nil
		}
		all = append(all, packets[head:uint64(head)+n]...)
		packets = packets[uint64(head)+n+4:]
	}
}

// Packed returns a stream of one packet, whose checksum is right.
func Packed(line string, payload []byte) []byte {
	stream := []byte(line + "\n")
	for _, packet := range [][]byte{payload, nil} {
		stream = binary.AppendUvarint(stream, uint64(len(packet)))
		stream = append(stream, packet...)
		stream = binary.LittleEndian.AppendUint32(stream, crc32.Checksum(packet, crc32.MakeTable(crc32.Castagnoli)))
	}
	return stream
}
