package main

import (
	"github.com/spf13/cobra"

	"tracekit/samples"
)

// completePrograms completes the first argument of generate.
func completePrograms(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, p := range samples.Programs() {
		names = append(names, cobra.CompletionWithDesc(p.Name, p.Help))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
