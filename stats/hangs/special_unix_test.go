//go:build unix

package hangs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest/mutate"
)

// TestSpecialFiles states that what may never end, or never begin, is not read.
func TestSpecialFiles(t *testing.T) {
	for _, kind := range mutate.Special {
		name := filepath.Join(t.TempDir(), "rank_0")
		if err := errors.Join(os.WriteFile(name, nil, 0o666), kind.Replace(name)); err != nil {
			t.Fatal(kind.Name, err)
		}
		if _, _, err := Find(name); err == nil || strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s: %v", kind.Name, err)
		}
	}
}
