package nest

import (
	"slices"
	"testing"
)

// TestFileNames states that no two files have one name.
func TestFileNames(t *testing.T) {
	got := FileNames([]string{"a/t.json", "b/t.pt.json.gz", "c/t (2).json", ".json", "u/a_model_with_a_very_long_name.json"})
	if want := []string{"t", "t (2)", "t (2) (2)", ".json", "…l_with_a_very_long_name"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
