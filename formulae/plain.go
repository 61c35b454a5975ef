package formulae

import (
	"encoding/binary"
	"math"
	"reflect"
)

// How a payload of stat mode is coded. The first is nearly always shorter; the second has a
// length that can be told beforehand.
const (
	codedPacked = iota
	codedPlain
)

// packShort returns values as a block: packed or plain, whichever is shorter.
func packShort(t *tables, v any) []byte {
	packed, plain := pack(t, v), packPlain(v)
	if len(plain) < len(packed) {
		return append([]byte{codedPlain}, plain...)
	}
	return append([]byte{codedPacked}, packed...)
}

// unpackShort fills in what packShort was given.
func unpackShort(t *tables, block []byte, v any) error {
	if len(block) == 0 || block[0] > codedPlain {
		return errDamaged
	}
	if block[0] == codedPacked {
		return unpack(t, block[1:], v)
	}
	p := &packer{columnCoder: &columnCoder{plain: true, limit: uint64(len(block)+8) * perByte}}
	p.coder.decoding, p.coder.buf = true, block[1:]
	p.values([]reflect.Value{reflect.ValueOf(v).Elem()})
	if p.damaged {
		return errDamaged
	}
	return nil
}

// packPlain returns values without strings as columns of differences, zigzag, as uvarints.
func packPlain(v any) []byte {
	p := &packer{columnCoder: &columnCoder{plain: true, limit: math.MaxUint64}}
	p.values([]reflect.Value{reflect.ValueOf(v).Elem()})
	return p.coder.buf
}

// uvarint codes the next number of a column that is plain.
func (c *columnCoder) uvarint(v uint64) uint64 {
	d := zigzag(int64(v - c.last))
	if c.coder.decoding {
		n := 0
		d, n = binary.Uvarint(c.coder.buf[min(c.coder.pos, len(c.coder.buf)):])
		if n <= 0 {
			c.damaged, d, n = true, 0, 0
		}
		c.coder.pos += n
	} else {
		c.coder.buf = binary.AppendUvarint(c.coder.buf, d)
	}
	c.last += uint64(unzigzag(d))
	return c.last
}
