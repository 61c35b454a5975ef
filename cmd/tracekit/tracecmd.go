package main

import (
	"context"
	"errors"
	"io/fs"
	"runtime"

	"github.com/spf13/pflag"

	"tracekit/formulae/tkf"
	"tracekit/readers"
	"tracekit/stats"
	"tracekit/trace"
)

// traceFlags are the flags of every command that reads a trace.
type traceFlags struct {
	ranks, from, to string
	jobs            int
	quiet           bool
	json            bool
	strict          bool
	failIf          []string
}

func (f *traceFlags) addReading(set *pflag.FlagSet) {
	set.IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "`threads` that decode at a time")
	set.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&f.json, "json", false, "one JSON document instead of tables")
	set.BoolVar(&f.strict, "strict", false, "exit with 4 if data of the trace were lost")
}

func (f *traceFlags) addSelection(set *pflag.FlagSet) {
	set.StringVar(&f.ranks, "ranks", "", "only these `ranks`, such as 0-3,8")
	set.StringVar(&f.from, "from", "", "only from this `time` on: 1.5s or 200ms after the start, or 10% of the run")
	set.StringVar(&f.to, "to", "", "only up to this `time`")
}

// selection is the part of a trace that the user asked for.
type selection struct {
	ranks    []uint32
	from, to stats.Instant
}

func (f *traceFlags) selection() (s selection, err error) {
	if s.ranks, err = parseRanks(f.ranks); err != nil {
		return s, err
	}
	if s.from, err = parseInstant("from", f.from); err != nil {
		return s, err
	}
	if s.to, err = parseInstant("to", f.to); err != nil {
		return s, err
	}
	if s.from.Kind == s.to.Kind && (s.from.Ns > s.to.Ns || s.from.Share > s.to.Share) {
		return s, usagef("--from %s lies behind --to %s", f.from, f.to)
	}
	return s, nil
}

func (f *traceFlags) checkJobs() error {
	if f.jobs < 1 || f.jobs > 1024 {
		return usagef("--jobs %d: want 1 to 1024", f.jobs)
	}
	return nil
}

// openTrace opens a trace of any known format; several paths are the files of one trace.
func openTrace(ctx context.Context, paths []string) (trace.Source, error) {
	src, err := openAny(ctx, paths)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, unreadableError{err}
	}
	return src, err
}

// openAny also opens a compressed trace, which is no format of the readers.
func openAny(ctx context.Context, paths []string) (trace.Source, error) {
	if len(paths) == 1 {
		head, err := readers.Head(paths[0])
		if err == nil && tkf.Is(head) {
			return tkf.Open(paths[0])
		}
	}
	return readers.OpenAll(ctx, paths)
}

// findingRows returns a source's findings as documents show them.
func findingRows(src trace.Source) []stats.Finding { return stats.FindingRows(src.Findings()) }

// announcedEvents returns the number of events that the definitions promise, for progress.
func announcedEvents(d *trace.Defs) uint64 {
	var n uint64
	for _, l := range d.Locations {
		n += l.Events
	}
	return n
}

// strictly returns the reasons for which --strict refuses a trace.
func strictly(strict bool, findings []stats.Finding) []string {
	var reasons []string
	for _, f := range findings {
		if strict && f.Severity != trace.SeverityInfo.String() {
			reasons = append(reasons, "--strict: "+f.Code+" ("+formatCount(f.Count)+"): "+f.Text)
		}
	}
	return reasons
}

func gate(reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return gateError{reasons}
}
