package main

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/spf13/pflag"

	"tracekit/merge"
	"tracekit/trace"
)

// mergeFlags are the flags of every command that reconciles a trace.
type mergeFlags struct {
	memory string
	clock  string

	memoryBytes int64
}

const defaultMemory = "192MiB"

// gcPercent is by how much the heap may grow between collections. What lives is mostly
// tables, which need no scanning and make no garbage: collecting often is cheap, and the
// process stays near the budget of its tables.
const gcPercent = 10

func (f *mergeFlags) add(set *pflag.FlagSet) {
	set.StringVar(&f.memory, "memory", defaultMemory, "`size` of the tables kept in memory; more goes to temporary files")
	set.StringVar(&f.clock, "clock", "auto", "clock `correction`: auto, none, offsets or clc")
}

func (f *mergeFlags) validate() (err error) {
	if f.memoryBytes, err = parseSize("memory", f.memory); err != nil {
		return err
	}
	if !slices.Contains([]string{"auto", "none", "offsets", "clc"}, f.clock) {
		return usagef("--clock %q: want auto, none, offsets or clc", f.clock)
	}
	return nil
}

// merge reconciles a source. The caller closes the trace's Pool.
func (f *mergeFlags) merge(ctx context.Context, io *streams, reading *traceFlags, src trace.Source) (*trace.Trace, error) {
	debug.SetGCPercent(gcPercent)
	bar := startProgress(io, reading.quiet, "reading")
	defer bar.done()
	return merge.Merge(ctx, src, merge.Options{
		Jobs: reading.jobs, Memory: max(1, f.memoryBytes), Clock: merge.ClockMode(f.clock), Progress: &bar.Progress,
	})
}
