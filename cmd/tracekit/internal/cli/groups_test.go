package cli

import (
	"strings"
	"testing"

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
