package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"unicode/utf8"
)

// ErrShort says that a record ends before the fields that it must have.
var ErrShort = errors.New("the record is too short")

// A Cursor reads binary fields from a record. Its first error sticks: read all fields,
// then look at Err once. After an error every field is zero.
//
//	0 <= Pos <= len(Data)
type Cursor struct {
	Data      []byte
	Pos       int
	BigEndian bool
	Err       error
}

// Fail sets the error unless there is one.
func (c *Cursor) Fail(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

// Len returns the number of bytes that are left; 0 after an error.
func (c *Cursor) Len() int {
	if c.Err != nil {
		return 0
	}
	return len(c.Data) - c.Pos
}

// Bytes reads n bytes; nil if there are fewer. They share memory with Data.
func (c *Cursor) Bytes(n int) []byte {
	if n < 0 || n > c.Len() {
		c.Fail(ErrShort)
		return nil
	}
	b := c.Data[c.Pos : c.Pos+n]
	c.Pos += n
	return b
}

// Uint8 reads one byte.
func (c *Cursor) Uint8() uint8 {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 reads two bytes in the cursor's byte order.
func (c *Cursor) Uint16() uint16 {
	b := c.Bytes(2)
	if b == nil {
		return 0
	}
	if c.BigEndian {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// Uint32 reads four bytes in the cursor's byte order.
func (c *Cursor) Uint32() uint32 {
	b := c.Bytes(4)
	if b == nil {
		return 0
	}
	if c.BigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// Uint64 reads eight bytes in the cursor's byte order.
func (c *Cursor) Uint64() uint64 {
	b := c.Bytes(8)
	if b == nil {
		return 0
	}
	if c.BigEndian {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// CString reads a text up to and with its terminating zero byte, which is left out.
func (c *Cursor) CString() string {
	if c.Err != nil {
		return ""
	}
	n := bytes.IndexByte(c.Data[c.Pos:], 0)
	if n < 0 {
		c.Fail(ErrShort)
		return ""
	}
	s := string(c.Data[c.Pos : c.Pos+n])
	c.Pos += n + 1
	return s
}

// Count bounds a count that a record states: if the rest of the record cannot hold that
// many items of size bytes at least, the count is an error and 0 is returned. So slices
// made of the result are never longer than the input.
func (c *Cursor) Count(n uint64, size int) int {
	if n > uint64(c.Len()/max(size, 1)) {
		c.Fail(ErrShort)
		return 0
	}
	return int(n)
}

// NameLimit is how many bytes of a name are kept: tables, pictures and documents repeat names.
// The longest that compilers make have a few thousand.
const NameLimit = 16 << 10

// CutName returns a name of at most NameLimit bytes and a few more: the begin of a longer one,
// with its length and a hash, so that different names stay different.
func CutName(name string) string {
	if len(name) <= NameLimit {
		return name
	}
	end := NameLimit
	for end > NameLimit-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return fmt.Sprintf("%s… (%d bytes, %016x)", name[:end], len(name), h.Sum64())
}
