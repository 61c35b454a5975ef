// Package symbols makes symbols of events and events of symbols, and says what the symbols of
// several locations have in common.
//
// An event without its time, and without values that follow no rule, is a symbol. A location
// numbers its symbols in order of first use, so that ranks that do the same have the same
// sequences of numbers; a dictionary lists the symbols of a file, and a class of such ranks
// says which of them the numbers mean on each. Sections "Symbols" and "Classes" of docs/internals/TKF.md
// are the specification.
package symbols

import (
	"encoding/binary"
	"slices"

	"tracekit/formulae/internal/coder"
	"tracekit/trace"
)

// A symbol is what an event is, apart from its time and from values that follow no rule.
// Symbols are compared; equal events have equal symbols. How the fields are used depends
// on the kind:
//
//	         ref      peer     tag     size   received
//	flow     region   context  unwind
//	p2p      comm     peer     tag     bytes
//	coll     comm     root             sent   received
//	metric   metric                                     list: types of the values
//	other                      number                   list: arguments
//
// If a symbol is open, peer, size and received (for other events the arguments) are left out of it
// and follow as values, and so do tags. The values of metrics and attributes always do.
type symbol struct {
	kind     trace.Kind
	op       trace.CollectiveOp
	open     bool
	how      requestCode
	ref      uint32
	peer     uint32
	tag      uint32
	list     uint32 // number of a list, 0 if there is none
	attrs    uint32 // list of attributes and types
	size     uint64
	received uint64
	request  uint64 // see requestCode
}

// hash returns a hash of what the symbol says that is the same on all ranks.
func (s *symbol) hash() uint32 {
	h := coder.Hash(uint32(s.kind)<<8|uint32(s.op), s.ref)
	h = coder.Hash(h, s.tag)
	if s.kind.Table() == trace.TableFlow {
		h = coder.Hash(h, s.peer)
	}
	return coder.Hash(h, uint32(s.size)^uint32(s.size>>32))
}

// opened returns the symbol with all that may follow as values left out.
func (s symbol) opened() symbol {
	s.open = true
	switch s.kind.Table() {
	case trace.TableP2P, trace.TableColl:
		s.peer, s.tag, s.size, s.received = 0, 0, 0, 0
	case trace.TableOther:
		s.list = 0
	}
	return s
}

// canOpen reports whether events of the kind may be coded with an open symbol.
func (s *symbol) canOpen() bool {
	switch s.kind.Table() {
	case trace.TableP2P, trace.TableColl, trace.TableOther:
		return true
	}
	return false
}

// A Table numbers the symbols of a location in order of first use, and the lists
// that they refer to.
type Table struct {
	symbols []symbol
	hashes  []uint32
	index   map[symbol]uint32
	variety map[symbol]int // closed symbols of each open one
	lists   []string       // lists[0] is empty
	listed  map[string]uint32
	sums    []uint32 // hashes of lists, see Full

	asAttributes map[uint32][]attribute
	asArgs       map[uint32][]uint64
}

// maxVariety is the number of symbols that may differ in their values alone; beyond it
// the values are coded apart. maxLists bounds the lists of a location likewise.
const (
	maxVariety = 256
	maxLists   = 1 << 14
)

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{index: make(map[symbol]uint32), variety: make(map[symbol]int),
		lists: []string{""}, listed: map[string]uint32{"": 0},
		asAttributes: make(map[uint32][]attribute), asArgs: make(map[uint32][]uint64)}
}

// Freeze drops what numbers further symbols. Of many locations each keeps a table until all are
// read, and most of a table is the way to find a symbol in it.
func (t *Table) Freeze() {
	*t = Table{symbols: slices.Clip(slices.Clone(t.symbols)), lists: t.lists}
}

// Len returns the number of symbols.
func (t *Table) Len() int { return len(t.symbols) }

// Hash returns a hash of what a symbol says that is the same on all ranks.
func (t *Table) Hash(id uint32) uint32 { return t.hashes[id] }

// Full returns a hash of a symbol that differs from Hash in that the attributes, and the arguments or types, count.
func (t *Table) Full(id uint32) uint32 {
	for len(t.sums) < len(t.lists) {
		sum := uint32(0)
		for _, b := range []byte(t.lists[len(t.sums)]) {
			sum = coder.Hash(sum, uint32(b))
		}
		t.sums = append(t.sums, sum)
	}
	s := &t.symbols[id]
	return coder.Hash(coder.Hash(t.hashes[id], t.sums[s.attrs]), t.sums[s.list])
}

// admits reports whether a new closed symbol may be added, and counts it.
func (t *Table) admits(s *symbol) bool {
	if !s.canOpen() {
		return true
	}
	o := s.opened()
	t.variety[o]++
	return t.variety[o] <= maxVariety
}

// add numbers a new symbol.
func (t *Table) add(s symbol) uint32 {
	id := uint32(len(t.symbols))
	t.symbols = append(t.symbols, s)
	t.hashes = append(t.hashes, s.hash())
	t.index[s] = id
	return id
}

// full reports whether a list is new and one too many.
func (t *Table) full(l []byte) bool {
	_, ok := t.listed[string(l)]
	return !ok && len(t.lists) >= maxLists
}

// list returns the number of a list, which may be new.
func (t *Table) list(l []byte) uint32 {
	if id, ok := t.listed[string(l)]; ok {
		return id
	}
	id := uint32(len(t.lists))
	t.lists = append(t.lists, string(l))
	t.listed[string(l)] = id
	return id
}

// An attribute is what a symbol says about an attribute of an event.
type attribute struct {
	id  trace.AttributeID
	typ trace.ValueType
}

// attributes returns the meaning of a list as attributes.
func (t *Table) attributes(list uint32) []attribute {
	return meaning(t, t.asAttributes, list, parseAttributes)
}

// args returns the meaning of a list as arguments.
func (t *Table) args(list uint32) []uint64 { return meaning(t, t.asArgs, list, uvarints) }

// meaning returns what a list stands for. It is parsed once.
func meaning[T any](t *Table, known map[uint32][]T, list uint32, parse func(string) []T) []T {
	if list == 0 {
		return nil
	}
	m, ok := known[list]
	if !ok {
		m = parse(t.lists[list])
		known[list] = m
	}
	return m
}

func parseAttributes(list string) (out []attribute) {
	for b := []byte(list); len(b) > 0; {
		id, n := binary.Uvarint(b)
		if n <= 0 || n == len(b) {
			break
		}
		out = append(out, attribute{trace.AttributeID(id), trace.ValueType(b[n])})
		b = b[n+1:]
	}
	return out
}
