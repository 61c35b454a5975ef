package main

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"tracekit/trace/tracetest"
)

// TestManualPagesOfPackages states that rpms list each manual page that the command writes, as documentation.
func TestManualPagesOfPackages(t *testing.T) {
	var release struct {
		Packages []struct {
			Contents []struct{ Src, Dst, Packager, Type string }
		} `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal(tracetest.ReadFile(t, "../../.goreleaser.yaml"), &release); err != nil {
		t.Fatal(err)
	}
	var listed, pages []string
	for _, c := range release.Packages[0].Contents {
		if name, ok := strings.CutPrefix(c.Dst, "/usr/share/man/man1/"); ok && c.Packager == "rpm" && c.Type == "doc" {
			if path.Base(c.Src) != name {
				t.Errorf("%s becomes %s", c.Src, name)
			}
			listed = append(listed, name)
		}
	}
	dir := t.TempDir()
	succeed(t, dir, "man", ".")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pages = append(pages, e.Name()+".gz")
	}
	if !slices.Equal(listed, pages) {
		t.Errorf("the rpm lists %q, the command writes %q", listed, pages)
	}
}
