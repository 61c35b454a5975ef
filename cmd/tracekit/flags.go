package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/words"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats/hangs"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// readFlags are the flags of every command that reads a trace.
type readFlags struct {
	jobs   int
	quiet  bool
	json   bool
	strict bool
	align  string
	mirror string

	memoryBytes int64 // below 0: the default
	traces      int   // that share the memory, if they are more than one
}

func (f *readFlags) add(set *pflag.FlagSet) {
	f.memoryBytes = -1
	cli.VarP(set, &f.jobs, cli.Int(1, 1024), "jobs", "j", strconv.Itoa(runtime.GOMAXPROCS(0)), "number of `threads` (default: one "+
		"for each processor)")
	set.Lookup("jobs").DefValue = "0" // the same help on every machine
	cli.Var(set, &f.memoryBytes, cli.Size(), "memory", "", "`size` of tables kept in memory; the rest goes to a temporary file "+
		"(default: a quarter of memory, at least 192MiB)")
	set.BoolVarP(&f.quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&f.json, "json", false, "print one JSON document instead of text")
	set.BoolVar(&f.strict, "strict", false, "exit with 4 if data are lost or doubtful")
	cli.Var(set, &f.align, cli.Choice("recorded", "start"), "align", "recorded", "times of several JSON files: as `recorded`, or "+
		"start to let all files begin together")
}

// validate completes what the flags leave to the machine.
func (f *readFlags) validate() error {
	if f.memoryBytes < 0 {
		f.memoryBytes = spill.DefaultBudget()
	}
	return nil
}

// An input is an open trace, with the store of all tables that are made of it: so one
// budget bounds what its reader, its merging and its analysis keep in memory.
type input struct {
	trace.Source
	store *spill.Store
	cut   uint64 // names
}

// Findings are those of the source. A rebuilt trace, in whatever format it comes, says in
// what it is not the recorded one, and a reduced one what was cut from it.
func (in *input) Findings() []trace.Finding {
	var l trace.Ledger
	l.Merge(in.Source.Findings())
	about := in.Info()
	l.AddN(trace.CodeLongName, in.cut, trace.Place{Location: trace.None, File: about.Path, Offset: -1}, "")
	known := slices.ContainsFunc(l.Findings(), func(f trace.Finding) bool { return f.Code == trace.CodeApproximate })
	if a := about.Approximations(); len(a) > 0 && !known {
		l.Add(trace.CodeApproximate, trace.Place{Location: trace.None, File: about.Path, Offset: -1}, strings.Join(a, "; "))
	}
	if by := about.ReducedBy(); by != nil {
		l.Add(trace.CodeReduced, trace.Place{Location: trace.None, File: about.Path, Offset: -1}, strings.Join(by, "; "))
		if cut := about.CutShare(); cut > document.MostCut {
			l.Add(trace.CodeCutTime, trace.Place{Location: trace.None, File: about.Path, Offset: -1},
				words.Share(cut)+" of the time of the locations that were kept")
		}
	}
	return l.Findings()
}

// findingsOf returns the findings of a reconciled trace, with what reading it again has noticed
// since.
func findingsOf(t *trace.Trace) []trace.Finding {
	var l trace.Ledger
	l.Merge(t.Findings)
	if !slices.ContainsFunc(t.Findings, isChange) {
		l.Merge(changesOf(t))
	}
	return l.Findings()
}

// changesOf returns what reading a trace again has noticed.
func changesOf(t *trace.Trace) []trace.Finding {
	return slices.DeleteFunc(t.Source.Findings(), func(f trace.Finding) bool { return !isChange(f) })
}

// damageSince returns a finding if reading a trace again, which others have read before, has found
// what they have not.
func damageSince(t *trace.Trace, found []trace.Finding) []trace.Finding {
	before := make(map[trace.Code]uint64)
	for _, f := range t.Findings {
		before[f.Code] += f.Count
	}
	now := make(map[trace.Code]uint64)
	var l trace.Ledger
	for _, f := range found {
		if now[f.Code] += f.Count; !isChange(f) && now[f.Code] > before[f.Code] {
			l.Add(trace.CodeChangedMeanwhile, f.First, string(f.Code)+" was not found when the shards were made")
		}
	}
	return l.Findings()
}

func isChange(f trace.Finding) bool { return f.Code == trace.CodeChangedMeanwhile }

// Close closes the trace and its store.
func (in *input) Close() error { return errors.Join(in.Source.Close(), in.store.Close()) }

// open opens a trace of any known format; several paths are the files of one trace.
func (f *readFlags) open(ctx context.Context, paths ...string) (*input, error) {
	store := spill.NewStore(f.memoryBytes/int64(max(1, f.traces)), "")
	src, err := readers.OpenAll(ctx, paths, readers.OpenOptions{Jobs: f.jobs, Store: store, AlignStart: f.align == "start",
		Mirror: f.mirror})
	if err == nil {
		debug.SetGCPercent(garbageOf(src.Info().Bytes, src.Defs().Locations))
		return &input{src, store, src.Defs().ShortenNames()}, nil
	}
	store.Close()
	if slices.ContainsFunc(paths, hangs.Sniff) {
		return nil, unreadableError{fmt.Errorf("%s: a dump of PyTorch's flight recorder; use 'tracekit hang %[1]s'", paths[0])}
	}
	return nil, unreadable(err)
}

// unreadable marks an error that says that there is nothing to be read under a path.
func unreadable(err error) error {
	for _, cause := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ELOOP, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL} {
		if errors.Is(err, cause) {
			return unreadableError{err}
		}
	}
	return err
}

// finish prints what a command has found, and then fails if --strict refuses the findings
// or a gate has reasons to.
func (f *readFlags) finish(io *streams, document any, print func(), findings []document.Finding, gates ...func() ([]string, error)) error {
	if f.json {
		if err := printJSON(io.Out, document); err != nil {
			return err
		}
	} else {
		print()
	}
	var reasons []string
	for _, x := range findings {
		if f.strict && x.Severity != trace.SeverityInfo.String() {
			reasons = append(reasons, "--strict: "+x.Code+" ("+words.Count(x.Count)+"): "+x.Text)
		}
	}
	for _, gate := range gates {
		more, err := gate()
		if err != nil {
			return err
		}
		reasons = append(reasons, more...)
	}
	if len(reasons) > 0 {
		return gateError{reasons}
	}
	return nil
}

// validated makes the RunE of a command that keeps its arguments, checks its options and runs.
func validated[O interface{ validate() error }](io *streams, opts O, arguments *[]string,
	run func(context.Context, *streams, O) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		*arguments = args
		if err := opts.validate(); err != nil {
			return err
		}
		return run(c.Context(), io, opts)
	}
}

// mergeFlags are the flags of every command that reconciles a trace.
type mergeFlags struct {
	readFlags
	clock      string
	minLatency time.Duration

	shards *shards.Set // what was decoded before; nil: nothing
}

func (f *mergeFlags) add(set *pflag.FlagSet) {
	f.addClock(set, "auto", "clock `correction`: auto, none, offsets, or clc, the logical clock on top of the offsets")
}

// addClock adds the flags with another default of --clock, which its usage explains.
func (f *mergeFlags) addClock(set *pflag.FlagSet, clock, usage string) {
	f.readFlags.add(set)
	cli.Var(set, &f.clock, cli.Choice("auto", "none", "offsets", "clc"), "clock", clock, usage)
	cli.Var(set, &f.minLatency, cli.Duration(time.Second), "min-latency", "", "minimum `time` of messages and collectives; the "+
		"clock correction repairs faster ones (Scalasca: 1us)")
}

// By how much the heap may grow between collections, in per cent: between most and least, the
// less the larger the trace. What lives of a large one is mostly tables, which need no scanning
// and make no garbage: collecting often is cheap, and the process stays near the budget of its
// tables. A small trace is done before its garbage matters. Very many locations make garbage
// however few their events are.
const (
	mostGarbage   = 400
	manyGarbage   = 100
	leastGarbage  = 25
	smallEvents   = 1 << 20 // with more of them it becomes less
	fewLocations  = 1 << 14
	bytesPerEvent = 16 // of files, about, which may be packed
)

// garbageOf returns by how much the heap may grow between collections for a trace of so many bytes.
func garbageOf(size int64, locations []trace.Location) int {
	events := uint64(max(size, 0)) / bytesPerEvent
	announced := uint64(0)
	for _, l := range locations {
		announced += min(l.Events, math.MaxInt64/uint64(len(locations)))
	}
	most := mostGarbage
	if len(locations) > fewLocations {
		most = manyGarbage
	}
	return max(most*smallEvents/int(max(events, announced, smallEvents)), leastGarbage)
}

// open opens a trace and reconciles it. The caller closes its Source.
func (f *mergeFlags) open(ctx context.Context, io *streams, paths ...string) (*trace.Trace, error) {
	in, err := f.readFlags.open(ctx, paths...)
	if err != nil {
		return nil, err
	}
	t, err := f.reconcile(ctx, io, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return t, nil
}

// reconcile reconciles an open trace, whose store takes the tables.
func (f *mergeFlags) reconcile(ctx context.Context, io *streams, in *input) (*trace.Trace, error) {
	bar := startProgress(io, f.quiet, "reading")
	defer bar.done()
	o := merge.Options{
		Jobs: f.jobs, Store: in.store, Clock: merge.ClockMode(f.clock), Progress: &bar.Progress,
		MinLatency: ticksOf(f.minLatency, in.Defs().Clock.Resolution),
	}
	if f.shards != nil {
		scans, err := shards.Read(ctx, f.shards, in, in.store, f.jobs, func() *merge.Scans { return new(merge.Scans) })
		if err != nil {
			return nil, err
		}
		o.Scans = scans
	}
	return merge.Merge(ctx, in, o)
}

// ticksOf returns a time of at most a second in ticks, rounded up.
func ticksOf(d time.Duration, resolution uint64) int64 {
	hi, lo := bits.Mul64(uint64(d), resolution)
	ticks, rest := bits.Div64(hi, lo, uint64(time.Second))
	if rest > 0 {
		ticks++
	}
	return int64(min(ticks, math.MaxInt64))
}

// selectFlags select a part of a trace.
type selectFlags struct {
	set      *pflag.FlagSet
	ranks    []uint32 // nil: all
	from, to scope.Instant
}

func (f *selectFlags) add(set *pflag.FlagSet) {
	f.set = set
	cli.Var(set, &f.ranks, cli.Ranks(), "ranks", "", "only these `ranks`, such as 0-3,8")
	cli.Var(set, &f.from, cli.Instant(), "from", "", "start of the selection as a `time`: 1.5s or 200ms after the start, or 10% of "+
		"the run")
	cli.Var(set, &f.to, cli.Instant(), "to", "", "end of the selection as a `time`")
}

// given returns what is written behind a flag.
func (f *selectFlags) given(flag string) string { return f.set.Lookup(flag).Value.String() }

func (f *selectFlags) validate() error {
	if f.from.Kind == f.to.Kind && (f.from.Ns > f.to.Ns || f.from.Share > f.to.Share) {
		return usagef("--from %s is after --to %s", f.given("from"), f.given("to"))
	}
	return nil
}

// gateFlags are the flags of commands whose document can make a gate.
type gateFlags struct{ conditions []gate.Condition }

func (f *gateFlags) add(set *pflag.FlagSet) {
	cli.Var(set, &f.conditions, cli.Repeated(cli.Parsed(gate.Parse)), "fail-if", "", "exit with 4 if this `condition` on the JSON "+
		"document holds, "+
		"such as 'efficiency.parallel_efficiency<0.8'; repeatable")
}

// gate returns a gate for readFlags.finish, with a reason for each condition that holds in a document.
func (f *gateFlags) gate(document any) func() ([]string, error) {
	return func() (reasons []string, err error) {
		if len(f.conditions) == 0 {
			return nil, nil
		}
		tree, err := gate.Tree(document)
		if err != nil {
			return nil, err
		}
		for _, c := range f.conditions {
			holds, value, err := c.Holds(tree)
			switch {
			case errors.Is(err, gate.ErrUndefined):
				return nil, fmt.Errorf("--fail-if %s: %w", c, err)
			case err != nil:
				return nil, usagef("--fail-if %s: %w", c, err)
			case holds:
				reasons = append(reasons, fmt.Sprintf("--fail-if %s: it is %s", c, strconv.FormatFloat(value, 'g', 6, 64)))
			}
		}
		return reasons, nil
	}
}

// validate checks groups of flags, before any file is opened.
func validate(groups ...interface{ validate() error }) error {
	for _, g := range groups {
		if err := g.validate(); err != nil {
			return err
		}
	}
	return nil
}

// announcedEvents returns the number of events that the definitions promise, for progress.
func announcedEvents(d *trace.Defs) uint64 {
	var n uint64
	for _, l := range d.Locations {
		n += l.Events
	}
	return n
}
