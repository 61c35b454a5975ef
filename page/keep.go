package page

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"regexp"

	"tracekit/spill"
	"tracekit/trace"
)

// An index that is kept is a file of these parts; all numbers are of variable length (base 128,
// the lowest seven bits first; signed ones zigzag) unless told otherwise.
//
//	"tracekit index 1\n": what it is, and the version of this layout
//	32 bytes: a key that says of what it was made
//	length of the description; the description (kept, JSON)
//	for each row: number of levels; for each: step, end, spans; then messages
//	collectives
//	number of curves; for each: counter, row, number of levels; for each: step, end, pieces
//	CRC-32C of all before, 4 bytes, little endian
//
// A list is its length and its entries. A span is its start less that of the one before, and its
// activity in the row's own numbers; a message its times of receive (less that of the one before),
// of receive less of sending (signed), rows and bytes; a collective as in Timeline's numbers; a piece its start (less that of the one
// before), and its mean, least and greatest value as the 8 bytes, little endian, that IEEE 754 has.
const keptMagic = "tracekit index 1\n"

// KeptSuffix is the end of names of index files.
const KeptSuffix = ".tracekit-index"

// A Key says of what an index was made.
type Key [32]byte

// Kept is what is kept beside an index's numbers.
type Kept struct {
	Content  Content         `json:"content"`
	About    json.RawMessage `json:"about"` // the caller's
	LengthNs int64           `json:"length_ns"`
	Numbers  [][]uint32      `json:"numbers"` // by row
}

var (
	// ErrNoIndex: a file is something else.
	ErrNoIndex = errors.New("it is no index of tracekit, or one of another version")
	// ErrOtherKey: an index was made of something else.
	ErrOtherKey = errors.New("the trace, or what is asked of it, is not what the index was made of")
	// errDamaged: an index cannot be as it was written.
	errDamaged = errors.New("the index is damaged")
)

// Keep writes the index, for ReadIndex.
func (x *Index) Keep(to io.Writer, key Key, content *Content, about any) error {
	k := Kept{Content: *content, LengthNs: x.length, Numbers: [][]uint32{}}
	var err error
	if k.About, err = json.Marshal(about); err != nil {
		return err
	}
	for _, r := range x.rows {
		k.Numbers = append(k.Numbers, r.numbers)
	}
	description, err := json.Marshal(k)
	if err != nil {
		return err
	}
	w := &keeper{to: to, sum: newSum()}
	w.b = append(append(w.b, keptMagic...), key[:]...)
	w.unsigned(uint64(len(description)))
	w.b = append(w.b, description...)
	for _, r := range x.rows {
		w.unsigned(uint64(len(r.levels)))
		for _, l := range r.levels {
			w.unsigned(uint64(l.step))
			w.unsigned(uint64(l.end))
			last := int64(0)
			keepTable(w, l.spans.Table, func(s *span) {
				w.unsigned(uint64(s.start - last))
				w.unsigned(uint64(s.activity))
				last = s.start
			})
		}
		last := int64(0)
		keepTable(w, r.messages.Table, func(m *Message) {
			w.unsigned(uint64(m.ReceivedNs - last))
			w.b = binary.AppendVarint(w.b, m.ReceivedNs-m.SentNs)
			w.unsigned(uint64(m.From))
			w.unsigned(uint64(m.To))
			w.unsigned(m.Bytes)
			last = m.ReceivedNs
		})
	}
	keepTable(w, x.collectives, func(c *Collective) {
		one := Timeline{Collectives: []Collective{*c}}
		w.b = one.appendCollectives(w.b)
	})
	w.unsigned(uint64(len(x.curves)))
	for _, c := range x.curves {
		w.unsigned(uint64(c.counter))
		w.unsigned(uint64(c.row))
		w.unsigned(uint64(len(c.levels)))
		for _, l := range c.levels {
			w.unsigned(uint64(l.step))
			w.unsigned(uint64(l.end))
			last := int64(0)
			keepTable(w, l.pieces, func(p *Piece) {
				w.unsigned(uint64(p.StartNs - last))
				for _, v := range []float64{p.Mean, p.Min, p.Max} {
					w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
				}
				last = p.StartNs
			})
		}
	}
	w.flush()
	w.b = binary.LittleEndian.AppendUint32(w.b, w.sum.Sum32())
	w.flush()
	return cmp.Or(w.err, x.store.Err())
}

func newSum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// A keeper writes an index, and goes on after an error without doing so.
type keeper struct {
	to  io.Writer
	sum hash.Hash32
	b   []byte
	err error
}

func (w *keeper) unsigned(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *keeper) flush() {
	_, _ = w.sum.Write(w.b) // it never fails
	if w.err == nil {
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}

func keepTable[T any](w *keeper, table *spill.Table[T], keep func(*T)) {
	w.unsigned(uint64(table.Len()))
	for _, rows := range table.Rows {
		for i := range rows {
			keep(&rows[i])
		}
		w.flush()
	}
}

// ReadIndex reads what Keep wrote, of so many bytes, into a store. It believes nothing: what it
// returns without an error may be asked for tiles.
func ReadIndex(from io.ReaderAt, size int64, key Key, store *spill.Store) (*Index, *Kept, error) {
	head := make([]byte, len(keptMagic)+len(key))
	if _, err := from.ReadAt(head, 0); err != nil || string(head[:len(keptMagic)]) != keptMagic {
		return nil, nil, ErrNoIndex
	}
	if !bytes.Equal(head[len(keptMagic):], key[:]) {
		return nil, nil, ErrOtherKey
	}
	end := size - crc32.Size
	want := make([]byte, crc32.Size)
	if _, err := from.ReadAt(want, max(end, 0)); err != nil || end < int64(len(head)) {
		return nil, nil, errDamaged
	}
	sum := newSum()
	_, _ = sum.Write(head)
	rest := io.NewSectionReader(from, int64(len(head)), end-int64(len(head)))
	r := &unkeeper{from: bufio.NewReaderSize(io.TeeReader(rest, sum), 1<<18)}
	x, k := r.index(store)
	if _, err := r.from.ReadByte(); err != io.EOF || r.damaged || sum.Sum32() != binary.LittleEndian.Uint32(want) {
		return nil, nil, errDamaged
	}
	return x, k, store.Err()
}

// mostNs bounds times that are read, so that their sums are numbers, and mostLevels the levels.
const (
	mostNs     = 1 << 60
	mostLevels = 64
)

// An unkeeper reads an index, and reads zeros once it is damaged.
type unkeeper struct {
	from    *bufio.Reader
	damaged bool
}

func (r *unkeeper) index(store *spill.Store) (*Index, *Kept) {
	var description bytes.Buffer
	n := r.number(math.MaxInt64)
	if m, err := io.CopyN(&description, r.from, n); err != nil || m != n {
		r.damaged = true
		return nil, nil
	}
	k := &Kept{}
	if json.Unmarshal(description.Bytes(), k) != nil || k.LengthNs < 0 || k.LengthNs > mostNs || !k.Content.harmless() {
		r.damaged = true
		return nil, nil
	}
	x := &Index{store: store, length: k.LengthNs}
	for _, numbers := range k.Numbers {
		row := indexRow{numbers: numbers}
		for range r.number(mostLevels) {
			row.levels = append(row.levels, r.level(store, len(numbers)))
			if r.damaged {
				return nil, nil
			}
		}
		last, rows := int64(0), int64(len(k.Numbers))
		row.messages = unkeepOrdered(r, store, func() (m Message, at int64) {
			last += r.number(mostNs - last)
			m.ReceivedNs, m.SentNs = last, last-r.signed()
			m.From, m.To, m.Bytes = uint32(r.number(rows-1)), uint32(r.number(rows-1)), r.unsigned()
			return m, last
		})
		if r.check(len(row.levels) > 0); r.damaged {
			return nil, nil
		}
		x.rows = append(x.rows, row)
	}
	x.collectives = unkeepTable(r, store, func() (c Collective) {
		rows := int64(len(k.Numbers))
		r.check(r.unsigned() == 1)
		c.Operation = trace.RegionID(r.number(math.MaxUint32))
		c.First = uint32(r.number(rows - 1))
		c.Last = c.First + uint32(r.number(rows-1-int64(c.First)))
		c.Latest = uint32(r.number(rows - 1))
		c.BeginNs = r.signed()
		c.LatestNs = c.BeginNs + r.number(math.MaxInt64)
		c.EndNs = c.BeginNs + r.signed()
		return c
	})
	for range r.unsigned() {
		c := &indexCurve{counter: int(r.number(math.MaxInt32)), row: uint32(r.number(int64(len(k.Numbers)) - 1))}
		for range r.number(mostLevels) {
			c.levels = append(c.levels, r.curveLevel(store))
		}
		if r.check(len(c.levels) > 0); r.damaged {
			return nil, nil
		}
		x.curves = append(x.curves, c)
	}
	return x, k
}

// level reads one of a row that has so many activities.
func (r *unkeeper) level(store *spill.Store, activities int) *level {
	l := &level{step: r.number(mostNs), end: r.number(mostNs)}
	next, first := int64(0), true
	l.spans = unkeepOrdered(r, store, func() (s span, at int64) {
		d := r.number(l.end - next)
		r.check(first == (d == 0)) // the first begins at 0, and each behind the one before
		next, first = next+d, false
		return span{next, uint32(r.number(int64(activities) - 1))}, next
	})
	r.check(l.step > 0 && (l.spans.Len() > 0 || l.end == 0))
	return l
}

// curveLevel reads one of a curve.
func (r *unkeeper) curveLevel(store *spill.Store) *curveLevel {
	l := &curveLevel{step: r.number(mostNs), end: r.number(mostNs)}
	last := int64(0)
	l.pieces = unkeepTable(r, store, func() (p Piece) {
		last += r.number(l.end - last)
		p.StartNs = last
		for _, v := range []*float64{&p.Mean, &p.Min, &p.Max} {
			var b [8]byte
			_, err := io.ReadFull(r.from, b[:])
			r.check(err == nil)
			*v = math.Float64frombits(binary.LittleEndian.Uint64(b[:]))
		}
		return p
	})
	r.check(l.step > 0)
	return l
}

func unkeepTable[T any](r *unkeeper, store *spill.Store, row func() T) *spill.Table[T] {
	table := spill.NewTable[T](store)
	for range r.unsigned() {
		if table.Append(row()); r.damaged {
			break
		}
	}
	return table.Sealed()
}

func unkeepOrdered[T any](r *unkeeper, store *spill.Store, row func() (T, int64)) ordered[T] {
	table := newOrdered[T](store)
	for range r.unsigned() {
		one, at := row()
		if table.add(at, one); r.damaged {
			break
		}
	}
	table.seal()
	return table
}

func (r *unkeeper) check(right bool) { r.damaged = r.damaged || !right }

func (r *unkeeper) unsigned() uint64 {
	v, err := binary.ReadUvarint(r.from)
	if err != nil || r.damaged {
		r.damaged = true
		return 0
	}
	return v
}

func (r *unkeeper) signed() int64 {
	v := r.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// number reads an unsigned number that is not larger than a bound.
func (r *unkeeper) number(most int64) int64 {
	v := r.unsigned()
	if most < 0 || v > uint64(most) {
		r.damaged = true
		return 0
	}
	return int64(v)
}

var (
	partID   = regexp.MustCompile(`^[a-z]+$`)
	partData = regexp.MustCompile(`^[A-Za-z0-9+/=]*$`)
)

// harmless reports whether the parts are data, and no markup.
func (c *Content) harmless() bool {
	for _, p := range c.Parts {
		if !partID.MatchString(p.ID) || !partData.MatchString(p.Data) {
			return false
		}
	}
	return true
}
