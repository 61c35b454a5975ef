package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/readers"
	"tracekit/readers/spans"
	"tracekit/spill"
	"tracekit/stats/hangs"
	"tracekit/trace"
)

// ReadFlags are the flags of every command that reads a trace.
type ReadFlags struct {
	Paths []string // of the files of the trace

	Jobs   int
	Quiet  bool
	JSON   bool
	Strict bool
	Align  string
	Mirror string

	Columns map[string]string // of tables of spans
	Unit    string
	Job     string

	MemoryBytes int64 // below 0: the default
	Traces      int   // that share the memory, if they are more than one
}

// Add adds the flags.
func (f *ReadFlags) Add(set *pflag.FlagSet) {
	f.MemoryBytes = -1
	flags.VarP(set, &f.Jobs, flags.Int(1, 1024), "jobs", "j", strconv.Itoa(runtime.GOMAXPROCS(0)), "number of `threads` (default: one "+
		"for each processor)")
	set.Lookup("jobs").DefValue = "0" // the same help on every machine
	flags.Var(set, &f.MemoryBytes, flags.Size(), "memory", "", "`size` of tables kept in memory; the rest goes to a temporary file "+
		"(default: a quarter of memory, at least 192MiB)")
	set.BoolVarP(&f.Quiet, "quiet", "q", false, "no progress on standard error")
	set.BoolVar(&f.JSON, "json", false, JSONUsage)
	set.BoolVar(&f.Strict, "strict", false, "exit with 4 if data are lost or doubtful")
	flags.Var(set, &f.Align, flags.Choice("recorded", "start", "collectives"), "align", "recorded", "times of several files: as `recorded`, "+
		"start to let all JSON files begin together, or collectives to find clocks by operations that all ranks leave together")
	flags.Var(set, &f.Columns, flags.Parsed(parseColumns), "columns", "", "meaning of columns of a table that have no usual names: "+
		"`FIELD=COLUMN,...`")
	flags.Var(set, &f.Unit, flags.Choice(append([]string{""}, spans.Units()...)...), "unit", "", "`unit` of times in a table: ns, us, ms or s "+
		"(default: as the columns say, else s with fractions, ns without)")
	set.StringVar(&f.Job, "job", "", "the `job` to read from a table of several")
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

// Keep takes the arguments for the files of one trace.
func (f *ReadFlags) Keep(args []string) { f.Paths = args }

// Validate completes what the flags leave to the machine.
func (f *ReadFlags) Validate() error {
	if f.MemoryBytes < 0 {
		f.MemoryBytes = spill.DefaultBudget()
	}
	return nil
}

// An Input is an open trace, with the store of all tables that are made of it: so one
// budget bounds what its reader, its merging and its analysis keep in memory.
type Input struct {
	trace.Source
	Store *spill.Store
	cut   uint64 // names
}

// Findings are those of the source. A rebuilt trace of any format says in what it is not the recorded one; a reduced one says what was cut.
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

// Outline implements trace.Outliner.
func (in *Input) Outline(location trace.LocationID) *trace.Outline {
	if o, ok := in.Source.(trace.Outliner); ok {
		return o.Outline(location)
	}
	return nil
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

// Open opens a trace of any known format; several paths are the files of one trace, none are the arguments.
func (f *ReadFlags) Open(ctx context.Context, paths ...string) (*Input, error) {
	if len(paths) == 0 {
		paths = f.Paths
	}
	store := spill.NewStore(f.MemoryBytes/int64(max(1, f.Traces)), "")
	src, err := readers.OpenAll(ctx, paths, readers.OpenOptions{Jobs: f.Jobs, Store: store, AlignStart: f.Align == "start",
		Mirror: f.Mirror, Columns: f.Columns, Unit: f.Unit, Job: f.Job})
	if err == nil {
		debug.SetGCPercent(garbageOf(src.Info().Bytes, src.Defs().Locations))
		return &Input{src, store, src.Defs().ShortenNames()}, nil
	}
	store.Close()
	if errors.Is(err, trace.ErrNotATrace) && slices.ContainsFunc(paths, hangs.Sniff) {
		return nil, unreadableError{fmt.Errorf("%s: a dump of PyTorch's flight recorder; use 'tracekit hang %[1]s'", paths[0])}
	}
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

// leastBytes is by how many bytes the heap may always grow between collections, about, once there are tables.
const leastBytes = 24 << 20

// boundGarbage has a heap collected more often that is mostly tables, now that they are made: in per cent of them garbage would be most of
// what a process takes beyond its tables.
func boundGarbage() {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(heap)
	debug.SetGCPercent(boundedGarbage(debug.SetGCPercent(-1), heap[0].Value.Uint64(), heap[1].Value.Uint64()))
}

// boundedGarbage returns by how many per cent a heap may grow between collections that has grown by no more than some so far. It may grow
// by twice what must be scanned, so that a collection never takes longer than what it makes room for.
func boundedGarbage(percent int, live, scanned uint64) int {
	return max(1, min(percent, int(100*max(leastBytes, 2*scanned)/max(1, live))))
}
