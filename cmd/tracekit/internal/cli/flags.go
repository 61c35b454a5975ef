package cli

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

	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/words"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/spans"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// ReadFlags are the flags of every command that reads a trace.
type ReadFlags struct {
	Jobs   int
	Quiet  bool
	JSON   bool
	Strict bool
	Align  string
	Mirror string

	Columns map[string]string // of tables of spans
	Unit    string

	MemoryBytes int64 // below 0: the default
	Traces      int   // that share the memory, if they are more than one
}

func (f *ReadFlags) Add(set *pflag.FlagSet) {
	f.MemoryBytes = -1
	VarP(set, &f.Jobs, Int(1, 1024), "jobs", "j", strconv.Itoa(runtime.GOMAXPROCS(0)), "number of `threads` (default: one "+
		"for each processor)")
	set.Lookup("jobs").DefValue = "0" // the same help on every machine
	Var(set, &f.MemoryBytes, Size(), "memory", "", "`size` of tables kept in memory; the rest goes to a temporary file "+
		"(default: a quarter of memory, at least 192MiB)")
	set.BoolVarP(&f.Quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&f.JSON, "json", false, "print one JSON document instead of text")
	set.BoolVar(&f.Strict, "strict", false, "exit with 4 if data are lost or doubtful")
	Var(set, &f.Align, Choice("recorded", "start"), "align", "recorded", "times of several JSON files: as `recorded`, or "+
		"start to let all files begin together")
	Var(set, &f.Columns, Parsed(parseColumns), "columns", "", "meaning of columns of a table that have no usual names: "+
		"`FIELD=COLUMN,...`")
	Var(set, &f.Unit, Choice(append([]string{""}, spans.Units()...)...), "unit", "", "`unit` of times in a table: ns, us, ms or s "+
		"(default: as the columns say, else s with fractions, ns without)")
}

// parseColumns reads which columns of a table have what: FIELD=COLUMN,….
func parseColumns(text string) (map[string]string, error) {
	columns := make(map[string]string)
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, column, ok := strings.Cut(part, "=")
		known := slices.ContainsFunc(spans.Fields(), func(names []string) bool { return names[0] == name })
		if !ok || column == "" || !known {
			var fields []string
			for _, names := range spans.Fields() {
				fields = append(fields, names[0])
			}
			return nil, fmt.Errorf("%q is no FIELD=COLUMN; fields are %s", part, strings.Join(fields, ", "))
		}
		columns[name] = column
	}
	return columns, nil
}

// Validate completes what the flags leave to the machine.
func (f *ReadFlags) Validate() error {
	if f.MemoryBytes < 0 {
		f.MemoryBytes = spill.DefaultBudget()
	}
	return nil
}

// An input is an open trace, with the store of all tables that are made of it: so one
// budget bounds what its reader, its merging and its analysis keep in memory.
type Input struct {
	trace.Source
	Store *spill.Store
	cut   uint64 // Names
}

// Findings are those of the source. A rebuilt trace, in whatever format it comes, says in
// what it is not the recorded one, and a reduced one what was cut from it.
func (in *Input) Findings() []trace.Finding {
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

// FindingsOf returns the findings of a reconciled trace, with what reading it again has noticed
// since.
func FindingsOf(t *trace.Trace) []trace.Finding {
	var l trace.Ledger
	l.Merge(t.Findings)
	if !slices.ContainsFunc(t.Findings, isChange) {
		l.Merge(ChangesOf(t))
	}
	return l.Findings()
}

// ChangesOf returns what reading a trace again has noticed.
func ChangesOf(t *trace.Trace) []trace.Finding {
	return slices.DeleteFunc(t.Source.Findings(), func(f trace.Finding) bool { return !isChange(f) })
}

// DamageSince returns a finding if reading a trace again, which others have read before, has found
// what they have not.
func DamageSince(t *trace.Trace, found []trace.Finding) []trace.Finding {
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
func (in *Input) Close() error { return errors.Join(in.Source.Close(), in.Store.Close()) }

// Open opens a trace of any known format; several paths are the files of one trace.
func (f *ReadFlags) Open(ctx context.Context, paths ...string) (*Input, error) {
	store := spill.NewStore(f.MemoryBytes/int64(max(1, f.Traces)), "")
	src, err := readers.OpenAll(ctx, paths, readers.OpenOptions{Jobs: f.Jobs, Store: store, AlignStart: f.Align == "start",
		Mirror: f.Mirror, Columns: f.Columns, Unit: f.Unit})
	if err == nil {
		debug.SetGCPercent(garbageOf(src.Info().Bytes, src.Defs().Locations))
		return &Input{src, store, src.Defs().ShortenNames()}, nil
	}
	store.Close()
	return nil, Unreadable(err)
}

// Unreadable marks an error that says that there is nothing to be read under a path.
func Unreadable(err error) error {
	for _, cause := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ELOOP, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL} {
		if errors.Is(err, cause) {
			return unreadableError{err}
		}
	}
	return err
}

// Finish prints what a command has found, and then fails if --strict refuses the findings
// or a gate has reasons to.
func (f *ReadFlags) Finish(io *Streams, document any, print func(), findings []document.Finding, gates ...func() ([]string, error)) error {
	if f.JSON {
		if err := PrintJSON(io.Out, document); err != nil {
			return err
		}
	} else {
		print()
	}
	var reasons []string
	for _, x := range findings {
		if f.Strict && x.Severity != trace.SeverityInfo.String() {
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

// Validated makes the RunE of a command that keeps its arguments, checks its options and runs.
func Validated[O interface{ Validate() error }](io *Streams, opts O, arguments *[]string,
	run func(context.Context, *Streams, O) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		*arguments = args
		if err := opts.Validate(); err != nil {
			return err
		}
		return run(c.Context(), io, opts)
	}
}

// MergeFlags are the flags of every command that reconciles a trace.
type MergeFlags struct {
	ReadFlags
	Clock      string
	MinLatency time.Duration

	Shards *shards.Set // what was decoded before; nil: nothing
}

func (f *MergeFlags) Add(set *pflag.FlagSet) {
	f.AddClock(set, "auto", "clock `correction`: auto, none, offsets, or clc, the logical clock on top of the offsets")
}

// AddClock adds the flags with another default of --clock, which its usage explains.
func (f *MergeFlags) AddClock(set *pflag.FlagSet, clock, usage string) {
	f.ReadFlags.Add(set)
	Var(set, &f.Clock, Choice("auto", "none", "offsets", "clc"), "clock", clock, usage)
	Var(set, &f.MinLatency, Duration(time.Second), "min-latency", "", "minimum `time` of messages and collectives; the "+
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
	bytesPerEvent = 16 // Of files, about, which may be packed
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

// Open opens a trace and reconciles it. The caller closes its Source.
func (f *MergeFlags) Open(ctx context.Context, io *Streams, paths ...string) (*trace.Trace, error) {
	in, err := f.ReadFlags.Open(ctx, paths...)
	if err != nil {
		return nil, err
	}
	t, err := f.Reconcile(ctx, io, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return t, nil
}

// Reconcile reconciles an open trace, whose store takes the tables.
func (f *MergeFlags) Reconcile(ctx context.Context, io *Streams, in *Input) (*trace.Trace, error) {
	bar := StartProgress(io, f.Quiet, "reading")
	defer bar.End()
	o := merge.Options{
		Jobs: f.Jobs, Store: in.Store, Clock: merge.ClockMode(f.Clock), Progress: &bar.Progress,
		MinLatency: ticksOf(f.MinLatency, in.Defs().Clock.Resolution),
	}
	if f.Shards != nil {
		scans, err := shards.Read(ctx, f.Shards, in, in.Store, f.Jobs, func() *merge.Scans { return new(merge.Scans) })
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

// SelectFlags select a part of a trace.
type SelectFlags struct {
	Set      *pflag.FlagSet
	Ranks    []uint32 // nil: all
	From, To scope.Instant
}

func (f *SelectFlags) Add(set *pflag.FlagSet) {
	f.Set = set
	Var(set, &f.Ranks, Ranks(), "ranks", "", "only these `ranks`, such as 0-3,8")
	Var(set, &f.From, Instant(), "from", "", "start of the selection as a `time`: 1.5s or 200ms after the start, or 10% of "+
		"the run")
	Var(set, &f.To, Instant(), "to", "", "end of the selection as a `time`")
}

// Given returns what is written behind a flag.
func (f *SelectFlags) Given(flag string) string { return f.Set.Lookup(flag).Value.String() }

func (f *SelectFlags) Validate() error {
	if f.From.Kind == f.To.Kind && (f.From.Ns > f.To.Ns || f.From.Share > f.To.Share) {
		return Usagef("--from %s is after --to %s", f.Given("from"), f.Given("to"))
	}
	return nil
}

// GateFlags are the flags of commands whose document can make a gate.
type GateFlags struct{ Conditions []gate.Condition }

func (f *GateFlags) Add(set *pflag.FlagSet) {
	Var(set, &f.Conditions, Repeated(Parsed(gate.Parse)), "fail-if", "", "exit with 4 if this `condition` on the JSON "+
		"document holds, "+
		"such as 'efficiency.parallel_efficiency<0.8'; repeatable")
}

// Gate returns a gate for readFlags.finish, with a reason for each condition that holds in a document.
func (f *GateFlags) Gate(document any) func() ([]string, error) {
	return func() (reasons []string, err error) {
		if len(f.Conditions) == 0 {
			return nil, nil
		}
		tree, err := gate.Tree(document)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Conditions {
			holds, value, err := c.Holds(tree)
			switch {
			case errors.Is(err, gate.ErrUndefined):
				return nil, fmt.Errorf("--fail-if %s: %w", c, err)
			case err != nil:
				return nil, Usagef("--fail-if %s: %w", c, err)
			case holds:
				reasons = append(reasons, fmt.Sprintf("--fail-if %s: it is %s", c, strconv.FormatFloat(value, 'g', 6, 64)))
			}
		}
		return reasons, nil
	}
}

// Validate checks groups of flags, before any file is opened.
func Validate(groups ...interface{ Validate() error }) error {
	for _, g := range groups {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// AnnouncedEvents returns the number of events that the definitions promise, for progress.
func AnnouncedEvents(d *trace.Defs) uint64 {
	var n uint64
	for _, l := range d.Locations {
		n += l.Events
	}
	return n
}

// PhaseFlags select a phase of the run in place of a stretch of time.
type PhaseFlags struct{ phase int }

func (f *PhaseFlags) Add(set *pflag.FlagSet) {
	Var(set, &f.phase, Int(1, math.MaxInt), "phase", "", "only phase `number`, counted from 1; replaces --from and --to")
}

// Check refuses what contradicts the other flags of a selection.
func (f *PhaseFlags) Check(s *SelectFlags) error {
	if f.phase > 0 && (s.From.Kind != scope.Unset || s.To.Kind != scope.Unset) {
		return Usagef("--phase cannot be combined with --from and --to")
	}
	return nil
}

// Choose makes the phase, if one is asked for, the selection.
func (f *PhaseFlags) Choose(ctx context.Context, t *trace.Trace, jobs int, s *SelectFlags) (err error) {
	if f.phase > 0 {
		s.From, s.To, err = profile.PhaseWindow(ctx, t, f.phase, jobs)
	}
	return err
}
