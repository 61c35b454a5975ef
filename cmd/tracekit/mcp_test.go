package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tracekit/agent"
	"tracekit/trace/tracetest"
)

// connected returns a client of the server that a transport leads to.
func connected(t *testing.T, to mcp.Transport) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func inMemory(t *testing.T) *mcp.ClientSession {
	t.Helper()
	client, server := mcp.NewInMemoryTransports()
	if _, err := agent.NewServer("", answer).Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	return connected(t, client)
}

// call returns what a tool answers, and whether that is an error.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if len(text) > 4000 {
		t.Errorf("%s %v: the answer has %d bytes", tool, arguments, len(text))
	}
	return text, r.IsError
}

// TestAgentsAskWhoMakesOthersWait states that one call answers it, with the evidence, from a server in memory and from the program.
func TestAgentsAskWhoMakesOthersWait(t *testing.T) {
	program := exec.Command(os.Args[0], "mcp")
	program.Env = append(os.Environ(), asProgram+"=1")
	for name, s := range map[string]*mcp.ClientSession{"memory": inMemory(t),
		"program": connected(t, &mcp.CommandTransport{Command: program})} {
		text, failed := call(t, s, "analyze", map[string]any{"trace": []string{sampleArchive(t, "ring-4")}})
		for _, want := range []string{"Rank 2 is slow in work (ring.c:31)", "97 % caused by rank 2", "no record of the trace is missing"} {
			if failed || !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
	}
}

// TestAgentsTools states what each tool answers, and that each answer is short.
func TestAgentsTools(t *testing.T) {
	s := inMemory(t)
	ring, missing := []string{sampleArchive(t, "ring-4")}, []string{"missing"}
	type arguments = map[string]any
	for _, c := range []struct {
		tool      string
		arguments arguments
		want      string
		fails     bool
	}{
		{"info", arguments{"trace": ring}, "4", false},
		{"info", arguments{"trace": ring[0]}, "4", false},
		{"compare", arguments{"a": ring[0], "b": ring[0]}, "noise", false},
		{"sql", arguments{"traces": ring[0], "query": "select count(*) from calls"}, "count(*)", false},
		{"info", arguments{"trace": 7}, "trace", true},
		{"info", arguments{"trace": missing}, "missing: no such file", true},
		{"info", arguments{"trace": ring, "counts": true}, "Leave", false},
		{"analyze", arguments{"trace": ring, "sections": []string{"waits"}}, "late sender", false},
		{"analyze", arguments{"trace": ring, "sections": []string{"nothing"}}, "causes", true},
		{"analyze", arguments{"trace": ring, "sections": []string{"all"}}, "page 2 has the next ones", false},
		{"analyze", arguments{"trace": ring, "sections": []string{"all"}, "page": 2}, "Evidence", false},
		{"analyze", arguments{"trace": ring, "sections": []string{"waits"}, "page": 99}, "the answer has 1 page", true},
		{"analyze", arguments{"trace": []string{"--output=x"}}, "no such file", true},
		{"analyze", arguments{"trace": ring, "ranks": "0 --output=x"}, "ranks", true},
		{"explain", arguments{"term": "late sender"}, "the message is sent later", false},
		{"explain", arguments{"term": "flux"}, "no term", true},
		{"explain", arguments{"trace": ring}, "Origin: rank 2 in work", false},
		{"explain", arguments{"trace": ring, "wait": "nowhere"}, "nowhere", true},
		{"explain", arguments{"trace": ring, "cause": 1}, `"mean_of_others_ns"`, false},
		{"explain", arguments{"trace": ring, "cause": 7}, "no cause 7", true},
		{"whatif", arguments{"trace": ring, "scale": []string{"work=0.125@2"}}, "With scale work=0.125@2: 339 ms", false},
		{"compare", arguments{"a": ring, "b": ring}, "Total rank time: 1.78 s in both", false},
		{"sql", arguments{"traces": ring, "query": "select rank, count(*) as n from calls group by rank limit 1"}, "rank,n\n0,", false},
		{"sql", arguments{"traces": ring, "query": "select * from visits"}, "page 2", false},
		{"sql", arguments{"traces": ring, "query": "delete from calls"}, "may only read", true},
	} {
		text, failed := call(t, s, c.tool, c.arguments)
		if failed != c.fails || !strings.Contains(text, c.want) || strings.Contains(text, "See '") {
			t.Errorf("%s %v: want %q, failed %t:\n%s", c.tool, c.arguments, c.want, failed, text)
		}
	}
}

// TestAgentsKeepBaselines states that a baseline has the runs that calls name, that a comparison with it is that with its runs, and that
// no other file is written.
func TestAgentsKeepBaselines(t *testing.T) {
	dir := t.TempDir()
	s, ring, kept, other := inMemory(t), sampleArchive(t, "ring-4"), filepath.Join(dir, "kept.json"), filepath.Join(dir, "notes.json")
	tracetest.WriteFile(t, other, `{"mine": true}`)
	type arguments = map[string]any
	answer := make(map[string]string)
	for _, c := range []struct {
		name, tool string
		arguments  arguments
		fails      bool
	}{
		{"missing", "baseline", arguments{"file": kept}, true},
		{"kept", "baseline", arguments{"file": kept, "runs": []string{ring}}, false},
		{"shown", "baseline", arguments{"file": kept}, false},
		{"again", "baseline", arguments{"file": kept, "runs": []string{ring}}, true},
		{"replaced", "baseline", arguments{"file": kept, "runs": []string{ring}, "replace": true}, false},
		{"foreign", "baseline", arguments{"file": other, "runs": []string{ring}, "replace": true}, true},
		{"with runs", "compare", arguments{"a": []string{ring}, "b": []string{ring}}, false},
		{"with file", "compare", arguments{"baseline": kept, "b": []string{ring}}, false},
		{"with both", "compare", arguments{"baseline": kept, "a": []string{ring}, "b": []string{ring}}, true},
	} {
		text, failed := call(t, s, c.tool, c.arguments)
		if answer[c.name] = text; failed != c.fails {
			t.Errorf("%s: failed %t:\n%s", c.name, failed, text)
		}
	}
	verdict := "Total rank time: 1.78 s in both"
	if !strings.Contains(answer["with runs"], verdict) || !strings.Contains(answer["with file"], verdict) {
		t.Errorf("with runs:\n%s\nwith the file:\n%s", answer["with runs"], answer["with file"])
	}
	if answer["kept"] != answer["shown"] || answer["kept"] != answer["replaced"] {
		t.Errorf("kept:\n%s\nshown:\n%s\nreplaced:\n%s", answer["kept"], answer["shown"], answer["replaced"])
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 || string(tracetest.ReadFile(t, other)) != `{"mine": true}` {
		t.Errorf("files are %v, %v", left, err)
	}
}

// TestAgentsTurnPages states that a further page is of the same answer, whatever became of the trace, and that other answers are not.
func TestAgentsTurnPages(t *testing.T) {
	s, ring := inMemory(t), filepath.Join(t.TempDir(), "ring")
	if err := os.CopyFS(ring, os.DirFS(sampleArchive(t, "ring-4"))); err != nil {
		t.Fatal(err)
	}
	ask := func(page int) (string, bool) {
		return call(t, s, "analyze", map[string]any{"trace": []string{ring}, "sections": []string{"all"}, "page": page})
	}
	first, failed := ask(1)
	if err := os.RemoveAll(ring); err != nil || failed {
		t.Fatal(err, first)
	}
	if second, failed := ask(2); failed || second == first || !strings.Contains(second, "Evidence: ") {
		t.Errorf("page 2:\n%s", second)
	}
	for _, page := range []int{1, 2} {
		if text, failed := ask(page); !failed {
			t.Errorf("page %d of a trace that is gone:\n%s", page, text)
		}
	}
}

// TestInfoClaimsNoEvidence states that info does not say that records fit together, which it has not compared.
func TestInfoClaimsNoEvidence(t *testing.T) {
	if got, _ := call(t, inMemory(t), "info", map[string]any{"trace": []string{sampleArchive(t, "ring-4")}}); strings.Contains(got,
		"Evidence") {
		t.Error("the answer has evidence")
	}
}

// TestAgentsHearOfDoubts states that what a trace lacks stands in the answers about it, and that the tools that read write nothing.
func TestAgentsHearOfDoubts(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "cut"), os.DirFS(sampleArchive(t, "ring-4"))); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cut", "traces", "*.evt"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	info, _ := os.Stat(files[0])
	if err := os.Truncate(files[0], info.Size()/2); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	s := inMemory(t)
	for _, tool := range []string{"analyze", "explain", "whatif"} {
		text, failed := call(t, s, tool, map[string]any{"trace": []string{"cut"}})
		if failed || !strings.Contains(text, "Evidence lacks:\n* ") {
			t.Errorf("%s:\n%s", tool, text)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}
