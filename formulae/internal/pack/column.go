package pack

import (
	"maps"
	"math"
	"slices"

	"tracekit/codec"
)

// A Column says how values of a type are coded, all rows at once, in either direction.
type Column[T any] struct {
	kind   kind
	schema func(base bool) Schema
	code   func(p *packer, rows []*T, s *Schema)
}

// values codes rows that the block has in a schema; nil is that of the base layout.
func (c Column[T]) values(p *packer, rows []*T, s *Schema) {
	if !p.next(len(rows)) {
		return
	}
	if s != nil && s.kind != c.kind {
		p.Damaged = true
		return
	}
	c.code(p, rows, s)
}

// leaf returns a column whose values have no parts.
func leaf[T any](k kind, one func(p *packer, v T) T) Column[T] {
	return Column[T]{kind: k, schema: func(bool) Schema { return Schema{kind: k} }, code: func(p *packer, rows []*T, _ *Schema) {
		for _, v := range rows {
			if coded := one(p, *v); p.decoding {
				*v = coded
			}
		}
	}}
}

// Numbers returns the column of a type of numbers, with bounds beside those of the type. A number out of them is damage.
func Numbers[N codec.Integer](bounds ...*codec.Bound) Column[N] {
	return leaf(number, func(p *packer, v N) N {
		coded := p.Number(uint64(v))
		p.Damaged = p.Damaged || uint64(N(coded)) != coded
		for _, b := range bounds {
			p.Damaged = p.Damaged || !b.Allows(coded)
		}
		return N(coded)
	})
}

// Flags returns the column of truth values.
func Flags() Column[bool] { return leaf(number, func(p *packer, v bool) bool { return p.Flag(v) }) }

// Reals returns the column of real numbers, told by their bits.
func Reals() Column[float64] {
	return leaf(number, func(p *packer, v float64) float64 { return math.Float64frombits(p.Number(math.Float64bits(v))) })
}

// Texts returns the column of strings.
func Texts[S ~string]() Column[S] {
	return leaf(text, func(p *packer, v S) S { return S(p.string(string(v))) })
}

// Lists returns the column of lists: the lengths, plus 1 for all but nil, and then all
// elements as one column.
func Lists[E any](c Column[E]) Column[[]E] {
	return Column[[]E]{kind: list, schema: func(base bool) Schema { return Schema{list, []Schema{c.schema(base)}} },
		code: func(p *packer, rows []*[]E, s *Schema) {
			var all []*E
			for _, v := range rows {
				n := len(*v) + 1
				if *v == nil {
					n = 0
				}
				n = p.bounded(n)
				if p.decoding && n > 0 {
					*v = make([]E, n-1)
				}
				for i := range *v {
					all = append(all, &(*v)[i])
				}
			}
			c.values(p, all, s.part(0))
		}}
}

// Optional returns the column of pointers: which of them are not nil, and then what those
// point to. A type may be part of itself, so its column is made when there is a value.
func Optional[E any](of func() Column[E]) Column[*E] {
	return Column[*E]{kind: optional, schema: func(base bool) Schema { return Schema{optional, []Schema{of().schema(base)}} },
		code: func(p *packer, rows []**E, s *Schema) {
			var all []*E
			for _, v := range rows {
				if !p.Flag(*v != nil) {
					continue
				}
				if p.decoding {
					*v = new(E)
				}
				all = append(all, *v)
			}
			if len(all) > 0 && p.deeper() {
				of().values(p, all, s.part(0))
				p.depth--
			}
		}}
}

// A pair is an entry of a map.
type pair struct{ key, value string }

// Maps returns the column of maps from string to string: lists of pairs, ordered by key.
func Maps() Column[map[string]string] {
	pairs := Lists(Record(2, Text(func(e *pair) *string { return &e.key }), Text(func(e *pair) *string { return &e.value })))
	return Column[map[string]string]{kind: list, schema: pairs.schema, code: func(p *packer, rows []*map[string]string, s *Schema) {
		all := make([][]pair, len(rows))
		pointers := make([]*[]pair, len(rows))
		for i, m := range rows {
			pointers[i] = &all[i]
			if *m != nil {
				all[i] = []pair{}
			}
			for _, k := range slices.Sorted(maps.Keys(*m)) {
				all[i] = append(all[i], pair{k, (*m)[k]})
			}
		}
		pairs.code(p, pointers, s)
		for i, m := range rows {
			if !p.decoding || all[i] == nil {
				continue
			}
			*m = make(map[string]string, len(all[i]))
			for _, e := range all[i] {
				(*m)[e.key] = e.value
			}
		}
	}}
}

// A Field is a part of a record.
type Field[T any] struct{ column Column[T] }

// In returns the field at a place in a record.
func In[T, V any](at func(*T) *V, c Column[V]) Field[T] {
	return Field[T]{Column[T]{kind: c.kind, schema: c.schema, code: func(p *packer, rows []*T, s *Schema) {
		parts := make([]*V, len(rows))
		for i := range rows {
			parts[i] = at(rows[i])
		}
		c.code(p, parts, s)
	}}}
}

// Number returns the field of a number.
func Number[T any, N codec.Integer](at func(*T) *N, bounds ...*codec.Bound) Field[T] {
	return In(at, Numbers[N](bounds...))
}

// Real returns the field of a real number.
func Real[T any](at func(*T) *float64) Field[T] { return In(at, Reals()) }

// Flag returns the field of a truth value.
func Flag[T any](at func(*T) *bool) Field[T] { return In(at, Flags()) }

// Text returns the field of a string.
func Text[T any, S ~string](at func(*T) *S) Field[T] { return In(at, Texts[S]()) }

// Record returns the column of a type with fields. Fields are known by their position: one
// that is new comes last, and one that is no longer used keeps its place. The first base of
// them are those of the base layout, which never change as long as the version of the format
// does not.
func Record[T any](base int, fields ...Field[T]) Column[T] {
	return Column[T]{kind: record,
		schema: func(onlyBase bool) Schema {
			s := Schema{kind: record}
			for i, f := range fields {
				if i < base || !onlyBase {
					s.parts = append(s.parts, f.column.schema(onlyBase))
				}
			}
			return s
		},
		code: func(p *packer, rows []*T, s *Schema) {
			n := base
			if s != nil {
				n = len(s.parts)
			}
			for i := range n {
				if i < len(fields) {
					fields[i].column.values(p, rows, s.part(i))
				} else {
					p.skip(len(rows), s.part(i))
				}
			}
		}}
}
