package waitstate

import (
	"os"
	"strings"
	"testing"
)

// TestWaitStatesAreDefined holds the table of wait states against the headings of the definitions. Keys and
// titles are those of one state each.
func TestWaitStatesAreDefined(t *testing.T) {
	text, err := os.ReadFile("../../docs/DEFINITIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for k := None + 1; k < Kinds; k++ {
		info := k.Info()
		if !strings.Contains(string(text), "\n## "+info.Definition+" ") {
			t.Errorf("%s: there is no section %q", info.Key, info.Definition)
		}
		if info.Key == "" || info.Title == "" || known[info.Key] || known[info.Title] {
			t.Errorf("wait state %d is %+v", k, info)
		}
		known[info.Key], known[info.Title] = true, true
	}
}
