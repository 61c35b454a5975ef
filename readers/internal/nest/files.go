package nest

import (
	"fmt"
	"path/filepath"
)

// FileNames returns names that tell files apart: those without their folders; of equal ones all but the first have a number.
func FileNames(paths []string) []string {
	out, taken := make([]string, len(paths)), make(map[string]bool)
	for i, p := range paths {
		base := filepath.Base(p)
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		out[i], taken[name] = name, true
	}
	return out
}
