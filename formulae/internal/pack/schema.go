package pack

import (
	"slices"

	"tracekit/formulae/internal/coder"
)

// A kind says what the values of a column are.
type kind uint8

const (
	number   kind = iota
	text          //
	list          // of one part
	optional      // one part, or nothing
	record        // of parts
	kinds
)

// A Schema says which columns a block has: what values are, and of what parts.
type Schema struct {
	kind  kind
	parts []Schema
}

// part returns a part; those of the base layout have no schema.
func (s *Schema) part(i int) *Schema {
	if s == nil {
		return nil
	}
	return &s.parts[i]
}

func (s Schema) equal(o Schema) bool {
	return s.kind == o.kind && slices.EqualFunc(s.parts, o.parts, Schema.equal)
}

// describe codes a schema: the kind, the number of parts, the parts.
func (p *packer) describe(s *Schema) {
	s.kind = kind(p.Single(0, uint64(s.kind)))
	if n := p.Count(0, len(s.parts)); p.decoding {
		s.parts = make([]Schema, n)
	}
	switch {
	case s.kind >= kinds, s.kind < list && len(s.parts) != 0, s.kind != record && s.kind >= list && len(s.parts) != 1, !p.deeper():
		p.Damaged = true
	}
	for i := range s.parts {
		if p.Damaged {
			return
		}
		p.describe(&s.parts[i])
	}
	p.depth--
}

// skip passes over rows of a schema that nobody knows.
func (p *packer) skip(rows int, s *Schema) {
	if !p.next(rows) {
		return
	}
	within := 0
	for range rows {
		if p.Damaged {
			return
		}
		switch s.kind {
		case number:
			p.Number(0)
		case text:
			p.string("")
		case list:
			within += max(p.bounded(0)-1, 0)
		case optional:
			within += int(coder.Bit(p.Flag(false)))
		case record:
			within = rows
		}
	}
	for i := range s.parts {
		p.skip(within, &s.parts[i])
	}
}
