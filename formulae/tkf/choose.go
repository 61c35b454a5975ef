package tkf

import (
	"slices"

	"tracekit/formulae"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A choice says of which locations the events are kept exactly, and of which formulae.
type choice struct {
	locations []formulae.Location // those that are exact have a sequence, and no formulae
	bound     int64               // of the file, definitions left out
	parts     []*exact            // by location; nil: formulae
	directory directory
	classes   []byte // section of the directory; nil: nothing is exact
}

// A candidate is a class of locations with equal sequences.
type candidate struct {
	members []trace.LocationID
	bytes   int64 // of the sequences, with a directory of their own
	packed  int64 // of the formulae instead
	learned bool  // they say all that the sequences do
}

// choose keeps the events of locations exactly if that is cheaper than their formulae. If these did not learn all, it may also cost more,
// but no more than the bound of these formulae.
func (c *compressor) choose(p *formulae.Program, parts []*exact) *choice {
	out := &choice{bound: boundOf(p.Locations), locations: slices.Clone(p.Locations), parts: make([]*exact, len(parts))}
	ranks := partners.RanksOf(c.src.Defs())
	var chosen []candidate
	for _, m := range sequencesOf(parts) {
		if k := c.candidate(ranks, p, parts, m); k.bytes <= k.packed || !k.learned {
			chosen = append(chosen, k)
		}
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int { return int(min(max(a.bytes-b.bytes, -1), 1)) })
	for ; len(chosen) > 0; chosen = chosen[:len(chosen)-1] { // the largest goes until the rest has room
		for l := range out.parts {
			out.parts[l] = nil
		}
		for _, k := range chosen {
			for _, l := range k.members {
				out.parts[l] = parts[l]
			}
		}
		if size := out.direct(c, ranks); size <= roomOf(p.Locations, out.parts) {
			out.open(c, ranks)
			return out.ordered()
		}
	}
	for l := range out.parts {
		out.parts[l] = nil
	}
	out.classes = nil
	return out.ordered()
}

// ordered lets no single event have a time of its own where the order of events is made up.
func (c *choice) ordered() *choice {
	for l := range c.locations {
		if x := &c.locations[l]; x.Sequence == nil && !learned(x.Tree) {
			x.Far = nil
		}
	}
	return c
}

// sequencesOf returns the classes of locations with equal sequences that may be kept.
func sequencesOf(parts []*exact) [][]trace.LocationID {
	return membersOf(len(parts), func(l int) *coded {
		if parts[l] == nil {
			return nil
		}
		return &parts[l].coded
	})
}

// candidate weighs a class.
func (c *compressor) candidate(ranks *partners.Ranks, p *formulae.Program, parts []*exact, members []trace.LocationID) candidate {
	k := candidate{members: members, learned: true}
	alone := &choice{parts: make([]*exact, len(parts))}
	known := make(map[*formulae.Tree]bool)
	for _, l := range members {
		alone.parts[l] = parts[l]
		tree := p.Locations[l].Tree
		if !p.Whole[l] {
			return candidate{learned: true, bytes: 1} // its tree is cut
		}
		if !known[tree] {
			known[tree] = true
			k.packed += sectionBytes + int64(len(pack.PackShort(c.form(), tree, formulae.TreeLayout())))
			k.learned = k.learned && learned(tree)
		}
	}
	k.bytes = alone.direct(c, ranks)
	return k
}

// learned reports whether all formulae of a tree hold to the end.
func learned(t *formulae.Tree) bool {
	for n := range t.Nodes {
		if t.Nodes[n].Branch.Kind == sequence.Failed {
			return false
		}
		for k := range t.Nodes[n].Items {
			i := &t.Nodes[n].Items[k]
			if i.Times.Kind == sequence.Failed {
				return false
			}
			for f := range i.Formulae() {
				if f.Kind == sequence.Failed {
					return false
				}
			}
		}
	}
	return true
}

// roomOf returns the bytes that the bound has for the formulae of locations that are exact and that no other location needs.
func roomOf(locations []formulae.Location, parts []*exact) (room int64) {
	needed, counted := make(map[*formulae.Tree]bool), make(map[*formulae.Tree]bool)
	for l, x := range parts {
		needed[locations[l].Tree] = needed[locations[l].Tree] || x == nil
	}
	for l := range parts {
		if tree := locations[l].Tree; !needed[tree] && !counted[tree] {
			counted[tree] = true
			room += plainSize(tree, new(counts))
		}
	}
	return room
}

// direct makes the directory of what is exact, and returns the bytes of all that belongs to it.
func (c *choice) direct(x *compressor, ranks *partners.Ranks) (size int64) {
	d := symbols.NewDictionary()
	var classes []symbols.Class
	for _, members := range sequencesOf(c.parts) {
		var tables []*symbols.Table
		for _, l := range members {
			tables = append(tables, c.parts[l].table)
			size += c.parts[l].coded.events.size()
		}
		classes = append(classes, d.Classify(ranks, members, tables))
		size += c.parts[members[0]].structure.size()
	}
	var rest []trace.LocationID // of formulae: a class without symbols
	for l, p := range c.parts {
		if p == nil {
			rest = append(rest, trace.LocationID(l))
		}
	}
	if len(rest) > 0 {
		empty := slices.Repeat([]*symbols.Table{symbols.NewTable()}, len(rest))
		classes = append(classes, d.Classify(ranks, rest, empty))
	}
	cols := pack.NewColumns(x.form())
	d.Code(cols, classes, len(c.parts))
	c.classes, c.directory = cols.Finish(), newDirectory(d, classes, len(c.parts))
	return size + sectionBytes + int64(len(c.classes))
}

// open gives the locations that are exact their sequences.
func (c *choice) open(x *compressor, ranks *partners.Ranks) {
	all := &sequences{tables: x.tables, version: versionLast, ranks: ranks, directory: c.directory}
	bare := make(map[*formulae.Tree]*formulae.Tree) // trees are shared as those that were learned
	for l, p := range c.parts {
		if p == nil {
			continue
		}
		first := c.parts[c.directory.classes[c.directory.class[l]].Members[0]]
		learned := c.locations[l].Tree
		c.locations[l] = c.locations[l].Bare(bare[learned])
		bare[learned] = c.locations[l].Tree
		c.locations[l].Sequence = all.of(trace.LocationID(l), p.events,
			func() func() ([]byte, error) { return first.structure.reader() },
			func() func() ([]byte, error) { return p.coded.events.reader() })
	}
}

// kept returns the locations, those that are exact without a tree.
func (c *choice) kept() []formulae.Location {
	out := slices.Clone(c.locations)
	for l := range out {
		if c.parts[l] != nil {
			out[l].Tree = new(formulae.Tree)
		}
	}
	return out
}

// events returns how many events the file has of a location.
func (c *choice) events(l int) uint64 {
	if c.parts[l] != nil {
		return c.parts[l].events
	}
	return c.locations[l].Tree.Events()
}

// write writes the sections of what is exact.
func (c *choice) write(s *sectionWriter) error {
	if c.classes == nil {
		return nil
	}
	err := s.write(sectionClasses, 0, c.classes)
	for i, class := range c.directory.classes {
		if x := c.parts[class.Members[0]]; x != nil && err == nil {
			err = s.writeBlocks(sectionStructure, uint64(i), &x.structure)
		}
	}
	for l, x := range c.parts {
		if x != nil && err == nil {
			err = s.writeBlocks(sectionValues, uint64(l), &x.coded.events)
		}
	}
	return err
}
