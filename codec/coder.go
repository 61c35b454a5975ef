package codec

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"tracekit/spill"
)

// A Coder writes values, or reads them in the same order: to a stream, or to memory. Writing changes no
// value, so several Coders may write the same one at the same time. Its first error sticks: code
// everything, then look at Err or Close. What is read after an error is zero.
type Coder struct {
	reading bool
	packets *packets // nil: in memory
	data    []byte   // writing: of the packet so far, or all; reading: what is left of it
	packet  []byte   // reading: memory of the packet
	err     error
}

// ToMemory returns a Coder that appends values to bytes.
func ToMemory(to []byte) *Coder { return &Coder{data: to} }

// FromMemory returns a Coder that reads the values of bytes.
func FromMemory(from []byte) *Coder { return &Coder{reading: true, data: from} }

// Data returns, in memory, what was written, or what is left to be read.
func (c *Coder) Data() []byte { return c.data }

// NewWriter returns a Coder that writes. The line says what the stream is; it has no line break.
func NewWriter(w io.Writer, line string) *Coder {
	c := &Coder{packets: &packets{w: bufio.NewWriterSize(w, packetBytes)}}
	_, c.err = c.packets.w.WriteString(line + "\n")
	return c
}

// NewReader returns a Coder that reads a stream that begins with the line.
func NewReader(r io.Reader, line string) *Coder {
	c := &Coder{reading: true, packets: &packets{r: bufio.NewReaderSize(r, packetBytes)}}
	head := make([]byte, len(line)+1)
	if _, err := io.ReadFull(c.packets.r, head); err != nil || string(head) != line+"\n" {
		c.err = damaged("it does not begin with %q", line)
	}
	return c
}

// Reading reports whether the Coder reads.
func (c *Coder) Reading() bool { return c.reading }

// Err returns the first error. One that wraps ErrDamaged is about the data.
func (c *Coder) Err() error { return c.err }

// Refuse sets the error, unless there is one, to one that wraps ErrDamaged. Inlined into the loops
// over columns it would slow them down.
//
//go:noinline
func (c *Coder) Refuse(format string, args ...any) {
	if c.err == nil {
		c.err = damaged(format, args...)
	}
	if c.reading {
		c.data = nil
	}
}

// Fail sets the error, unless there is one, to one that is not about the data.
func (c *Coder) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Close ends what is written, or checks that nothing follows what was read, and returns the
// first error. It does not close the stream below.
func (c *Coder) Close() error {
	if c.reading && len(c.data) > 0 {
		c.Refuse("there are %d bytes more than values", len(c.data))
	}
	if c.packets == nil {
		return c.err
	}
	if c.reading {
		if c.next(); c.err == nil && len(c.data) > 0 {
			c.Refuse("there is more than values")
		}
		if _, err := c.packets.r.ReadByte(); c.err == nil && err != io.EOF {
			c.Refuse("something follows its end")
		}
		return c.err
	}
	c.flush(1)
	if c.err == nil {
		if c.err = c.packets.write(nil); c.err == nil {
			c.err = c.packets.w.Flush()
		}
	}
	return c.err
}

// flush writes a packet if there are so many bytes for one.
func (c *Coder) flush(atLeast int) {
	if len(c.data) < atLeast || c.err != nil {
		return
	}
	c.err = c.packets.write(c.data)
	c.data = c.data[:0]
}

// next reads a packet.
func (c *Coder) next() {
	if c.err != nil {
		return
	}
	if c.packet, c.err = c.packets.read(c.packet); c.err == nil {
		c.data = c.packet
	}
}

// begin is called before values that lie in one packet: it makes room for them, or finds them.
func (c *Coder) begin() {
	switch {
	case c.packets == nil:
	case !c.reading:
		c.flush(packetBytes)
	case len(c.data) == 0 && c.err == nil:
		if c.next(); c.err == nil && len(c.data) == 0 {
			c.Refuse("it ends before its values do")
		}
	}
}

// uvarint codes a value within a packet. Most are small.
func (c *Coder) uvarint(v uint64) uint64 {
	switch {
	case !c.reading:
		c.data = binary.AppendUvarint(c.data, v)
		return v
	case len(c.data) > 0 && c.data[0] < 0x80:
		v := c.data[0]
		c.data = c.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(c.data)
	if n <= 0 {
		c.numberCut()
		return 0
	}
	c.data = c.data[n:]
	return v
}

// Uvarint codes a number as it is, and returns it.
func (c *Coder) Uvarint(v uint64) uint64 {
	if c.packets != nil || c.reading {
		c.begin()
		return c.uvarint(v)
	}
	c.data = binary.AppendUvarint(c.data, v)
	return v
}

// Varint codes a number of either sign, and returns it.
func (c *Coder) Varint(v int64) int64 { return int64(Unzigzag(c.Uvarint(Zigzag(uint64(v))))) }

// Integer are the types of numbers.
type Integer interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int | ~int32 | ~int64
}

// Unsigned codes a number that is not negative.
func Unsigned[N Integer](c *Coder, v *N, bounds ...*Bound) { take(c, v, c.Uvarint(uint64(*v)), bounds) }

// Number codes a number of either sign.
func Number[N Integer](c *Coder, v *N, bounds ...*Bound) {
	take(c, v, Unzigzag(c.Uvarint(Zigzag(uint64(*v)))), bounds)
}

func (c *Coder) numberCut()      { c.Refuse("a number is cut off") }
func (c *Coder) numberTooLarge() { c.Refuse("a number is out of range") }

// narrow returns a number as one of a type that may not hold it.
func narrow[N Integer](c *Coder, v uint64) N {
	n := N(v)
	if uint64(n) != v {
		c.numberTooLarge()
	}
	return n
}

// take makes v the number that was read, unless its type or its bounds do not allow it.
func take[N Integer](c *Coder, v *N, coded uint64, bounds []*Bound) {
	if !c.reading {
		return
	}
	n := narrow[N](c, coded)
	for _, b := range bounds {
		b.check(c, coded)
	}
	if *v = n; c.err != nil {
		*v = 0
	}
}

// truths are truth values as numbers.
var truths = Below("truth value", 2)

// Flag codes a truth value.
func Flag(c *Coder, v *bool) {
	n := uint8(0)
	if *v {
		n = 1
	}
	if Number(c, &n, truths); c.reading {
		*v = n == 1
	}
}

// Real codes a floating-point number, bit by bit.
func Real(c *Coder, v *float64) {
	bits := math.Float64bits(*v)
	if Number(c, &bits); c.reading {
		*v = math.Float64frombits(bits)
	}
}

// Optional codes what a pointer refers to, if it refers to anything.
func Optional[T any](c *Coder, v **T, code func(*T)) {
	there := *v != nil
	Flag(c, &there)
	if c.reading {
		*v = nil
		if there && c.err == nil {
			*v = new(T)
		}
	}
	if *v != nil {
		code(*v)
	}
}

// maxText is the longest text.
const maxText = 1 << 17

// Text codes a text, of which no more than 128 KiB are kept.
func Text[S ~string](c *Coder, v *S) {
	c.begin()
	if !c.reading {
		s := (*v)[:min(len(*v), maxText)]
		c.uvarint(uint64(len(s)))
		c.data = append(c.data, s...)
		return
	}
	n := c.uvarint(0)
	if n > uint64(len(c.data)) {
		c.Refuse("a text is cut off")
		n = 0
	}
	*v = S(c.data[:n])
	c.data = c.data[n:]
}

// lengths are those of lists, blocks and tables.
var lengths = Within("length", 0, math.MaxInt)

// List codes a list by coding its items.
func List[T any](c *Coder, list *[]T, item func(*T)) {
	n := len(*list)
	Number(c, &n, lengths)
	Items(c, list, n, item)
}

// Items codes the n items of a list. Memory grows with what is read, not with what is announced.
func Items[T any](c *Coder, list *[]T, n int, item func(*T)) {
	if !c.reading {
		for i := range *list {
			item(&(*list)[i])
		}
		return
	}
	*list = nil
	for i := 0; i < n && c.err == nil; i++ {
		var v T
		item(&v)
		*list = append(*list, v)
	}
}

// blockRows is the number of rows whose columns lie side by side in one packet.
const blockRows = 1 << 10

// A Column codes one field of rows.
type Column[T any] func(c *Coder, rows []T)

// Numbers is the column of a field that is a number.
func Numbers[T any, N Integer](field func(*T) *N, bounds ...*Bound) Column[T] {
	return func(c *Coder, rows []T) {
		if !c.reading {
			writeNumbers(c, rows, field)
			return
		}
		readNumbers(c, rows, field)
		for _, b := range bounds {
			for i := range rows {
				if v := uint64(*field(&rows[i])); !b.plain(v) && !b.check(c, v) {
					return
				}
			}
		}
	}
}

// Packed is Numbers of a number that is no field of its own.
func Packed[T any, N Integer](get func(*T) N, set func(*T, N), bounds ...*Bound) Column[T] {
	numbers := Numbers(func(v *N) *N { return v }, bounds...)
	return func(c *Coder, rows []T) {
		values := make([]N, len(rows))
		for i := range rows {
			values[i] = get(&rows[i])
		}
		if numbers(c, values); !c.reading {
			return
		}
		for i, v := range values {
			set(&rows[i], v)
		}
	}
}

// How the numbers of a column are coded.
const (
	unevenColumn = iota // each as the difference to the one above it
	evenColumn          // that difference is always the same
)

func writeNumbers[T any, N Integer](c *Coder, rows []T, field func(*T) *N) {
	wide := func(i int) uint64 { return uint64(*field(&rows[i])) }
	first, step, even := wide(0), uint64(0), 1
	if len(rows) > 1 {
		step = wide(1) - first
	}
	for even < len(rows) && wide(even)-wide(even-1) == step {
		even++
	}
	if even == len(rows) {
		c.uvarint(evenColumn)
		c.uvarint(Zigzag(first))
		c.uvarint(Zigzag(step))
		return
	}
	c.uvarint(unevenColumn)
	above := uint64(0)
	for i := range rows {
		now := wide(i)
		c.data = binary.AppendUvarint(c.data, Zigzag(now-above))
		above = now
	}
}

// readNumbers reads a column. What is left of the packet stays in variables meanwhile: most of the
// time of reading is spent here.
func readNumbers[T any, N Integer](c *Coder, rows []T, field func(*T) *N) {
	kind := c.uvarint(0)
	if kind == evenColumn {
		v := Unzigzag(c.uvarint(0))
		step := Unzigzag(c.uvarint(0))
		for i := range rows {
			*field(&rows[i]) = narrow[N](c, v)
			v += step
		}
		return
	}
	if kind != unevenColumn {
		c.Refuse("a column of kind %d", kind)
	}
	data, at, v := c.data, 0, uint64(0)
	for i := range rows {
		if at < len(data) && data[at] < 0x80 {
			v += Unzigzag(uint64(data[at]))
			at++
		} else {
			more, n := binary.Uvarint(data[at:])
			if n <= 0 {
				c.numberCut()
				return
			}
			v += Unzigzag(more)
			at += n
		}
		n := N(v)
		if uint64(n) != v {
			c.numberTooLarge()
			return
		}
		*field(&rows[i]) = n
	}
	c.data = data[at:]
}

// Flags is the column of a field that is a truth value.
func Flags[T any](field func(*T) *bool) Column[T] {
	return func(c *Coder, rows []T) {
		bits := make([]bit, len(rows))
		for i := range rows {
			if *field(&rows[i]) {
				bits[i] = 1
			}
		}
		Numbers(func(b *bit) *bit { return b })(c, bits)
		for i, b := range bits {
			if b > 1 {
				c.Refuse("a truth value is %d", b)
			}
			*field(&rows[i]) = b == 1
		}
	}
}

// Reals is the column of a field that is a floating-point number, bit by bit.
func Reals[T any](field func(*T) *float64) Column[T] {
	return func(c *Coder, rows []T) {
		bits := make([]uint64, len(rows))
		for i := range rows {
			bits[i] = math.Float64bits(*field(&rows[i]))
		}
		Numbers(func(b *uint64) *uint64 { return b })(c, bits)
		for i, b := range bits {
			*field(&rows[i]) = math.Float64frombits(b)
		}
	}
}

// A bit is a truth value as a number.
type bit uint8

// Bytes is the column of rows that are bytes.
func Bytes(c *Coder, rows []byte) {
	if !c.reading {
		c.data = append(c.data, rows...)
		return
	}
	if len(c.data) < len(rows) {
		c.Refuse("bytes are cut off")
		return
	}
	copy(rows, c.data)
	c.data = c.data[len(rows):]
}

// Block codes bytes. Memory grows with what is read, not with what is announced.
func Block(c *Coder, block *[]byte) {
	n := len(*block)
	if Number(c, &n, lengths); c.reading {
		*block = nil
	}
	for at := 0; at < n && c.err == nil; at += blockRows {
		if c.reading {
			*block = append(*block, make([]byte, min(blockRows, n-at))...)
		}
		c.begin()
		Bytes(c, (*block)[at:min(at+blockRows, n)])
	}
}

// streamPiece is the number of bytes of a stream that are in memory.
const streamPiece = 1 << 15

// Stream codes all bytes of from or, reading, gives them to the writer to. An error of these is the
// Coder's.
func Stream(c *Coder, from io.Reader, to io.Writer) {
	for piece := make([]byte, streamPiece); c.err == nil; {
		n := 0
		if !c.reading {
			var err error
			if n, err = io.ReadFull(from, piece); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				c.err = err
				return
			}
		}
		if Number(c, &n, Within("length", 0, streamPiece)); n == 0 || c.err != nil {
			return
		}
		c.begin()
		if Bytes(c, piece[:n]); c.reading && c.err == nil {
			_, c.err = to.Write(piece[:n])
		}
	}
}

// Table codes a table by its columns; one that is read is made in the store, sealed.
func Table[T any](c *Coder, store *spill.Store, table **spill.Table[T], columns ...Column[T]) {
	n := (*table).Len()
	Number(c, &n, lengths)
	var made *spill.Table[T]
	if c.reading {
		made = spill.NewTable[T](store)
	}
	rows := make([]T, min(blockRows, n))
	for first := 0; first < n && c.err == nil; first += len(rows) {
		rows = rows[:min(len(rows), n-first)]
		if c.reading {
			clear(rows)
		} else {
			(*table).Copy(rows, first)
		}
		c.begin()
		for _, column := range columns {
			column(c, rows)
		}
		if c.reading && c.err == nil {
			made.AppendRows(rows)
		}
	}
	if c.reading {
		*table = made.Sealed()
	}
}

// Zigzag makes differences that are small, of whatever sign, small numbers.
func Zigzag(v uint64) uint64 { return v<<1 ^ uint64(int64(v)>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }
