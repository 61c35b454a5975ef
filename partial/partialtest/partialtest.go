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

// Payload returns what the frames of a stream hold that code writes.
func Payload(code func(*partial.Coder)) (all []byte, err error) {
	var b bytes.Buffer
	c := partial.NewWriter(&b, "")
	if code(c); c.Close() != nil {
		return nil, c.Err()
	}
	_, frames, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	for {
		n, head := binary.Uvarint(frames)
		if head < 1 || uint64(len(frames)) < uint64(head)+n+4 {
			return nil, errors.New("no frame")
		}
		if n == 0 {
			return all, nil
		}
		all = append(all, frames[head:uint64(head)+n]...)
		frames = frames[uint64(head)+n+4:]
	}
}

// Framed returns a stream of one frame, whose checksum is right.
func Framed(line string, payload []byte) []byte {
	stream := []byte(line + "\n")
	for _, frame := range [][]byte{payload, nil} {
		stream = binary.AppendUvarint(stream, uint64(len(frame)))
		stream = append(stream, frame...)
		stream = binary.LittleEndian.AppendUint32(stream, crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)))
	}
	return stream
}
