package numbers

import (
	"math"
	"math/bits"
	"slices"
)

// A LogHistogram counts values in buckets that grow with the value: each power of two is
// cut into bucketsPerOctave equal buckets, so that the middle of a bucket is within 1/128
// of every value in it. Values below bucketsPerOctave have a bucket each.
type LogHistogram struct {
	octaves [64 - octaveBits + 1]*[bucketsPerOctave]uint64 // nil: nothing counted
	count   uint64
	sum     int64
	min     int64
	max     int64
}

// NewLogHistogram returns an empty histogram of which something was written. Memory that is read before that takes a second fault once it
// is written, with which the system interrupts all processors.
func NewLogHistogram() *LogHistogram { return &LogHistogram{min: math.MaxInt64} }

const (
	octaveBits       = 6
	bucketsPerOctave = 1 << octaveBits
	// AllBuckets is the number of buckets of a histogram.
	AllBuckets = (64 - octaveBits + 1) * bucketsPerOctave
)

// bucketOf returns octave and bucket of a value; below 0 counts as 0.
func bucketOf(v int64) (octave, bucket int) {
	u := uint64(max(v, 0))
	if u < bucketsPerOctave {
		return 0, int(u)
	}
	octave = bits.Len64(u) - octaveBits
	return octave, int(u>>((octave-1)&63)) & (bucketsPerOctave - 1)
}

// bucketBounds returns the values [from, to) of a bucket.
func bucketBounds(octave, bucket int) (from, to int64) {
	if octave == 0 {
		return int64(bucket), int64(bucket) + 1
	}
	from = int64(bucketsPerOctave+bucket) << (octave - 1)
	return from, from + 1<<(octave-1)
}

// Put puts a value into its bucket, and does no more.
func (h *LogHistogram) Put(v int64) {
	o, b := bucketOf(v)
	octave := h.octaves[o]
	if octave == nil {
		octave = new([bucketsPerOctave]uint64)
		h.octaves[o] = octave
	}
	octave[b]++
}

// add counts a value.
func (h *LogHistogram) add(v int64) {
	h.Put(v)
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	h.sum += v
}

// merge adds the values of another histogram.
func (h *LogHistogram) merge(o *LogHistogram) {
	if o.count == 0 {
		return
	}
	for k, octave := range o.octaves {
		if octave == nil {
			continue
		}
		if h.octaves[k] == nil {
			h.octaves[k] = new([bucketsPerOctave]uint64)
		}
		for b, n := range octave {
			h.octaves[k][b] += n
		}
	}
	if h.count == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.count, h.sum = h.count+o.count, h.sum+o.sum
}

// at returns the middle of the bucket that holds the value of a rank, from 1, within the
// smallest and the largest value.
func (h *LogHistogram) at(rank uint64) int64 { return valueAt(h.Sparse(), rank, h.min, h.max) }

// Sparse returns the buckets that are not empty, ascending.
func (h *LogHistogram) Sparse() []BucketCount {
	var out []BucketCount
	for o, octave := range h.octaves {
		if octave == nil {
			continue
		}
		for b, n := range octave {
			if n > 0 {
				out = append(out, BucketCount{uint16(o<<octaveBits | b), n})
			}
		}
	}
	return out
}

// A BucketCount is one bucket of a logHistogram in a form that is small when most are empty.
type BucketCount struct {
	Bucket uint16 // octave·bucketsPerOctave + bucket in it
	Count  uint64
}

func (b BucketCount) bounds() (from, to int64) {
	return bucketBounds(int(b.Bucket>>octaveBits), int(b.Bucket&(bucketsPerOctave-1)))
}

// AddBuckets returns the sum of two ascending lists of buckets.
func AddBuckets(a, b []BucketCount) []BucketCount {
	if len(a) == 0 {
		return b
	}
	out := make([]BucketCount, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Bucket < b[0].Bucket:
			out, a = append(out, a[0]), a[1:]
		case a[0].Bucket > b[0].Bucket:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, BucketCount{a[0].Bucket, a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// rankOf returns ⌈q·count⌉, the rank of a quantile of so many values, at least 1.
func rankOf(q float64, count uint64) uint64 {
	return min(max(uint64(math.Ceil(q*float64(count))), 1), count)
}

// QuantileOf returns a quantile of count values between lo and hi that lie in buckets; 0 if
// there are none.
func QuantileOf(buckets []BucketCount, count uint64, q float64, lo, hi int64) int64 {
	if count == 0 {
		return 0
	}
	return valueAt(buckets, rankOf(q, count), lo, hi)
}

// valueAt is at for a list of buckets with values between lo and hi.
func valueAt(buckets []BucketCount, rank uint64, lo, hi int64) int64 {
	i := slices.IndexFunc(buckets, func(b BucketCount) bool {
		if b.Count >= rank {
			return true
		}
		rank -= b.Count
		return false
	})
	if i < 0 {
		return hi
	}
	from, to := buckets[i].bounds()
	return min(max(from+(to-1-from)/2, lo), hi)
}
