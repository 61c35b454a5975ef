package flags

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlags states what values of each kind are read, and how messages about bad ones begin and end.
func TestFlags(t *testing.T) {
	var got struct {
		clock   string
		layout  int
		jobs    int
		alpha   float64
		latency time.Duration
		memory  int64
		names   []string
		pairs   []int
	}
	c := &cobra.Command{Use: "x"}
	set := c.Flags()
	VarP(set, &got.jobs, Int(1, 1024), "jobs", "j", "4", "")
	Var(set, &got.clock, Choice("auto", "none", "clc"), "clock", "auto", "")
	Var(set, &got.layout, Choice(92, 96), "layout", "92", "")
	Var(set, &got.alpha, NumberIn("0 to 1", func(v float64) bool { return v >= 0 && v <= 1 }), "alpha", "", "")
	Var(set, &got.latency, Duration(time.Second), "latency", "", "")
	Var(set, &got.memory, Size(), "memory", "", "")
	Var(set, &got.names, Repeated(Text()), "name", "", "")
	Var(set, &got.pairs, List(Int(0, math.MaxInt)), "pairs", "", "")
	root := &cobra.Command{}
	root.AddCommand(c)
	Complete(root)
	if err := c.ParseFlags([]string{"--clock", "clc", "--layout=96", "--alpha=0.5", "--latency=1ms", "--memory=2K",
		"--name=a,b", "--name=c", "--pairs=1,2",
		"--pairs=3"}); err != nil {
		t.Fatal(err)
	}
	if got.jobs != 4 || got.clock != "clc" || got.layout != 96 || got.alpha != 0.5 || got.latency != time.Millisecond || got.memory != 2048 ||
		!slices.Equal(got.names, []string{"a,b", "c"}) || !slices.Equal(got.pairs, []int{1, 2, 3}) {
		t.Errorf("read %+v", got)
	}
	if err := c.ParseFlags([]string{"--memory=", "--pairs="}); err != nil || got.memory != 0 || len(got.pairs) != 3 {
		t.Errorf("an empty text is no value: %v, %+v", err, got)
	}
	for args, want := range map[string]string{
		"--jobs=":        `--jobs "": want a whole number`,
		"--jobs=0":       "--jobs 0: want 1 to 1024",
		"-jx":            `--jobs "x": want a whole number`,
		"--clock=foo":    `--clock "foo": want auto, none or clc`,
		"--layout=93":    "--layout 93: want 92 or 96",
		"--alpha=2":      "--alpha 2: want 0 to 1",
		"--alpha=x":      `--alpha "x": want a number`,
		"--alpha=NaN":    "--alpha NaN: want 0 to 1",
		"--latency=2s":   "--latency 2s: want 0 to 1s",
		"--latency=long": `--latency "long": want a time such as 1us`,
		"--memory=3q":    `--memory "3q": want a size such as 512MiB or 2G`,
		"--pairs=1,-2":   "--pairs 1,-2: want at least 0",
	} {
		if err := Error(c.ParseFlags([]string{args})); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
	set.VisitAll(func(f *pflag.Flag) {
		complete, ok := c.GetFlagCompletionFunc(f.Name)
		if !ok {
			t.Fatalf("--%s completes to files", f.Name)
		}
		values, how := complete(c, nil, "")
		if offers := f.Name == "clock" || f.Name == "layout"; how != cobra.ShellCompDirectiveNoFileComp || offers != (len(values) > 0) {
			t.Errorf("--%s completes to %q, directive %d", f.Name, values, how)
		}
	})
}
