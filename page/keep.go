package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"

	"tracekit/codec"
	"tracekit/spill"
	"tracekit/trace"
)

// An index that is kept is a stream of package codec: its line, with the version of what follows;
// the key; the title, the parts of the page and what the caller says, as JSON; the index
// (Index.code).
const keptLine = "tracekit timeline 3"

// KeptSuffix is the end of names of index files.
const KeptSuffix = ".tracekit-index"

// A Key says of what an index was made.
type Key [32]byte

// Kept is what is kept beside an index.
type Kept struct {
	Content Content         `json:"content"`
	About   json.RawMessage `json:"about"` // the caller's
}

var (
	// ErrNoIndex: a file is something else.
	ErrNoIndex = errors.New("it is not an index of this version of tracekit")
	// ErrOtherKey: an index was made of something else.
	ErrOtherKey = errors.New("the index was built from another trace or with other options")
)

// Keep writes the index, for ReadIndex.
func (x *Index) Keep(to io.Writer, key Key, content *Content, about any) error {
	k := Kept{Content: *content}
	var err error
	if k.About, err = json.Marshal(about); err != nil {
		return err
	}
	description, err := json.Marshal(k)
	if err != nil {
		return err
	}
	c := codec.NewWriter(to, keptLine)
	made := key[:]
	codec.Block(c, &made)
	codec.Block(c, &description)
	x.code(c)
	if err := c.Close(); err != nil {
		return err
	}
	return x.store.Err()
}

// ReadIndex reads what Keep wrote into a store, for answers made by so many jobs. It believes nothing: what it returns without an
// error may be asked for tiles. An index that is not as it was written is a codec.ErrDamaged.
func ReadIndex(from io.Reader, key Key, store *spill.Store, jobs int) (*Index, *Kept, error) {
	c := codec.NewReader(from, keptLine)
	if c.Err() != nil {
		return nil, nil, ErrNoIndex
	}
	var made, description []byte
	if codec.Block(c, &made); c.Err() == nil && !bytes.Equal(made, key[:]) {
		return nil, nil, ErrOtherKey
	}
	codec.Block(c, &description)
	k, x := &Kept{}, &Index{store: store, jobs: jobs}
	if c.Err() == nil && (json.Unmarshal(description, k) != nil || !k.Content.harmless()) {
		c.Refuse("its page is not valid")
	}
	x.code(c)
	if err := c.Close(); err != nil {
		return nil, nil, err
	}
	return x, k, store.Err()
}

// code codes all but the store.
func (x *Index) code(c *codec.Coder) {
	if codec.Number(c, &x.length); x.length < 0 || x.length > mostNs {
		c.Refuse("a run of %d ns", x.length) // in either direction: nobody could read it
	}
	codec.List(c, &x.rows, func(r *indexRow) { r.code(c, x.store) })
	rows := codec.Below("row", len(x.rows))
	for k := range x.rows {
		x.rows[k].messages.code(c, x.store, (*Message).received, mostNs, 0,
			codec.Numbers(func(m *Message) *int64 { return &m.SentNs }),
			codec.Numbers(func(m *Message) *uint32 { return &m.From }, rows),
			codec.Numbers(func(m *Message) *uint32 { return &m.To }, rows),
			codec.Numbers(func(m *Message) *uint64 { return &m.Bytes }),
			codec.Numbers(func(m *Message) *trace.CommID { return &m.Comm }),
			codec.Numbers(func(m *Message) *uint32 { return &m.Tag }))
	}
	codec.Table(c, x.store, &x.collectives,
		codec.Numbers(func(o *Collective) *trace.RegionID { return &o.Operation }),
		codec.Numbers(func(o *Collective) *uint32 { return &o.First }),
		codec.Numbers(func(o *Collective) *uint32 { return &o.Last }, rows),
		codec.Numbers(func(o *Collective) *uint32 { return &o.Latest }, rows),
		codec.Numbers(func(o *Collective) *int64 { return &o.BeginNs }),
		codec.Numbers(func(o *Collective) *int64 { return &o.LatestNs }),
		codec.Numbers(func(o *Collective) *int64 { return &o.EndNs }),
		codec.Numbers(func(o *Collective) *trace.CommID { return &o.Comm }),
		codec.Numbers(func(o *Collective) *uint32 { return &o.Members }),
		codec.Numbers(func(o *Collective) *uint32 { return &o.Root }),
		codec.Numbers(func(o *Collective) *uint64 { return &o.Sent }),
		codec.Numbers(func(o *Collective) *uint64 { return &o.Received }),
		func(c *codec.Coder, rows []Collective) {
			for _, o := range rows {
				if c.Reading() && (o.First > o.Last || o.LatestNs < o.BeginNs) {
					c.Refuse("a collective of the rows %d to %d", o.First, o.Last)
				}
			}
		})
	codec.List(c, &x.curves, func(curve **indexCurve) {
		if c.Reading() {
			*curve = &indexCurve{}
		}
		(*curve).code(c, x.store, rows)
	})
}

// code codes what the row does, without its messages.
func (r *indexRow) code(c *codec.Coder, store *spill.Store) {
	codec.List(c, &r.numbers, func(n *uint32) { codec.Number(c, n) })
	codec.List(c, &r.levels, func(l **level) {
		if c.Reading() {
			*l = &level{}
		}
		(*l).resolution.code(c)
		(*l).spans.code(c, store, (*l).end, len(r.numbers))
		if (*l).spans.n == 0 && (*l).end > 0 {
			c.Refuse("nothing until %d ns", (*l).end)
		}
	})
	if len(r.levels) == 0 {
		c.Refuse("a row without runs")
	}
}

func (x *indexCurve) code(c *codec.Coder, store *spill.Store, rows *codec.Bound) {
	codec.Number(c, &x.counter, codec.Within("counter", 0, math.MaxInt32))
	codec.Number(c, &x.row, rows)
	codec.List(c, &x.levels, func(l **curveLevel) {
		if c.Reading() {
			*l = &curveLevel{}
		}
		(*l).resolution.code(c)
		(*l).parts.code(c, store, (*Piece).begin, (*l).end, 0,
			codec.Reals(func(p *Piece) *float64 { return &p.Mean }),
			codec.Reals(func(p *Piece) *float64 { return &p.Min }),
			codec.Reals(func(p *Piece) *float64 { return &p.Max }))
	})
	if len(x.levels) == 0 {
		c.Refuse("a curve without pieces")
	}
}

var (
	partID   = trace.Expression(`^[a-z]+$`)
	partData = trace.Expression(`^[A-Za-z0-9+/=]*$`)
)

// harmless reports whether the parts are data, and no markup.
func (c *Content) harmless() bool {
	for _, p := range c.Parts {
		if !partID().MatchString(p.ID) || !partData().MatchString(p.Data) {
			return false
		}
	}
	return true
}
