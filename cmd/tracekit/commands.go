package main

import "github.com/spf13/cobra"

// commands returns the subcommands in the order of the help text.
func commands(io *streams) []*cobra.Command {
	return []*cobra.Command{
		newInfo(io, runInfo),
		newAnalyze(io, runAnalyze),
		newFit(io, runFit),
		newSpacetime(io, runSpacetime),
		newCompare(io, runCompare),
		newCompress(io, runCompress),
		newReconstruct(io, runConvert),
		newConvert(io, runConvert),
		newGenerate(io, runGenerate),
		newMan(io),
	}
}
