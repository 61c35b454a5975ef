package mutate

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is a kind of damage to bytes.
type Kind struct {
	Name string
	// Change returns damaged data, or nil where it finds nothing to damage. It may overwrite data, which is not empty.
	Change func(r *rand.Rand, data []byte) []byte
}

// Apply returns a damaged copy of data; nil if there is nothing to damage.
func (k Kind) Apply(r *rand.Rand, data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return k.Change(r, slices.Clone(data))
}

// Bits flips up to so many single bits.
func Bits(most int) Kind {
	return Kind{"bit flip", func(r *rand.Rand, data []byte) []byte {
		for range 1 + r.IntN(most) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		return data
	}}
}

// Bytes replaces up to so many single bytes by bytes of an alphabet, by any if it is empty.
func Bytes(most int, alphabet string) Kind {
	return Kind{"byte", func(r *rand.Rand, data []byte) []byte {
		for range 1 + r.IntN(most) {
			at, b := r.IntN(len(data)), byte(r.Uint32())
			if n := len(alphabet); n > 0 {
				b = alphabet[int(b)%n]
			}
			data[at] = b
		}
		return data
	}}
}

// Truncation cuts data off anywhere.
var Truncation = Kind{"truncation", func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data))] }}

// binaryKinds are those of any file.
var binaryKinds = []Kind{
	Bits(3),
	Bytes(3, ""),
	{"integer", func(r *rand.Rand, data []byte) []byte {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], extremes[r.IntN(len(extremes))])
		if r.IntN(2) == 0 {
			slices.Reverse(b[:])
		}
		copy(data[r.IntN(len(data)):], b[:1<<r.IntN(4)])
		return data
	}},
	{"name", func(r *rand.Rand, data []byte) []byte {
		from, to := textAt(data, r.IntN(len(data)))
		if to-from < 4 {
			return nil
		}
		copy(data[from:to], strings.Repeat(names[r.IntN(len(names))], 8))
		return data
	}},
	{"zeroed range", func(r *rand.Rand, data []byte) []byte { return filled(r, data, 0) }},
	{"0xFF range", func(r *rand.Rand, data []byte) []byte { return filled(r, data, 0xFF) }},
	Truncation,
	{"insertion", func(r *rand.Rand, data []byte) []byte {
		more := make([]byte, 1+r.IntN(16))
		for i := range more {
			more[i] = byte(r.Uint32())
		}
		return slices.Insert(data, r.IntN(len(data)+1), more...)
	}},
	{"deletion", func(r *rand.Rand, data []byte) []byte {
		from, to := block(r, len(data))
		return slices.Delete(data, from, to)
	}},
	{"duplication", func(r *rand.Rand, data []byte) []byte {
		from, to := block(r, len(data))
		return slices.Insert(data, r.IntN(len(data)+1), bytes.Clone(data[from:to])...)
	}},
	{"swap", func(r *rand.Rand, data []byte) []byte {
		from, to := block(r, len(data))
		at := r.IntN(len(data) - (to - from) + 1)
		for i := range to - from {
			data[from+i], data[at+i] = data[at+i], data[from+i]
		}
		return data
	}},
}

// textKinds are those of files of text.
var textKinds = []Kind{
	{"number", func(r *rand.Rand, data []byte) []byte {
		from, to := numberAt(data, r.IntN(len(data)))
		return splice(data, from, to, numbers[r.IntN(len(numbers))])
	}},
	{"number", func(r *rand.Rand, data []byte) []byte { // a usual one in a place where it is not usual
		from, to := numberAt(data, r.IntN(len(data)))
		other, end := numberAt(data, r.IntN(len(data)))
		return splice(data, from, to, string(data[other:end]))
	}},
	{"name", func(r *rand.Rand, data []byte) []byte {
		from, to := wordAt(data, r.IntN(len(data)))
		name := names[r.IntN(len(names))]
		if r.IntN(20) == 0 {
			name = strings.Repeat("long name ", 100<<r.IntN(8))
		}
		return splice(data, from, to, name)
	}},
	{"line removed", func(r *rand.Rand, data []byte) []byte {
		from, to := lines(r, data)
		return slices.Delete(data, from, to)
	}},
	{"line doubled", func(r *rand.Rand, data []byte) []byte {
		from, to := lines(r, data)
		return slices.Insert(data, to, bytes.Clone(data[from:to])...)
	}},
	{"lines shuffled", func(r *rand.Rand, data []byte) []byte {
		list := bytes.SplitAfter(data, []byte("\n"))
		from, to := block(r, len(list))
		r.Shuffle(to-from, func(i, k int) { list[from+i], list[from+k] = list[from+k], list[from+i] })
		return bytes.Join(list, nil)
	}},
}

// KindsOf returns the kinds of damage to a file of that name.
func KindsOf(name string) []Kind {
	if slices.Contains([]string{".json", ".prv", ".pcf", ".row"}, filepath.Ext(name)) {
		return append(slices.Clone(textKinds), binaryKinds...)
	}
	return binaryKinds
}

var (
	extremes = []uint64{0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40,
		1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	numbers = []string{"-1", "0", "1", "2147483648", "4294967295", "9223372036854775807", "9223372036854775808",
		"18446744073709551615", "18446744073709551616", "1e308", "-1e308", "NaN", "0.5", ""}
	names = []string{"", "x", "\x1b[2J\x07\x00\x7f", `\u001b[31m\u0000`, "\xff\xfe\xc3", "\uFFFE\u202E\u0085", `"`, `\`,
		"MPI_Barrier", "<&>", "\r\n"}
)

// block returns a range of 0 to n, short more often than long.
func block(r *rand.Rand, n int) (from, to int) {
	size := 1 + r.IntN(min(n, 1<<r.IntN(14)))
	from = r.IntN(n - size + 1)
	return from, from + size
}

func filled(r *rand.Rand, data []byte, with byte) []byte {
	from, to := block(r, len(data))
	for i := range data[from:to] {
		data[from+i] = with
	}
	return data
}

// splice puts a text in the place of data[from:to]; nil if that is empty.
func splice(data []byte, from, to int, text string) []byte {
	if from == to {
		return nil
	}
	return slices.Concat(data[:from], []byte(text), data[to:])
}

// spanAt returns the first stretch of bytes at or behind at that are in, begun before it perhaps.
func spanAt(data []byte, at int, in func(byte) bool) (from, to int) {
	for at < len(data) && !in(data[at]) {
		at++
	}
	for from, to = at, at; from > 0 && in(data[from-1]); {
		from--
	}
	for to < len(data) && in(data[to]) {
		to++
	}
	return from, to
}

func numberAt(data []byte, at int) (from, to int) {
	return spanAt(data, at, func(b byte) bool { return b >= '0' && b <= '9' || b == '-' || b == '.' })
}

// wordAt returns what stands between quotes or separators and has a letter at its begin.
func wordAt(data []byte, at int) (from, to int) {
	return spanAt(data, at, func(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' })
}

// textAt returns a stretch of letters among other bytes.
func textAt(data []byte, at int) (from, to int) {
	return spanAt(data, at, func(b byte) bool { return b >= ' ' && b < 0x7F })
}

// lines returns the range of a few whole lines.
func lines(r *rand.Rand, data []byte) (from, to int) {
	from = bytes.LastIndexByte(data[:r.IntN(len(data))], '\n') + 1
	to = from
	for range 1 + r.IntN(3) {
		if n := bytes.IndexByte(data[to:], '\n'); n >= 0 {
			to += n + 1
		} else {
			to = len(data)
		}
	}
	return from, to
}
