package nest

import (
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
