package page

import (
	"encoding/binary"
	"sort"

	"tracekit/codec"
	"tracekit/spill"
)

// A span lasts until the next one begins, the last until the end of the run.
type span struct {
	start    int64 // ns
	activity uint32
}

func (s *span) begin() *int64 { return &s.start }

// Spans are kept in order of their begin, of which no two have the same, as bytes: of each how long
// after the one before it begins, and the activity, as variable-length integers. So most take three
// bytes, and an index of a long run need not be spilled. Posts tell where to begin to read.
type spans struct {
	bytes *spill.Table[byte]
	posts []post // of the spans 0, postEvery, 2·postEvery …
	n     int
	last  int64 // begin of the last, ns
}

type post struct {
	start int64 // ns
	at    int   // byte behind the begin of the span
}

func newSpans(store *spill.Store) spans { return spans{bytes: spill.NewTable[byte](store)} }

func (s *spans) add(x span) {
	var b [2 * binary.MaxVarintLen64]byte
	n := binary.PutUvarint(b[:], uint64(x.start-s.last))
	if s.n%postEvery == 0 {
		s.posts = append(s.posts, post{x.start, s.bytes.Len() + n})
	}
	n += binary.PutUvarint(b[n:], uint64(x.activity))
	s.bytes.AppendRows(b[:n])
	s.n, s.last = s.n+1, x.start
}

// seal ends the growth.
func (s *spans) seal() { s.bytes = s.bytes.Sealed() }

// move moves the spans into another store.
func (s *spans) move(to *spill.Store) { s.bytes = moved(s.bytes, to) }

// from reads from span i on; there is one.
func (s *spans) from(i int) *spanReader {
	p := s.posts[i/postEvery]
	r := &spanReader{bytes: s.bytes, at: p.at, span: span{start: p.start}}
	r.rows = s.bytes.From(p.at)
	r.span.activity = uint32(r.number())
	for range i % postEvery {
		r.next()
	}
	return r
}

// before returns how many spans lie before the first with a begin that is past.
func (s *spans) before(past func(int64) bool) int {
	k := sort.Search(len(s.posts), func(i int) bool { return past(s.posts[i].start) })
	if k == 0 {
		return 0
	}
	first := (k - 1) * postEvery
	r := s.from(first)
	for i := first; ; i++ {
		if past(r.span.start) {
			return i
		}
		if i+1 == min(first+postEvery, s.n) {
			return i + 1
		}
		r.next()
	}
}

// A spanReader goes from span to span.
type spanReader struct {
	span  span
	bytes *spill.Table[byte]
	rows  []byte // that lie beside each other
	at    int    // of the first of them in the table
}

// next goes to the span that follows; there is one.
func (r *spanReader) next() {
	r.span.start += int64(r.number())
	r.span.activity = uint32(r.number())
}

func (r *spanReader) number() uint64 {
	v, n := binary.Uvarint(r.rows)
	if n > 0 {
		r.at, r.rows = r.at+n, r.rows[n:]
		return v
	}
	var b [binary.MaxVarintLen64]byte // the number goes on where the next rows lie
	v, n = binary.Uvarint(b[:r.bytes.Copy(b[:], r.at)])
	r.at += n
	r.rows = r.bytes.From(r.at)
	return v
}

// code codes the spans by their rows, as ordered.code does. The first begins at 0; they are of so many activities.
func (s *spans) code(c *codec.Coder, store *spill.Store, last int64, activities int) {
	rows := newOrdered(store, (*span).begin)
	if !c.Reading() && s.n > 0 {
		r := s.from(0)
		rows.Append(r.span)
		for range s.n - 1 {
			r.next()
			rows.Append(r.span)
		}
	}
	rows.code(c, store, (*span).begin, last, 1,
		codec.Numbers(func(x *span) *uint32 { return &x.activity }, codec.Below("activity", activities)))
	if c.Reading() && rows.Len() > 0 && rows.Ptr(0).start > 0 {
		c.Refuse("what is done does not begin at 0")
	}
	if c.Reading() && c.Err() == nil {
		*s = newSpans(store)
		for _, some := range rows.Rows {
			for _, x := range some {
				s.add(x)
			}
		}
		s.seal()
	}
	rows.Release()
}
