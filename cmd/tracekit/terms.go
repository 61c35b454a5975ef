package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tracekit/report"
	"tracekit/report/text"
)

// newTerms makes the help topic that explains the words of the reports. Its text is made when it is
// asked for: breaking its lines would be a fifth of every command's start.
func newTerms() *cobra.Command {
	c := &cobra.Command{Use: "terms", Short: "Explain the words of the reports"}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		var b strings.Builder
		b.WriteString("The words of the reports. docs/DEFINITIONS.md has the exact definitions.\n")
		for _, t := range report.Terms() {
			fmt.Fprintf(&b, "\n%s\n    %s\n", t.Word, text.Wrap("    "+t.Meaning, 80, 4)[4:])
		}
		c.Long = b.String()
		c.Root().HelpFunc()(c, args)
	})
	return c
}
