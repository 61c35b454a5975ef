package codec

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// maxPacket is the largest number of bytes in the payload of a packet.
const maxPacket = 1 << 20

// packetBytes is about how long packets are.
const packetBytes = 1 << 16

// ErrDamaged is wrapped by the error of a stream that is not what was written.
var ErrDamaged = errors.New("damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func castagnoli(payload []byte) uint32 {
	return crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli))
}

// packets carries payloads over a stream: w writes, or r reads.
type packets struct {
	w *bufio.Writer
	r *bufio.Reader
}

func (f packets) write(payload []byte) error {
	head := binary.AppendUvarint(nil, uint64(len(payload)))
	f.w.Write(head) // the error of a bufio.Writer sticks
	f.w.Write(payload)
	_, err := f.w.Write(binary.LittleEndian.AppendUint32(nil, castagnoli(payload)))
	return err
}

// read returns the next payload, in the memory of old if it fits.
func (f packets) read(old []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(f.r)
	switch {
	case err != nil:
		return nil, cutOff(err)
	case n > maxPacket:
		return nil, damaged("a packet of %d bytes", n)
	}
	if uint64(cap(old)) < n+4 {
		old = make([]byte, n+4)
	}
	old = old[:n+4]
	if _, err := io.ReadFull(f.r, old); err != nil {
		return nil, cutOff(err)
	}
	payload := old[:n]
	if sum := binary.LittleEndian.Uint32(old[n:]); sum != castagnoli(payload) {
		return nil, damaged("a checksum does not fit")
	}
	return payload, nil
}

// cutOff says of the end of the input that it comes too early.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged("it ends in the middle")
	}
	return err
}
