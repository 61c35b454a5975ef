package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
)

// differing are the flags whose meaning depends on the command, and why.
var differing = map[string]string{
	"each":        "what is said of each run: its run time with costs, or its formulae",
	"output":      "what is written differs: a trace, a page, a picture, a profile, a directory",
	"sample":      "of calls for fit, the ranks that sample for headers",
	"shard":       "each stage leaves its share for the next one in a way of its own",
	"clock":       "commands that copy a trace leave its times as they are by default",
	"format":      "of rows for sql, of the text for compare, of a trace else",
	"measurement": "whatif adds costs of several kinds, or removes them",
	"top":         "fit shows all rows by default, and draws as many histograms",
}

// TestFlagsMeanOneThing: a flag has one type, one short name and one meaning in all commands; who takes the begin of a stretch of
// time takes its end and a phase as well.
func TestFlagsMeanOneThing(t *testing.T) {
	meanings := make(map[string]map[string][]string) // by flag: its meanings, and the commands that have it
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		has := func(flag string) bool { return c.LocalFlags().Lookup(flag) != nil }
		if has("from") != has("to") || has("from") != has("phase") {
			t.Errorf("%s: --from %v, --to %v, --phase %v", c.Name(), has("from"), has("to"), has("phase"))
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			if meanings[f.Name] == nil {
				meanings[f.Name] = make(map[string][]string)
			}
			meaning := fmt.Sprintf("%s -%s %s", f.Value.Type(), f.Shorthand, f.Usage)
			meanings[f.Name][meaning] = append(meanings[f.Name][meaning], c.Name())
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot(&cli.Streams{}))
	for flag, of := range meanings {
		if _, listed := differing[flag]; listed != (len(of) > 1) {
			t.Errorf("--%s is listed as differing: %v; it has %d meanings: %v", flag, listed, len(of), of)
		}
	}
}

// phaseCommands are the commands that take a phase, each printing what depends on it.
func phaseCommands(dir, archive string) [][]string {
	return [][]string{{"analyze", archive}, {"headers", archive}, {"fit", archive}, {"sample", archive},
		{"reduce", archive}, {"spacetime", archive, "-o", filepath.Join(dir, "x.svg"), "--force"}}
}

// TestPhasesCountFromOne: none is no phase to ask for, and not the whole run.
func TestPhasesCountFromOne(t *testing.T) {
	for _, args := range phaseCommands(t.TempDir(), sampleArchive(t, "ring-4-plain")) {
		for _, phase := range []string{"0", "-1", "x"} {
			_, stderr, code := tracekit(t, t.TempDir(), append(args, "--phase", phase)...)
			if code != exitUsage || !strings.Contains(stderr, "--phase ") || !strings.Contains(stderr, "want a") {
				t.Errorf("%v --phase %s: exit code %d, %s", args, phase, code, stderr)
			}
		}
		if _, stderr, code := tracekit(t, t.TempDir(), append(args, "--phase", "1", "--to", "50%")...); code != exitUsage {
			t.Errorf("%v --phase 1 --to 50%%: exit code %d, %s", args, code, stderr)
		}
		if _, stderr, code := tracekit(t, t.TempDir(), append(args, "--phase", "100000")...); code != exitFailed ||
			!strings.Contains(stderr, "phase 100000") {
			t.Errorf("%v --phase 100000: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestPhaseIsItsTime: a phase selects what its begin and end select.
func TestPhaseIsItsTime(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "halo", "-q", "--ranks", "4", "--iterations", "20", "--late-sender", "5000", "-o", "halo")
	archive := filepath.Join(dir, "halo")
	type analyzed struct {
		Selection document.Selection
		Phases    *document.Phases
	}
	analysis := func(flags ...string) (a analyzed) {
		out := succeed(t, dir, append([]string{"analyze", "--json", archive}, flags...)...)
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	phases, start := analysis().Phases, analysis("--ranks", "0").Selection.FromNs
	if phases == nil || len(phases.Rows) < 4 {
		t.Fatalf("no phases: %v", phases)
	}
	third := phases.Rows[2]
	at := func(ns int64) string { return fmt.Sprintf("%dns", ns-start) }
	for _, args := range phaseCommands(dir, archive) {
		args = append(args, "--json")
		phase := succeed(t, dir, append(slices.Clone(args), "--phase", "3")...)
		times := succeed(t, dir, append(slices.Clone(args), "--from", at(third.FromNs), "--to", at(third.ToNs))...)
		if phase != times {
			t.Errorf("%v: --phase 3 differs from its times", args)
		}
		if all := args[:len(args):len(args)]; args[0] != "spacetime" && args[0] != "reduce" && succeed(t, dir, all...) == phase {
			t.Errorf("%v: --phase 3 selects the whole run", args)
		}
	}
}
