package wire

import (
	"fmt"
	"hash/fnv"
	"unicode/utf8"
)

// NameLimit is how many bytes of a name are kept: tables, pictures and documents repeat names.
// The longest that compilers make have a few thousand.
const NameLimit = 16 << 10

// CutName returns a name of at most NameLimit bytes and a few more: the begin of a longer one,
// with its length and a hash, so that different names stay different.
func CutName(name string) string {
	if len(name) <= NameLimit {
		return name
	}
	end := NameLimit
	for end > NameLimit-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return fmt.Sprintf("%s… (%d bytes, %016x)", name[:end], len(name), h.Sum64())
}
