package symbols

import (
	"tracekit/codec"
	"tracekit/formulae/partners"
	"tracekit/trace"
)

// An entry is a symbol as the file has it: its lists are numbered over the whole file,
// and if it is relative its peer is the difference to the own rank.
type entry struct {
	symbol
	relative bool
}

// A Dictionary numbers the entries of a file (docs/internals/TKF.md, Classes), in order of first use.
// Locations number their symbols themselves; a class says which entries these are.
type Dictionary struct {
	entries []entry
	index   map[entry]uint32
	lists   []string // lists[0] is empty
	listed  map[string]uint32
}

// NewDictionary returns an empty dictionary.
func NewDictionary() *Dictionary {
	return &Dictionary{index: make(map[entry]uint32), lists: []string{""}, listed: map[string]uint32{"": 0}}
}

// add returns the number of an entry, which may be new.
func (d *Dictionary) add(e entry) uint32 { return number(&d.entries, d.index, e) }

// list returns the number of a list, which may be new.
func (d *Dictionary) list(l string) uint32 { return number(&d.lists, d.listed, l) }

func number[T comparable](all *[]T, index map[T]uint32, x T) uint32 {
	id, ok := index[x]
	if !ok {
		id = uint32(len(*all))
		*all, index[x] = append(*all, x), id
	}
	return id
}

// A groupedNumber is one number for each member of a class: the same for all but the
// members in sets. In a stencil all ranks but those at an edge have the same entry, and the
// ranks at an edge are one set however many there are.
type groupedNumber struct {
	rest   uint32
	others []exception
}

type exception struct {
	number uint32
	set    []stridedSet // of positions among the members
}

// of returns the number of the member at a position.
func (g *groupedNumber) of(position uint64) uint32 {
	for i := range g.others {
		if hasAny(g.others[i].set, position) {
			return g.others[i].number
		}
	}
	return g.rest
}

// group writes numbers by position as the most frequent one and exceptions in order of
// their first position.
func group(numbers []uint32) groupedNumber {
	count := make(map[uint32]int)
	var order []uint32
	for _, n := range numbers {
		if count[n]++; count[n] == 1 {
			order = append(order, n)
		}
	}
	var g groupedNumber
	g.rest = order[0]
	for _, n := range order {
		if count[n] > count[g.rest] {
			g.rest = n
		}
	}
	if len(order) == 1 {
		return g
	}
	positions := make(map[uint32][]uint32)
	for i, n := range numbers {
		if n != g.rest {
			positions[n] = append(positions[n], uint32(i))
		}
	}
	for _, n := range order {
		if n != g.rest {
			g.others = append(g.others, exception{n, stridedSets(positions[n])})
		}
	}
	return g
}

// A Class is a set of locations with the same sequence of symbols, told by its numbers; it
// says what the numbers mean on each of them.
type Class struct {
	Members []trace.LocationID // ascending
	symbols []groupedNumber    // entry of each symbol
}

// Classify makes the class of locations with equal sequences; tables are theirs, in the same
// order. For each symbol it decides whether peers are told relative to the own rank
// (docs/DEFINITIONS.md 1.4).
func (d *Dictionary) Classify(ranks *partners.Ranks, members []trace.LocationID, tables []*Table) Class {
	c := Class{Members: members, symbols: make([]groupedNumber, len(tables[0].symbols))}
	own := make([]entry, len(members))
	rel := make([]entry, len(members))
	for k := range c.symbols {
		relative := true
		for i, l := range members {
			own[i] = d.portable(tables[i], k)
			rel[i] = own[i]
			relative = rel[i].toRelative(ranks, l) && relative
		}
		if relative && d.shorter(rel, own) {
			c.symbols[k] = d.group(rel)
		} else {
			c.symbols[k] = d.group(own)
		}
	}
	return c
}

// portable returns symbol k of a location's table with the lists of the file.
func (d *Dictionary) portable(t *Table, k int) entry {
	e := entry{symbol: t.symbols[k]}
	e.list = d.list(t.lists[e.list])
	e.attrs = d.list(t.lists[e.attrs])
	return e
}

// toRelative makes the peer of a closed point-to-point symbol relative.
func (e *entry) toRelative(ranks *partners.Ranks, l trace.LocationID) bool {
	if e.kind.Table() != trace.TableP2P || e.open {
		return false
	}
	difference, ok := ranks.Relative(l, e.ref, e.peer)
	e.peer, e.relative = uint32(codec.Zigzag(uint64(difference))), true
	return ok
}

// shorter reports whether relative ranks make fewer different entries than absolute ones,
// or as many, of which more are in the dictionary already.
func (d *Dictionary) shorter(rel, own []entry) bool {
	nr, knownRel := d.variety(rel)
	no, knownOwn := d.variety(own)
	return nr < no || nr == no && knownRel >= knownOwn
}

// variety counts different entries, and those of them that the dictionary has.
func (d *Dictionary) variety(entries []entry) (different, known int) {
	seen := make(map[entry]bool)
	for _, e := range entries {
		if !seen[e] {
			seen[e] = true
			if _, ok := d.index[e]; ok {
				known++
			}
		}
	}
	return len(seen), known
}

// group numbers entries and writes the numbers by position.
func (d *Dictionary) group(entries []entry) groupedNumber {
	numbers := make([]uint32, len(entries))
	for i, e := range entries {
		numbers[i] = d.add(e)
	}
	return group(numbers)
}

// Table returns the symbols of the member at a position of a class. ok is false if an
// entry or its peer does not exist.
func (d *Dictionary) Table(ranks *partners.Ranks, c *Class, position int) (t *Table, ok bool) {
	t = NewTable()
	t.lists = d.lists
	for i := range c.symbols {
		n := c.symbols[i].of(uint64(position))
		if uint64(n) >= uint64(len(d.entries)) {
			return nil, false
		}
		e := d.entries[n]
		if e.relative {
			if e.peer, ok = ranks.Absolute(c.Members[position], e.ref, int64(codec.Unzigzag(uint64(e.peer)))); !ok {
				return nil, false
			}
		}
		t.symbols = append(t.symbols, e.symbol)
		t.hashes = append(t.hashes, e.symbol.hash())
	}
	return t, true
}
