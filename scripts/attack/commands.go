package main

import "slices"

// A command is a way to call tracekit on a trace.
type command struct {
	name   string   // in the table
	args   []string // before the paths of the trace
	out    []string // behind them: what is written below out
	second string   // directory of a second trace: sound, or again, damaged in another place
	serves bool     // it serves a page until it is interrupted
	weight int      // how often it is called, relative to others
	only   string   // format; "": all traces
}

// Directories of a run's traces.
const (
	first = "t"
	sound = "sound"
	again = "again"
)

// commands are all that read a trace, with the flags that lead through other code.
var commands = []command{
	{name: "info", args: []string{"info"}, weight: 6},
	{name: "info --counts", args: []string{"info", "--counts"}, weight: 12},
	{name: "analyze", args: []string{"analyze"}, weight: 60},
	{name: "analyze --strict", args: []string{"analyze", "--strict", "--clock", "clc", "--min-latency", "1us"}, weight: 12},
	{name: "analyze selection", args: []string{"analyze", "--from", "10%", "--to", "70%", "--ranks", "0", "--memory", "1MiB"}, weight: 12},
	{name: "analyze -o", args: []string{"analyze"}, out: []string{"-o", "out/report"}, weight: 1},
	{name: "analyze --profile", args: []string{"analyze", "--profile", "t/profile.json"}, weight: 60, only: "profile"},
	{name: "combine", args: []string{"combine"}, weight: 20, only: "shards"},
	{name: "combine -o", args: []string{"combine"}, out: []string{"-o", "out/report"}, weight: 1, only: "shards"},
	{name: "combine --second-pass", args: []string{"combine", "--second-pass", "rm t/parts/*.task && mv t/left/* t/parts && " + bothShares},
		weight: 20, only: "tasks"},
	{name: "combine --second-pass", args: []string{"combine", "--second-pass", bothShares +
		" && rm t/parts/*.profile && mv t/left/* t/parts"}, weight: 20, only: "profiles of tasks"},
	{name: "combine", args: []string{"combine"}, out: []string{"-o", "out/x.tkf"}, weight: 20, only: "coded shards"},
	{name: "combine", args: []string{"combine"}, out: []string{"-o", "out/x"}, weight: 20, only: "event files"},
	{name: "fit", args: []string{"fit"}, out: []string{"-o", "out/profile.json"}, weight: 10},
	{name: "fit --paper --plots", args: []string{"fit", "--paper", "--stability"}, out: []string{"--plots", "out/plots"}, weight: 1},
	{name: "compress", args: []string{"compress"}, out: []string{"-o", "out/x.tkf"}, weight: 12},
	{name: "compress --time-error", args: []string{"compress", "--time-error", "1%"}, out: []string{"-o", "out/x.tkf"}, weight: 4},
	{name: "compress --mode stat", args: []string{"compress", "--mode", "stat", "--durations", "law"}, out: []string{"-o", "out/x.tkf"},
		weight: 12},
	{name: "formulae", args: []string{"formulae"}, weight: 8},
	{name: "reconstruct", args: []string{"reconstruct"}, out: []string{"-o", "out/x.json"}, weight: 24, only: "tkf stat"},
	{name: "reconstruct", args: []string{"reconstruct"}, out: []string{"-o", "out/x"}, weight: 24, only: "tkf lossless"},
	{name: "compare", args: []string{"compare"}, second: sound, weight: 10},
	{name: "compare two damaged", args: []string{"compare", "--records"}, second: again, weight: 8},
	{name: "compare -o", args: []string{"compare"}, second: sound, out: []string{"-o", "out/report"}, weight: 1},
	{name: "scaling", args: []string{"scaling"}, second: sound, weight: 6},
	{name: "scaling -o", args: []string{"scaling"}, second: sound, out: []string{"-o", "out/report"}, weight: 1},
	{name: "spacetime png", args: []string{"spacetime", "--width", "600"}, out: []string{"-o", "out/x.png"}, weight: 3},
	{name: "spacetime svg", args: []string{"spacetime", "--messages", "all"}, out: []string{"-o", "out/x.svg"}, weight: 10},
	{name: "headers", args: []string{"headers"}, weight: 6},
	{name: "whatif --gains", args: []string{"whatif", "--gains", "--slack"}, weight: 6},
	{name: "whatif -o", args: []string{"whatif", "--network", "ideal"}, out: []string{"-o", "out/x.json"}, weight: 6},
	{name: "explain", args: []string{"explain"}, weight: 6},
	{name: "sample", args: []string{"sample", "--config", "P-0.3-FREQ", "--config", "C-4-V2-STAT", "--analyses"}, weight: 6},
	{name: "reduce", args: []string{"reduce", "--busy", "--keep", "rank < 2"}, out: []string{"-o", "out/x"}, weight: 6},
	{name: "reduce --repeating", args: []string{"reduce", "--repeating"}, out: []string{"-o", "out/x.json"}, weight: 6},
	{name: "report", args: []string{"report"}, out: []string{"-o", "out/x.html"}, weight: 8},
	{name: "view", args: []string{"view"}, serves: true, weight: 4},
	{name: "view --keep-index", args: []string{"view", "--keep-index=beside"}, serves: true, weight: 6, only: "index"},
	{name: "convert otf2", args: []string{"convert"}, out: []string{"out/x"}, weight: 12},
	{name: "convert paraver", args: []string{"convert"}, out: []string{"out/x.prv"}, weight: 12},
	{name: "convert json", args: []string{"convert", "--clock", "auto"}, out: []string{"out/x.json"}, weight: 12},
	{name: "convert json.gz", args: []string{"convert"}, out: []string{"out/x.json.gz"}, weight: 6},
	{name: "convert arrow", args: []string{"convert"}, out: []string{"out/x.arrow"}, weight: 8},
	{name: "convert parquet", args: []string{"convert"}, out: []string{"out/x.parquet"}, weight: 6},
}

// single are the commands that take one path for a trace.
var single = []string{"explain", "formulae", "compare", "scaling", "spacetime", "reconstruct"}

// takes reports whether the command can be called on a sample.
func (c command) takes(s *sample) bool {
	if c.only != "" || s.beside() {
		return c.only == s.format
	}
	return len(s.open) == 1 || !slices.Contains(single, c.args[0])
}

// traces returns the directories of the traces that the command is given.
func (c command) traces() []string {
	if c.second == "" {
		return []string{first}
	}
	return []string{first, c.second}
}

// line returns the arguments for a sample whose copies lie in those directories.
func (c command) line(s *sample, document bool, jobs string) []string {
	args := slices.Clone(c.args)
	for _, dir := range c.traces() {
		args = append(args, under(dir, s.open)...)
	}
	args = append(args, c.out...)
	if document {
		args = append(args, "--json")
	}
	return append(args, "--quiet", "-j", jobs)
}
