package spans

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// TestDocumented states that the names of columns in the reference are those that are known, in their order.
func TestDocumented(t *testing.T) {
	text := string(tracetest.ReadFile(t, filepath.Join("..", "..", "docs", "reference", "formats.md")))
	_, table, _ := strings.Cut(text, "| Field | Other names |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != len(Fields()) {
		t.Fatalf("%d fields are documented, there are %d", len(rows), len(Fields()))
	}
	name := regexp.MustCompile("`([^`]+)`")
	for f, want := range Fields() {
		var got []string
		for _, part := range name.FindAllStringSubmatch(rows[f], -1) {
			got = append(got, part[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("documented are %q, known are %q", got, want)
		}
	}
}
