package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestToolsAreCommands states which command line each tool is, that nothing a call names is taken for a flag, and that further pages of an
// answer run nothing.
func TestToolsAreCommands(t *testing.T) {
	var ran [][]string
	client, server := mcp.NewInMemoryTransports()
	s := NewServer("1", func(_ context.Context, line []string) (Answer, error) {
		ran = append(ran, line)
		if slices.Contains(line, "missing") {
			return Answer{}, errors.New("missing: no such file")
		}
		return Answer{Text: strings.Repeat("a line\n", 2000)}, nil
	})
	if _, err := s.Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	type arguments = map[string]any
	for _, c := range []struct {
		tool string
		arguments
		want string // "": nothing runs
		has  string
	}{
		{"info", arguments{"trace": "--json", "counts": true}, "info --quiet --counts -- --json", "a line"},
		{"info", arguments{"trace": "--json", "counts": true, "page": 2}, "", "page 3 has"},
		{"analyze", arguments{"trace": []string{"a", "b"}, "sections": []string{"waits", "path"}, "from": "10%"},
			"analyze --quiet --section=waits,path --from=10% -- a b", "Evidence: "},
		{"analyze", arguments{"trace": "a", "page": 2}, "analyze --quiet -- a", "page 3 has"},
		{"explain", arguments{"trace": "a", "wait": "0@1s"}, "explain --quiet -- a 0@1s", "a line"},
		{"explain", arguments{"term": "late sender"}, "", "late sender: "},
		{"explain", arguments{"trace": "a", "cause": 1}, "analyze --quiet -- a", "there is no cause 1"},
		{"whatif", arguments{"trace": "a", "scale": []string{"x=2", "y=3"}, "rank_speed": []string{"0=2"}},
			"whatif --quiet --scale=x=2 --scale=y=3 --rank-speed=0=2 -- a", "a line"},
		{"compare", arguments{"a": []string{"a1", "a2"}, "b": "b"}, "compare --quiet --runs=2 -- a1 a2 b", "a line"},
		{"compare", arguments{"baseline": "f", "b": "b"}, "compare --quiet --baseline=f -- b", "a line"},
		{"baseline", arguments{"file": "f", "runs": "a", "replace": true}, "baseline --quiet --replace -- f a", "a line"},
		{"sql", arguments{"traces": "a", "query": "select 1", "one_trace": true}, "sql --quiet --format=csv --one-trace -- a select 1", "a line"},
		{"analyze", arguments{"trace": "missing"}, "analyze --quiet -- missing", "no such file"},
		{"analyze", arguments{"trace": "missing", "page": 2}, "analyze --quiet -- missing", "no such file"}, // an error is no answer
	} {
		ran = nil
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, line := range ran {
			got += strings.Join(line, " ")
		}
		if text := r.Content[0].(*mcp.TextContent).Text; got != c.want || !strings.Contains(text, c.has) {
			t.Errorf("%s %v: ran %q, want %q; %q is not in\n%.300s", c.tool, c.arguments, got, c.want, c.has, text)
		}
	}
}
