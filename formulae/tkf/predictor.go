package tkf

import "math/bits"

// A predictor remembers a location's symbols and predicts the next one: what followed where
// the last ones were the same. As long as the prediction holds it goes on along the same
// stretch of the past, so that a loop that is longer than any context is predicted from its
// second iteration on, whatever is nested in it.
type predictor struct {
	past    []uint32 // a ring once it has maxPast symbols
	steps   []uint8  // length of the step of time at each symbol, in bits
	n       int      // symbols so far
	at      int      // place in the past that is predicted to repeat; -1: none
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

func newPredictor() *predictor {
	p := &predictor{at: -1}
	for i := range p.index {
		p.index[i] = make([]int32, 1<<firstIndex)
	}
	return p
}

// predicted returns the symbol that is predicted to come next.
func (p *predictor) predicted() (uint32, bool) {
	if p.at < 0 {
		return 0, false
	}
	return p.past[p.at&(maxPast-1)], true
}

// back returns how many symbols before the next one the predicted one lies. It stays the
// same as long as the prediction holds.
func (p *predictor) back() uint64 { return uint64(p.n - p.at) }

// step returns the length of the step at the place that the newest symbol repeats, 0 if
// there is none.
func (p *predictor) step() uint32 {
	if p.at < 1 {
		return 0
	}
	return uint32(p.steps[(p.at-1)&(maxPast-1)])
}

// follow adds the symbol that came. hit says that it was the predicted one.
func (p *predictor) follow(symbol uint32, hit bool) {
	if len(p.past) < maxPast {
		p.past, p.steps = append(p.past, symbol), append(p.steps, 0)
		if p.n == len(p.index[0]) && p.n < 1<<indexBits {
			p.grow()
		}
	} else {
		p.past[p.n&(maxPast-1)] = symbol
	}
	p.n++
	p.rolling[0] = p.rolling[0]*0x9E3779B8 + symbol + 1 // forgets after 11 symbols
	p.rolling[1] = p.rolling[1]*0x3779B100 + symbol + 1 // forgets after 4
	for int(symbol) >= len(p.single) {
		p.single = append(p.single, 0)
	}
	if hit {
		p.at++
	} else {
		p.search(symbol)
	}
	for i := range p.index {
		*p.entry(i) = int32(p.n)
	}
	p.single[symbol] = int32(p.n)
	if p.at >= 0 && p.n-p.at >= maxPast {
		p.at = -1
	}
}

// setStep notes the length of the step at the newest symbol.
func (p *predictor) setStep(step uint64) {
	p.steps[(p.n-1)&(maxPast-1)] = uint8(bits.Len64(step))
}

// search looks for the longest context that has occurred before. Entries hold places
// modulo 2^32; those that are no longer remembered do not count.
func (p *predictor) search(symbol uint32) {
	for i := range p.index {
		if p.resume(*p.entry(i), symbol) {
			return
		}
	}
	if !p.resume(p.single[symbol], symbol) {
		p.at = -1
	}
}

// resume goes on from the place of an index entry, if it is still remembered and follows the
// same symbol.
func (p *predictor) resume(entry int32, symbol uint32) bool {
	back := int(int32(p.n) - entry)
	at := p.n - back
	if entry == 0 || back <= 0 || back >= maxPast-1 || at < 1 || p.past[(at-1)&(maxPast-1)] != symbol {
		return false
	}
	p.at = at
	return true
}

// entry returns the index entry of the last symbols.
func (p *predictor) entry(i int) *int32 {
	h := p.rolling[i] * 0x9E3779B1
	return &p.index[i][int(h>>7)&(len(p.index[i])-1)]
}

// grow doubles the indexes; what they hold is moved to where half of the searches find it.
func (p *predictor) grow() {
	for i, old := range p.index {
		p.index[i] = append(old, old...)
	}
}
