package formulae

import "math/bits"

// A course is the sequence of a location's symbols so far, and foretells the next one: what
// followed where the course was last the same. As long as the foretelling holds it goes on
// along the same stretch of the past, so that a loop that is longer than any context is
// foretold from its second iteration on, whatever is nested in it.
type course struct {
	past    []uint32 // a ring once it has maxPast symbols
	steps   []uint8  // length of the step of time at each symbol, in bits
	n       int      // symbols so far
	at      int      // place in the past that is foretold to repeat; -1: none
	rolling [2]uint32
	index   [2][]int32 // by hash of the last symbols: the place after them, plus 1
	single  []int32    // by symbol: the place after it, plus 1
}

// maxPast is how many symbols are remembered: a loop body must be shorter.
const (
	maxPast    = 1 << 18
	indexBits  = 16
	firstIndex = 10
)

func newCourse() *course {
	c := &course{at: -1}
	for i := range c.index {
		c.index[i] = make([]int32, 1<<firstIndex)
	}
	return c
}

// foretold returns the symbol that is foretold to come next.
func (c *course) foretold() (uint32, bool) {
	if c.at < 0 {
		return 0, false
	}
	return c.past[c.at&(maxPast-1)], true
}

// back returns how many symbols before the next one the foretold one lies. It stays the
// same as long as the foretelling holds.
func (c *course) back() uint64 { return uint64(c.n - c.at) }

// step returns the length of the step at the place that the newest symbol repeats, 0 if
// there is none.
func (c *course) step() uint32 {
	if c.at < 1 {
		return 0
	}
	return uint32(c.steps[(c.at-1)&(maxPast-1)])
}

// follow adds the symbol that came. hit says that it was the foretold one.
func (c *course) follow(symbol uint32, hit bool) {
	if len(c.past) < maxPast {
		c.past, c.steps = append(c.past, symbol), append(c.steps, 0)
		if c.n == len(c.index[0]) && c.n < 1<<indexBits {
			c.grow()
		}
	} else {
		c.past[c.n&(maxPast-1)] = symbol
	}
	c.n++
	c.rolling[0] = c.rolling[0]*0x9E3779B8 + symbol + 1 // forgets after 11 symbols
	c.rolling[1] = c.rolling[1]*0x3779B100 + symbol + 1 // forgets after 4
	for int(symbol) >= len(c.single) {
		c.single = append(c.single, 0)
	}
	if hit {
		c.at++
	} else {
		c.search(symbol)
	}
	for i := range c.index {
		*c.entry(i) = int32(c.n)
	}
	c.single[symbol] = int32(c.n)
	if c.at >= 0 && c.n-c.at >= maxPast {
		c.at = -1
	}
}

// setStep notes the length of the step at the newest symbol.
func (c *course) setStep(step uint64) {
	c.steps[(c.n-1)&(maxPast-1)] = uint8(bits.Len64(step))
}

// search looks for the longest context that has occurred before. Entries hold places
// modulo 2^32; those that are no longer remembered do not count.
func (c *course) search(symbol uint32) {
	for i := range c.index {
		if c.resume(*c.entry(i), symbol) {
			return
		}
	}
	if !c.resume(c.single[symbol], symbol) {
		c.at = -1
	}
}

// resume goes on from the place of an index entry, if it is still remembered and follows the
// same symbol.
func (c *course) resume(entry int32, symbol uint32) bool {
	back := int(int32(c.n) - entry)
	at := c.n - back
	if entry == 0 || back <= 0 || back >= maxPast-1 || at < 1 || c.past[(at-1)&(maxPast-1)] != symbol {
		return false
	}
	c.at = at
	return true
}

// entry returns the index entry of the last symbols.
func (c *course) entry(i int) *int32 {
	h := c.rolling[i] * 0x9E3779B1
	return &c.index[i][int(h>>7)&(len(c.index[i])-1)]
}

// grow doubles the indexes; what they hold is moved to where half of the searches find it.
func (c *course) grow() {
	for i, old := range c.index {
		c.index[i] = append(old, old...)
	}
}
