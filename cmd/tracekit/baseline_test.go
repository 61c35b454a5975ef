package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"tracekit/document/outcome"
	"tracekit/stats/compare"
	"tracekit/trace/tracetest"
)

// TestBaselineFile states that a comparison with a baseline is that with its runs, real ones and such that lost data; that the file
// depends on the runs alone; and that it is left as it was by a run that is refused.
func TestBaselineFile(t *testing.T) {
	dir := t.TempDir()
	halo2d := sampleArchive(t, "halo2d-8")
	lossy := filepath.Join(dir, "lossy")
	succeed(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "10", "--seed", "7", "--lost", "2", "-o", lossy)
	one, two, three := halo(t, dir, "1"), halo(t, dir, "2"), halo(t, dir, "3")
	for _, c := range []struct {
		runs []string
		b    string
	}{{[]string{halo2d}, halo2d}, {[]string{one, two}, three}, {[]string{lossy}, one}} {
		args := append([]string{"baseline", "--replace", "kept.json"}, c.runs...)
		succeed(t, dir, args...)
		got := compared(t, dir, "--baseline", "kept.json", c.b)
		want := compared(t, dir, append(append([]string{"--runs", []string{"", "1", "2"}[len(c.runs)]}, c.runs...), c.b)...)
		want.Baseline = "kept.json"
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(outcome.Records{}, "Differences"),
			cmpopts.IgnoreUnexported(compare.Change{})); diff != "" {
			t.Errorf("%v (-runs +baseline):\n%s", c.runs, diff)
		}
	}
	succeed(t, dir, "baseline", "x.json", one)
	succeed(t, dir, "baseline", "x.json", two, three)
	succeed(t, dir, "baseline", "y.json", "-j", "3", three, two, one)
	text := string(tracetest.ReadFile(t, filepath.Join(dir, "x.json")))
	if text != string(tracetest.ReadFile(t, filepath.Join(dir, "y.json"))) {
		t.Error("the order of runs changes the file")
	}
	for want, args := range map[int][]string{
		exitGate:   {"baseline", "--strict", "--replace", "x.json", lossy},
		exitFailed: {"baseline", "x.json", one},
		exitUsage:  {"baseline", "--clock", "none", "x.json", lossy},
	} {
		if _, stderr, code := tracekit(t, dir, args...); code != want || text != string(tracetest.ReadFile(t, filepath.Join(dir, "x.json"))) {
			t.Errorf("%q: exit code %d: %s", args, code, stderr)
		}
	}
	stdout, _, code := tracekit(t, dir, "compare", "--strict", "--format", "markdown", "--baseline", "kept.json", one)
	if code != exitGate || !strings.Contains(stdout, "(doubtful: data are lost)") {
		t.Errorf("a baseline that lost data: exit code %d: %s", code, stdout)
	}
	tracetest.WriteFile(t, filepath.Join(dir, "later.json"), `{"schema": "tracekit.baseline/9"}`)
	if _, stderr, code := tracekit(t, dir, "compare", "--baseline", "later.json", one); code != exitUsage ||
		!strings.Contains(stderr, "it is tracekit.baseline/9") {
		t.Errorf("a later version: exit code %d: %s", code, stderr)
	}
	succeed(t, dir, "baseline", "--replace", "later.json", one)
	tracetest.WriteFile(t, filepath.Join(dir, "notes.json"), `{"mine": true}`)
	if _, _, code := tracekit(t, dir, "baseline", "--replace", "notes.json", one); code != exitUsage {
		t.Errorf("replacing a file that is no baseline: exit code %d", code)
	}
}

// TestWorkflow states that the workflow of docs/howto is YAML with the parts that GitHub asks for, and runs its commands.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../docs/howto/gate-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Name        string
		On          map[string]any
		Permissions map[string]string
		Concurrency string
		Jobs        map[string]struct {
			RunsOn []string `yaml:"runs-on"`
			Steps  []struct {
				Name, If, Uses, Run string
				With                map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&workflow); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, seed := range []string{"1", "2", "3"} {
		if err := os.Mkdir(filepath.Join(dir, "run-"+seed), 0o755); err != nil {
			t.Fatal(err)
		}
		succeed(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "10", "--seed", seed, "-o", "made-"+seed)
		if err := os.Rename("made-"+seed, filepath.Join("run-"+seed, "archive")); err != nil {
			t.Fatal(err)
		}
	}
	var commands [][]string
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			if (step.Uses == "") == (step.Run == "") {
				t.Errorf("step %q has to use an action or run a command", step.Name)
			}
			for line := range strings.Lines(step.Run) {
				if line, ours := strings.CutPrefix(strings.TrimSpace(line), "tracekit "); ours {
					line, _, _ = strings.Cut(line, " >>")
					commands = append(commands, arguments(strings.ReplaceAll(line, "/traces.otf2", "/archive")))
				}
			}
		}
	}
	if len(commands) != 2 || len(workflow.On) != 2 {
		t.Fatalf("commands %q on %v", commands, workflow.On)
	}
	for _, command := range [][]string{commands[1], commands[0]} { // the baseline comes from an earlier job
		succeed(t, dir, command...)
	}
}
