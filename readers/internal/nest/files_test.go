package nest

import (
	"slices"
	"testing"
)

// TestFileNames states that no two files have one name.
func TestFileNames(t *testing.T) {
	got := FileNames([]string{"a/t.json", "b/t.json", "c/t.json", "b/t.json (2)", "u.json"})
	if want := []string{"t.json", "t.json (2)", "t.json (3)", "t.json (2) (2)", "u.json"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
