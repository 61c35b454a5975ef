package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// advanced are flags that are seldom needed: help shows them behind the others.
var advanced = []string{"align", "alpha", "clock", "diagnosis", "fail-if", "families", "force", "jobs", "like", "memory", "min-latency",
	"overhead", "profile", "quantile", "quiet", "shard", "strict", "window"}

// GroupFlags lets the help of a command and of those below it show advanced flags apart.
func GroupFlags(c *cobra.Command) {
	cobra.AddTemplateFunc("basicFlags", func(set *pflag.FlagSet) string { return usages(set, false) })
	cobra.AddTemplateFunc("advancedFlags", func(set *pflag.FlagSet) string { return usages(set, true) })
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), `Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}`, `Flags:
{{basicFlags .LocalFlags | trimTrailingWhitespaces}}{{with advancedFlags .LocalFlags}}

Advanced flags:
{{. | trimTrailingWhitespaces}}{{end}}`, 1))
}

// usages describes the advanced flags of a set, or the others.
func usages(set *pflag.FlagSet, wanted bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(advanced, f.Name) == wanted {
			some.AddFlag(f)
		}
	})
	return some.FlagUsages()
}
