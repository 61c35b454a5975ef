package arrowdir

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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

// TestNothingStaysOpen: no damage of a table leaves its file open, not even one on which a library panics.
func TestNothingStaysOpen(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		g := newForger(t, f)
		for name, sound := range g.sound {
			if name == manifestName {
				continue
			}
			for at := 8; at+8 < len(sound); at += max(128, len(sound)/20) {
				g.forge(t, name, slices.Concat(sound[:at], bytes.Repeat([]byte{0xFF}, 8), sound[at+8:]))
				if src, err := Open(t.Context(), g.dir); err == nil {
					eventsOf(t, src)
					if err := src.Close(); err != nil {
						t.Error(err)
					}
				}
				open, _ := os.ReadDir("/proc/self/fd")
				for _, e := range open {
					if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(to, g.dir) {
						t.Fatalf("%s damaged at %d: %s stays open", name, at, to)
					}
				}
			}
			g.restore(t, name)
		}
	})
}
