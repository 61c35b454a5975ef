package paraver

import (
	"os"
	"path/filepath"
)

// sharedFolder returns the collection of real traces, which is not part of the
// repository: TRACEKIT_SHARED names it, by default the folder "shared" beside the
// repository. It is "" if there is none.
func sharedFolder() string {
	shared := os.Getenv("TRACEKIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "traces")); err != nil {
		return ""
	}
	return shared
}
