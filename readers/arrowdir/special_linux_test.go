package arrowdir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNotRegular: what may never end, or never begin, is not opened.
func TestNotRegular(t *testing.T) {
	formats(t, func(t *testing.T, f Format) {
		for what, put := range map[string]func(name string) error{
			"FIFO":      func(name string) error { return syscall.Mkfifo(name, 0o644) },
			"device":    func(name string) error { return os.Symlink("/dev/zero", name) },
			"directory": func(name string) error { return os.Mkdir(name, 0o755) },
		} {
			for _, file := range []string{manifestName, "defs/region." + string(f), "events/flow." + string(f)} {
				g := newForger(t, f)
				name := filepath.Join(g.dir, file)
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				if err := put(name); err != nil {
					t.Skip(err)
				}
				src, err := Open(t.Context(), g.dir)
				text := ""
				if err != nil {
					text = err.Error()
				} else {
					for range src.Events(t.Context(), 0) {
						t.Errorf("%s as %s: there are events", what, file)
					}
					text = src.Findings()[0].Text
				}
				if !strings.Contains(text, "it is not a regular file") {
					t.Errorf("%s as %s: %s", what, file, text)
				}
			}
		}
	})
}
