package arrowdir

import (
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest/mutate"
)

// TestNotRegular: what may never end, or never begin, is not opened.
func TestNotRegular(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		for _, kind := range mutate.Special {
			if kind.Name == "symlink loop" {
				continue // an error of the system's
			}
			for _, file := range []string{manifestName, "defs/region." + string(f), "events/flow." + string(f)} {
				g := newForger(t, f)
				name := filepath.Join(g.dir, file)
				if err := kind.Replace(name); err != nil {
					t.Skip(err)
				}
				src, err := Open(t.Context(), g.dir)
				text := ""
				if err != nil {
					text = err.Error()
				} else {
					for range src.Events(t.Context(), 0) {
						t.Errorf("%s as %s: there are events", kind.Name, file)
					}
					text = src.Findings()[0].Text
				}
				if !strings.Contains(text, "it is not a regular file") {
					t.Errorf("%s as %s: %s", kind.Name, file, text)
				}
			}
		}
	})
}
