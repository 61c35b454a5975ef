package tkf

import (
	"slices"

	"tracekit/codec"
	"tracekit/formulae/internal/coder"
)

// Arrows of JSON traces are known by the 64-bit FNV-1a hash of a text that ends with a number: its digits, a space, a byte 0xff. Who knows
// the hash of what comes before the number needs only the number. Each step of the hash has an inverse: the last bytes can be taken off.
const (
	hashPrime   = 1099511628211
	hashInverse = 0xce965057aff6957b // of the prime, modulo 2^64
	hashSpace   = ' '
	hashEnd     = 0xff
)

// hashed returns the hash of a number whose text follows on what has the hash prefix.
func hashed(prefix, number uint64) uint64 {
	var digits [20]byte
	i := len(digits)
	for more := true; more; more = number > 0 {
		i--
		digits[i] = '0' + byte(number%10)
		number /= 10
	}
	for _, d := range digits[i:] {
		prefix = (prefix ^ uint64(d)) * hashPrime
	}
	return ((prefix^hashSpace)*hashPrime ^ hashEnd) * hashPrime
}

// prefixOf is the inverse of hashed for a number that is known.
func prefixOf(hash, number uint64) uint64 {
	hash = (hash*hashInverse^hashEnd)*hashInverse ^ hashSpace
	for more := true; more; more = number > 0 {
		hash = hash*hashInverse ^ ('0' + number%10)
		number /= 10
	}
	return hash
}

// named is what is known of the hashes at one place.
type named struct {
	prefix uint64 // 0: not known
	number uint64 // the last one
	alone  bool   // the last one was closer to the number before it at the place than to the one that an event had last

	// Of the writer alone: the prefix that the last value would have with the last event's number, and the last values, oldest first.
	guess uint64
	past  []uint64
}

// How numbers are looked for by the writer.
const (
	nameLength   = 40      // values of more bits may be hashes, shorter ones numbers of them
	nameReach    = 64      // how far from known numbers
	nameRun      = 12      // so many hashes tell a prefix if their numbers count up or down: the tens change;
	namePast     = 24      // more tell it better
	nameNumbers  = 1 << 14 // below which
	nameSearches = 16      // of a location
	mostPrefixes = 8
)

// find returns the number of a hash, and its prefix, 0 if none is found.
func (m *valueModel) find(v uint64, p *named) (number, prefix uint64) {
	if v>>nameLength == 0 {
		return 0, 0
	}
	if p.past = append(p.past, v); len(p.past) > namePast {
		p.past = slices.Delete(p.past, 0, 1)
	}
	for step := uint64(0); p.prefix != 0 && step < nameReach; step++ {
		for _, n := range [...]uint64{m.number + step, m.number - step, p.number + step, p.number - step} {
			if hashed(p.prefix, n) == v {
				return n, p.prefix
			}
		}
	}
	for _, prefix := range m.prefixes {
		if hashed(prefix, m.number) == v {
			return m.number, prefix
		}
	}
	guess := prefixOf(v, m.number)
	if guess == p.guess {
		return m.number, guess
	}
	if p.guess = guess; m.searches == nameSearches || len(p.past) < nameRun || !scattered(p.past) {
		return 0, 0
	}
	m.searches++
	if number, prefix = search(p.past); prefix == 0 {
		p.past = p.past[:0]
	}
	return number, prefix
}

// scattered reports whether values may be hashes: their highest bits differ.
func scattered(values []uint64) bool {
	for _, v := range values {
		if (v^values[0])>>60 != 0 {
			return true
		}
	}
	return false
}

// search returns the number and the prefix of the last of some hashes whose numbers count up or down. The first digits of a number may also
// be the end of the prefix: the longest number counts, with which it lasts longest.
func search(hashes []uint64) (number, prefix uint64) {
	last := len(hashes) - 1
	for n := uint64(nameNumbers - 1); n > nameRun; n-- {
		prefix := prefixOf(hashes[last], n)
		for _, step := range [...]uint64{1, ^uint64(0)} {
			k := last
			for k > 0 && hashed(prefix, n-uint64(last-k+1)*step) == hashes[k-1] {
				k--
			}
			if k == 0 {
				return n, prefix
			}
		}
	}
	return 0, 0
}

// name codes the hash of a number: the number, and the prefix if it is not known.
func (m *valueModel) name(c *coder.Coder, v, number, prefix uint64, p *named, here uint32) uint64 {
	from := m.number
	if p.alone {
		from = p.number
	}
	h := coder.Hash(here, coder.Bit(p.alone))
	number = from + codec.Unzigzag(m.names.Code(c, codec.Zigzag(number-from), &[coder.Experts]uint32{h, h + 1, coder.Bit(p.alone)}, 0))
	p.alone = codec.Zigzag(number-p.number) < codec.Zigzag(number-m.number)
	p.number = number
	known := uint64(slices.Index(m.prefixes, prefix) + 1) // 0: it is new
	known = m.names.Code(c, known, &[coder.Experts]uint32{2, coder.Hash(here, fold(p.prefix))}, 1)
	if known > 0 && known <= uint64(len(m.prefixes)) {
		p.prefix = m.prefixes[known-1]
		return hashed(p.prefix, number)
	}
	v = c.Raw(v, 64)
	p.prefix = prefixOf(v, number)
	if m.prefixes = append(m.prefixes, p.prefix); len(m.prefixes) > mostPrefixes {
		m.prefixes = m.prefixes[1:]
	}
	return v
}
