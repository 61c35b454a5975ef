package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan makes the command that writes the manual pages of all commands. Their date is
// left out, so that the same program writes the same pages.
func newMan(io *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long:  "Man writes a manual page for each command into a directory, such as ~/.local/share/man/man1.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			epoch := time.Unix(0, 0).UTC()
			header := &doc.GenManHeader{Section: "1", Source: "tracekit", Date: &epoch}
			c.Root().DisableAutoGenTag = true
			return doc.GenManTree(c.Root(), header, args[0])
		},
	}
}
