// Package mutate damages files, for tests and for scripts/attack: their bytes at random (Kind) or at places that are
// spread evenly (Cuts, Flips), and the files themselves (FileKind). The caller's random numbers decide what is random.
package mutate

import (
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
)

// Everywhere is the number of places to damage data at each byte.
const Everywhere = math.MaxInt

// Cuts iterates over data cut off at no more than so many places, with words for each.
func Cuts(data []byte, most int) iter.Seq2[string, []byte] { return spread(data, most, cut) }

// Flips iterates over copies of data, each with the bits of mask flipped in one byte, with words for each.
func Flips(data []byte, most int, mask byte) iter.Seq2[string, []byte] {
	return spread(data, most, flip(mask))
}

// CutsAndFlips iterates over what Cuts and Flips make.
func CutsAndFlips(data []byte, most int, mask byte) iter.Seq2[string, []byte] {
	return spread(data, most, cut, flip(mask))
}

func cut(data []byte, at int) (string, []byte) { return "cut", data[:at:at] }

func flip(mask byte) func([]byte, int) (string, []byte) {
	return func(data []byte, at int) (string, []byte) { return "changed", Flip(data, at, mask) }
}

func spread(data []byte, most int, ways ...func(data []byte, at int) (string, []byte)) iter.Seq2[string, []byte] {
	most = min(len(data), most)
	return func(yield func(string, []byte) bool) {
		for i := range most * len(ways) {
			at := len(data) * (i / len(ways)) / most
			what, damaged := ways[i%len(ways)](data, at)
			if !yield(fmt.Sprintf("%s at byte %d of %d", what, at, len(data)), damaged) {
				return
			}
		}
	}
}

// Flip returns a copy of data with the bits of mask flipped in one byte.
func Flip(data []byte, at int, mask byte) []byte {
	data = slices.Clone(data)
	data[at] ^= mask
	return data
}

// File changes the content of a file.
func File(path string, change func(data []byte) []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(data), 0o644)
}
