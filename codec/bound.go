package codec

import "slices"

// A Bound says which numbers a field may hold: others are refused when they are read.
type Bound struct {
	what        string
	least, span uint64 // the numbers least … least + span, with or without sign
	none        bool   // not even these
	signed      bool
	ascending   bool
	step        uint64
	or          []uint64
}

// Within allows the numbers least … most; what says what they count or name.
func Within[N Integer](what string, least, most N) *Bound {
	return &Bound{what: what, least: uint64(least), span: uint64(most) - uint64(least), none: most < least, signed: ^N(0) < 0}
}

// Below allows the numbers 0 … n-1.
func Below(what string, n int) *Bound { return Within(what, 0, n-1) }

// Or allows one more number.
func (b *Bound) Or(v uint64) *Bound {
	b.or = append(b.or, v)
	return b
}

// Ascending requires each number to be at least a step above the one before. Such a Bound is of one
// column or list: it narrows with each number.
func (b *Bound) Ascending(step uint64) *Bound {
	b.ascending, b.step = true, step
	return b
}

// Allows reports whether the field may hold a number, which is then the one before the next.
func (b *Bound) Allows(v uint64) bool {
	above := v - b.least
	if b.none || above > b.span {
		return slices.Contains(b.or, v)
	}
	if b.ascending {
		b.none = b.span-above < b.step
		b.least, b.span = v+b.step, b.span-above-b.step
	}
	return true
}

// plain reports what Allows does where that takes no more than a look.
func (b *Bound) plain(v uint64) bool { return v-b.least <= b.span && !b.none && !b.ascending }

// check refuses a number that the field may not hold.
func (b *Bound) check(c *Coder, v uint64) bool {
	switch {
	case b.Allows(v):
		return true
	case b.signed:
		outside(c, b.what, int64(v), int64(b.least), int64(b.least+b.span))
	default:
		outside(c, b.what, v, b.least, b.least+b.span)
	}
	return false
}

func outside[N int64 | uint64](c *Coder, what string, v, least, most N) {
	c.Refuse("%s %d is not from %d to %d", what, v, least, most)
}
