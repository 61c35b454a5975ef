package nest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// longName is how many characters of a file's name tell it apart at most: names of devices stand in tables.
const longName = 24

// FileNames returns short names that tell files apart: without folders and endings, of long ones the end; of equal ones all but the first
// have a number.
func FileNames(paths []string) []string {
	out, taken, number := make([]string, len(paths)), make(map[string]bool), make(map[string]int) // the latest of a name
	for i, p := range paths {
		base := filepath.Base(p)
		if stem, _, _ := strings.Cut(base, "."); stem != "" {
			base = stem
		}
		if r := []rune(base); len(r) > longName {
			base = "…" + string(r[len(r)-longName+1:])
		}
		name := base
		for taken[name] {
			number[base]++
			name = fmt.Sprintf("%s (%d)", base, number[base]+1)
		}
		out[i], taken[name] = name, true
	}
	return out
}

// Natural compares names in which numbers count as such: rank2 comes before rank10.
func Natural(a, b string) int {
	for a != "" && b != "" {
		if x, y := digits(a), digits(b); x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
