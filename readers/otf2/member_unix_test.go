//go:build unix

package otf2

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest/mutate"
)

// TestMembersThatAreNoFiles: what has the name of a location's file and is none, a pipe or a
// device from which nothing ever comes, is not opened; it is a finding, and the rest of the
// archive is read. An anchor file or global definitions of that kind are an error.
func TestMembersThatAreNoFiles(t *testing.T) {
	for _, special := range mutate.Special {
		kind := special.Name
		for member, refused := range map[string]bool{"traces/1.def": false, "traces/1.evt": false, "traces.def": true, "traces.otf2": true} {
			dir, _ := linkTree(t, "../../samples/archives/ring-4-plain")
			path := filepath.Join(dir, member)
			if err := special.Replace(path); err != nil {
				t.Fatal(err)
			}
			s, err := Open(context.Background(), dir, 0)
			if (err != nil) != refused {
				t.Errorf("%s as %s: %v", kind, member, err)
			}
			var syntax *trace.SyntaxError
			if err != nil {
				if kind != "symlink loop" && !(kind == "directory" && member == "traces.otf2") && !errors.As(err, &syntax) {
					t.Errorf("%s as %s: error of another kind: %v", kind, member, err)
				}
				continue
			}
			var events []int
			for l := range s.Defs().Locations {
				n := 0
				for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
					if err != nil {
						t.Fatalf("%s as %s: %v", kind, member, err)
					}
					n += b.Len()
				}
				events = append(events, n)
			}
			whole := []int{112, 112, 112, 112}
			if filepath.Ext(member) == ".evt" {
				whole[1] = 0
			}
			found := slices.ContainsFunc(s.Findings(), func(f trace.Finding) bool {
				return f.Code == trace.CodeMissingFile && f.Count == 1 && f.First.File == path
			})
			if !slices.Equal(events, whole) || !found {
				t.Errorf("%s as %s: events %v, findings %v", kind, member, events, s.Findings())
			}
		}
	}
}

// TestErrorIsOfTheFirstLocation: which location's files are opened first does not matter.
func TestErrorIsOfTheFirstLocation(t *testing.T) {
	dir, _ := linkTree(t, "../../samples/archives/ring-4-plain")
	events := filepath.Join(dir, "traces")
	if err := errors.Join(os.RemoveAll(events), os.WriteFile(events, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := Open(t.Context(), dir, 4); !errors.Is(err, syscall.ENOTDIR) || !strings.Contains(err.Error(), "0.def") {
			t.Fatalf("%v, want that 0.def cannot be opened", err)
		}
	}
}
