package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// TestManualPagesOfPackages states that rpms list each manual page that the command writes, as documentation.
func TestManualPagesOfPackages(t *testing.T) {
	file := absolute(t, "../../.goreleaser.yaml")
	dir := t.TempDir()
	succeed(t, dir, "man", ".")
	pages, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&want, "      - {src: build/extras/man.gz/%[1]s.gz, dst: /usr/share/man/man1/%[1]s.gz, packager: rpm, type: doc, "+
			"file_info: {mode: 0644}}\n", p.Name())
	}
	list := regexp.MustCompile(`(?m)(^      - \{src: build/extras/man\.gz/tracekit.*\n)+`)
	is := list.FindString(string(tracetest.ReadFile(t, file)))
	switch {
	case is == want.String():
	case *update:
		tracetest.WriteFile(t, file, list.ReplaceAllLiteralString(string(tracetest.ReadFile(t, file)), want.String()))
	default:
		t.Errorf("%s lists\n%sthe command writes\n%sgo test ./cmd/tracekit -update lists these", file, is, want.String())
	}
}
