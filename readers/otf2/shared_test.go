package otf2

import (
	"path/filepath"
	"testing"

	"tracekit/trace/tracetest"
)

// realArchives returns the directories of further archives that real programs wrote, and skips the
// test where they are not.
func realArchives(t testing.TB) []string {
	paths, err := filepath.Glob(tracetest.Shared(t, "otf2") + "/*")
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
