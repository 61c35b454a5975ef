package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestGroupFlags: help lists seldom flags behind the others, of a command below the one that was told so, too.
func TestGroupFlags(t *testing.T) {
	root, c := &cobra.Command{Use: "x"}, &cobra.Command{Use: "y", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(c)
	c.Flags().Bool("plain", false, "as any")
	c.Flags().Bool("strict", false, "seldom")
	GroupFlags(root)
	basic, seldom, found := strings.Cut(c.UsageString(), "Advanced flags:")
	if !found || !strings.Contains(basic, "--plain") || strings.Contains(basic, "--strict") || !strings.Contains(seldom, "--strict") ||
		strings.Contains(seldom, "--plain") {
		t.Error(c.UsageString())
	}
}

// TestLike: --like sets the flags of another tool, and a later flag overrides them.
func TestLike(t *testing.T) {
	for args, want := range map[string]MergeFlags{
		"--like scalasca":                     {Clock: "offsets", MinLatency: time.Microsecond},
		"--clock none --like scalasca":        {Clock: "offsets", MinLatency: time.Microsecond},
		"--like scalasca --clock clc":         {Clock: "clc", MinLatency: time.Microsecond},
		"--like scalasca --min-latency 200ns": {Clock: "offsets", MinLatency: 200 * time.Nanosecond},
	} {
		f, c := MergeFlags{}, &cobra.Command{Use: "x"}
		f.Add(c.Flags())
		if err := c.ParseFlags(strings.Fields(args)); err != nil || f.Clock != want.Clock || f.MinLatency != want.MinLatency {
			t.Errorf("%s: clock %s, least latency %v, %v; want %s, %v", args, f.Clock, f.MinLatency, err, want.Clock, want.MinLatency)
		}
	}
	f, c := MergeFlags{}, &cobra.Command{Use: "x"}
	f.Add(c.Flags())
	if err := c.ParseFlags([]string{"--like", "vampir"}); err == nil || !strings.Contains(err.Error(), "want scalasca") {
		t.Errorf("--like vampir: %v; want that scalasca is wanted", err)
	}
}
