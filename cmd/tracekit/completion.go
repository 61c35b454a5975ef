package main

import (
	"slices"

	"github.com/spf13/cobra"

	"tracekit/readers"
	"tracekit/samples"
)

// flagValues returns the values of flags that take one of a few, for shell completion. A
// flag of the same name has the same values in every command.
func flagValues() map[string][]string {
	return map[string][]string{
		"align":     {"recorded", "start"},
		"analysis":  {"stat", "freq", "write"},
		"benchmark": {"baseline=", "layer=", "sample=", "write="},
		"clock":     {"auto", "none", "offsets", "clc"},
		"color-by":  {"region", "paradigm", "wait"},
		"durations": {"mean", "law"},
		"formulae":  {"all", "paper"},
		"format":    readers.Formats(),
		"growth":    {"constant", "log", "sqrt", "linear", "nlogn"},
		"layout":    {"92", "96"},
		"messages":  {"auto", "all", "none"},
		"mode":      {"lossless", "stat"},
		"network":   {"ideal", "latency=", "bandwidth="},
		"offsets":   {"right", "none", "wrong"},
		"rows":      {"processes", "threads", "devices", "all"},
		"sort":      {"none", "time", "wait", "name"},
		"since":     {"send", "sample"},
		"strategy":  {"random", "counter", "timer"},
		"scaling":   {"auto", "strong", "weak"},
		"transfers": {"model", "trace"},
	}
}

// addCompletion makes a command complete the values of its flags: those of a few, names of
// directories, and nothing where a number is wanted.
func addCompletion(c *cobra.Command) {
	for name, values := range flagValues() {
		complete(c, name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, name := range []string{"jobs", "memory", "ranks", "from", "to", "phase", "top", "quantile", "alpha", "window", "terms", "time-error", "min-latency", "width", "height", "seed", "size",
		"scale", "balance", "cap", "rank-speed", "nonblocking", "order", "mask", "monitoring", "sample",
		"config", "threshold", "period", "variance", "min-bytes", "max-bytes", "site", "cost-baseline", "cost-layer", "cost-sample", "cost-write", "cost-limit", "plan", "at",
		"keep", "functions", "without", "shorter", "neighbours", "slowest", "target", "target-events", "measurement", "require",
		"repeating-marker", "repeating-keep", "repeating-distance", "block", "shard"} {
		complete(c, name, cobra.NoFileCompletions)
	}
	switch {
	case slices.Contains([]string{"analyze", "combine", "compare", "sample", "scaling"}, c.Name()):
		complete(c, "output", completeDirectory)
	case slices.Contains([]string{"spacetime", "headers"}, c.Name()):
		complete(c, "output", completeFile("png", "svg"))
	case c.Name() == "report":
		complete(c, "output", completeFile("html"))
	case c.Name() == "compress":
		complete(c, "output", completeFile("tkf"))
	case c.Name() == "fit":
		complete(c, "output", completeFile("json"))
		complete(c, "plots", completeDirectory)
	}
	complete(c, "profile", completeFile("json"))
	complete(c, "rules", completeFile("star"))
}

func complete(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if c.Flags().Lookup(flag) == nil {
		return
	}
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("tracekit: " + err.Error()) // it was registered before
	}
}

func completeDirectory(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeFile(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

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
