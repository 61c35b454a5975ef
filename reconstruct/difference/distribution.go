package difference

import (
	"math"
	"math/big"
	"math/bits"
)

// A Distribution collects integer differences in ns: exact moments, extremes and a
// histogram with symmetric logarithmic buckets (at most 1/16 wide relative to their
// bounds). The zero value is empty. The order of adding and combining is no matter, to
// the last bit.
type Distribution struct {
	N        uint64
	Min, Max int64 // 0 if N is 0

	sum, squares total
	buckets      []uint64 // bucket b has place 2b, bucket -b place 2b-1
}

// Add counts one difference.
func (d *Distribution) Add(x int64) {
	if d.N == 0 {
		d.Min, d.Max = x, x
	}
	d.Min, d.Max = min(d.Min, x), max(d.Max, x)
	d.N++
	sign := uint64(x >> 63)
	d.sum.add(total{uint64(x), sign, sign})
	hi, lo := bits.Mul64(magnitude(x), magnitude(x))
	d.squares.add(total{lo, hi})
	i := placeOf(x)
	if i >= len(d.buckets) {
		d.grow(i + 1)
	}
	d.buckets[i]++
}

// grow makes room for n buckets.
func (d *Distribution) grow(n int) {
	d.buckets = append(d.buckets, make([]uint64, n-len(d.buckets))...)
}

// Combine adds the differences of another distribution.
func (d *Distribution) Combine(o *Distribution) {
	if o.N == 0 {
		return
	}
	if d.N == 0 {
		d.Min, d.Max = o.Min, o.Max
	}
	d.Min, d.Max = min(d.Min, o.Min), max(d.Max, o.Max)
	d.N += o.N
	d.sum.add(o.sum)
	d.squares.add(o.squares)
	d.grow(max(len(d.buckets), len(o.buckets)))
	for i, c := range o.buckets {
		d.buckets[i] += c
	}
}

// Mean returns the mean in ns, 0 if there are no differences.
func (d *Distribution) Mean() float64 {
	if d.N == 0 {
		return 0
	}
	return float(d.sum.big()) / float64(d.N)
}

// Sigma returns the standard deviation of the population in ns, 0 if there are none.
func (d *Distribution) Sigma() float64 {
	if d.N == 0 {
		return 0
	}
	// N²σ² = N Σx² - (Σx)², exactly
	n, sum := new(big.Int).SetUint64(d.N), d.sum.big()
	v := n.Mul(n, d.squares.big())
	v.Sub(v, sum.Mul(sum, sum))
	return math.Sqrt(float(v)) / float64(d.N)
}

// Spread returns the paper's spread 2 √(ln 2) σ in ns (DEFINITIONS 1.4).
func (d *Distribution) Spread() float64 { return 2 * math.Sqrt(math.Ln2) * d.Sigma() }

// FWHM returns 2 √(2 ln 2) σ in ns, the full width at half maximum of a Gaussian.
func (d *Distribution) FWHM() float64 { return 2 * math.Sqrt(2*math.Ln2) * d.Sigma() }

// Histogram counts the differences in n windows of equal width between from and to; the
// rest is beyond. A logarithmic bucket is taken to be filled evenly, so that counts are
// whole numbers only up to ±16 ns.
func (d *Distribution) Histogram(from, to float64, n int) (edges, counts []float64, beyond float64) {
	edges, counts = make([]float64, n+1), make([]float64, n)
	width := (to - from) / float64(n)
	for i := range edges {
		edges[i] = from + float64(i)*width
	}
	for i, c := range d.buckets {
		if c == 0 {
			continue
		}
		low, high := boundsOf(i)
		density := float64(c) / (high - low)
		beyond += density * (max(0, min(high, from)-low) + max(0, high-max(low, to)))
		for w := int(min(max((low-from)/width, 0), float64(n))); w < n && edges[w] < high; w++ {
			counts[w] += density * max(0, min(high, edges[w+1])-max(low, edges[w]))
		}
	}
	return edges, counts, beyond
}

// placeOf returns the place of a difference's bucket. Buckets are 0 to 15 exactly, then
// 16 to each power of two, and the same below 0.
func placeOf(x int64) int {
	m := magnitude(x)
	b := int(m)
	if m >= 16 {
		e := bits.Len64(m) - 5 // m>>e lies in [16, 32)
		b = e*16 + int(m>>e)
	}
	if x < 0 {
		return 2*b - 1
	}
	return 2 * b
}

// boundsOf returns the bounds of the bucket at a place in ns: an integer stands for the
// half on either side of it.
func boundsOf(place int) (low, high float64) {
	b := (place + 1) / 2
	low, high = float64(b)-0.5, float64(b)+0.5
	if b >= 16 {
		e := b/16 - 1
		m := float64(b - e*16)
		low, high = math.Ldexp(m, e)-0.5, math.Ldexp(m+1, e)-0.5
	}
	if place%2 == 1 {
		return -high, -low
	}
	return low, high
}

// magnitude returns |x|, also of the smallest integer.
func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// A total is a signed integer of 192 bits, lowest word first: enough for the squares of
// 2^64 differences.
type total [3]uint64

func (t *total) add(o total) {
	var carry uint64
	t[0], carry = bits.Add64(t[0], o[0], 0)
	t[1], carry = bits.Add64(t[1], o[1], carry)
	t[2], _ = bits.Add64(t[2], o[2], carry)
}

func (t total) big() *big.Int {
	v := big.NewInt(int64(t[2]))
	for _, word := range []uint64{t[1], t[0]} {
		v.Lsh(v, 64)
		v.Add(v, new(big.Int).SetUint64(word))
	}
	return v
}

func float(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}
