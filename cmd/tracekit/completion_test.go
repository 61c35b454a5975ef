package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/samples"
)

// TestCompletedValuesAreAccepted completes each flag that takes one of a few values, and
// gives each value to the command: it may fail for want of a trace, not for the value.
func TestCompletedValuesAreAccepted(t *testing.T) {
	dir, seen := t.TempDir(), 0
	arguments := map[string][]string{
		"analyze": {"nowhere", "-o", "x"}, "spacetime": {"nowhere", "-o", "x.png"}, "convert": {"nowhere", "x"},
		"compress":    {"nowhere", "-o", "x.tkf"},
		"reconstruct": {"nowhere", "-o", "x"}, "whatif": {"nowhere", "--gains"}, "reduce": {"nowhere", "--repeating"},
		"baseline": {"new.json", "nowhere"}, "compare": {"nowhere",
			"nowhere"}, "generate": {"ring", "--ranks", "2", "--iterations", "1"},
		"report": {"nowhere", "-o", "x.html"},
	}
	root := newRoot(&cli.Streams{})
	flags.Complete(root)
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			if !ok {
				return
			}
			got, how := complete(c, nil, "")
			if how != cobra.ShellCompDirectiveNoFileComp || len(got) == 0 {
				return // a file, or a value of which there are many
			}
			seen++
			if offered := completed(t, dir, c.Name(), "--"+f.Name+"="); !slices.Equal(offered, got) { // also of flags that may stand bare
				t.Errorf("%s --%s completes to %q, want %q", c.Name(), f.Name, offered, got)
			}
			for _, value := range got {
				if strings.HasSuffix(value, "=") || strings.HasSuffix(value, "=+") {
					continue // to be typed on
				}
				args := append([]string{c.Name()}, arguments[c.Name()]...)
				if len(args) == 1 {
					args = append(args, "nowhere")
				}
				if c.Name() == "generate" {
					args = append(args, "-o", filepath.Join(dir, f.Name+value))
				}
				if _, stderr, code := tracekit(t, dir, append(args, "--"+f.Name+"="+value)...); code == exitUsage {
					t.Errorf("%v --%s %s: %s", args, f.Name, value, stderr)
				}
			}
		})
	}
	if seen < 40 {
		t.Errorf("%d flags offer values, want 40 or more", seen)
	}
	var programs []string
	for _, p := range samples.Programs() {
		programs = append(programs, p.Name)
	}
	programs = append(programs, "training")
	if got := completed(t, dir, "generate", ""); strings.Join(got, " ") != strings.Join(programs, " ") {
		t.Errorf("generate completes to %q, want %q", got, programs)
	}
}

// completed returns the candidates that the shell is given, without their descriptions.
func completed(t *testing.T, dir string, args ...string) (values []string) {
	t.Helper()
	stdout := succeed(t, dir, append([]string{"__complete"}, args...)...)
	for line := range strings.Lines(stdout) {
		value, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(value, ":") {
			break
		}
		values = append(values, value)
	}
	return values
}
