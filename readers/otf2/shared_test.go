package otf2

import (
	"os"
	"path/filepath"
	"testing"
)

// realArchives returns the directories of the archives that real programs wrote. They are
// not part of the repository: TRACEKIT_SHARED names their folder, by default the folder
// "shared" beside the repository.
func realArchives(t testing.TB) []string {
	shared := os.Getenv("TRACEKIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	paths, _ := filepath.Glob(filepath.Join(shared, "traces", "otf2", "*"))
	if len(paths) == 0 {
		t.Skip("the collection of real traces is not here; set TRACEKIT_SHARED to its folder")
	}
	return paths
}
