package paraver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"

	"tracekit/readers/internal/output"
	"tracekit/readers/internal/spool"
	"tracekit/spill"
	"tracekit/trace"
)

// CreateOptions says how a trace is written. The zero value is usual.
type CreateOptions struct {
	Plain bool         // leave out the event types of our own; see Create
	Force bool         // replace files of the same names
	Jobs  int          // goroutines that make lines; below 1: one per processor
	Store *spill.Store // of lines that wait to be sorted, to be closed after the Writer; nil: one of its own

	Context context.Context // ends Close before the lines are written; nil: nothing does
}

// A Writer writes a trace; it is a trace.Sink. Lines wait in a spool, which sorts them by
// time, and get their place in Close.
//
//	order of lines of one time: by location, states before events before communications,
//	events as recorded
type Writer struct {
	path     string
	options  CreateOptions
	info     trace.Info
	defs     *trace.Defs
	objects  *objects
	groups   *peers
	values   *values
	threads  []threadWriter
	lines    *spool.Spool // of locations, then those of messages
	messages *spool.Spool // sends and receives of locations
	min, max int64        // times of events, in ticks
	events   uint64
	closed   bool

	mu   sync.Mutex
	lost map[string]uint64 // below mu
}

// Create begins a trace. The path must end in .prv or .prv.gz; the labels go into a .pcf
// and the names into a .row beside it. All three get their names in Close. The error
// wraps fs.ErrExist if there are such files, unless options say to replace them.
//
// The trace is as Extrae writes it: one application, a task for each rank of MPI_COMM_WORLD and for each further process, states that tile
// the time. Times are nanoseconds from the clock's offset on. MPI functions are events 50000001…, all other regions 60000018, 60000019 or
// 60000020 by paradigm, call sites caller lines. Collectives have sizes, communicator and root flag. Counters are 42… (increments), 43…
// (counted from the start) or our own types (momentary).
//
// Communication lines are pairs: sends and receives are matched in Close as MPI does, in
// the order of posting on each communicator, pair of ranks and tag. What cannot be a pair
// has no line.
//
// Unless options say Plain, event types from 94000000 on hold what Extrae has no place for,
// for reading back: the communication events as recorded, regions of other paradigms,
// measured clock offsets; see own.go. Times are as recorded.
//
// A plain trace is for other programs alone. It has one clock for all, so the measured clock
// offsets are lost; who has any corrects the times before.
//
// Times count from the first event if they would be beyond maxTime otherwise; those that still
// are get that time. Close refuses a trace in which all after the first do.
//
// What cannot be expressed is counted: see Lost.
func Create(path string, info trace.Info, defs *trace.Defs, options CreateOptions) (*Writer, error) {
	if !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".prv") {
		return nil, fmt.Errorf("%s: the name of a Paraver trace ends in .prv or .prv.gz", path)
	}
	if options.Context == nil {
		options.Context = context.Background()
	}
	if options.Jobs < 1 {
		options.Jobs = runtime.GOMAXPROCS(0)
	}
	w := &Writer{path: path, options: options, info: info, defs: defs, lost: make(map[string]uint64),
		min: math.MaxInt64, max: math.MinInt64}
	if err := w.checkTarget(); err != nil {
		return nil, err
	}
	w.objects = newObjects(defs)
	w.groups = newPeers(defs, w.objects)
	w.values = newValues(defs, options.Plain)
	w.lines = spool.New(options.Store)
	w.messages = spool.New(w.lines.Store())
	w.countDefs()
	for l := range defs.Locations {
		w.threads = append(w.threads, w.newThread(trace.LocationID(l)))
	}
	return w, nil
}

// names returns the names of the files, the trace last.
func (w *Writer) names() []string {
	s := stem(w.path)
	return []string{s + ".pcf", s + ".row", w.path}
}

// checkTarget refuses to replace files that exist.
func (w *Writer) checkTarget() error {
	for _, name := range w.names() {
		if err := output.Replaceable(name, w.options.Force); err != nil {
			return err
		}
	}
	return nil
}

// Lost returns what was written so far and has no form in the format, by its name. It is
// complete after Close.
func (w *Writer) Lost() map[string]uint64 { return w.lost }

// Discard gives up the trace. After Close it does nothing.
func (w *Writer) Discard() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return errors.Join(w.messages.Close(), w.lines.Close())
}

// Close completes the trace. If it returns an error, nothing is left behind.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	err := w.complete()
	return errors.Join(err, w.Discard())
}

func (w *Writer) complete() error {
	for i := range w.threads {
		if t := &w.threads[i]; t.seq > 0 {
			w.min, w.max = min(w.min, t.first), max(w.max, t.last, t.end)
			w.events += t.seq
		}
	}
	if w.min > w.max { // no event at all
		w.min, w.max = 0, 0
	}
	for i := range w.threads {
		w.threads[i].finish()
		w.threads[i].rest()
	}
	if err := w.pair(); err != nil {
		return err
	}
	if err := w.lines.Finish(w.options.Context, w.options.Jobs); err != nil {
		return err
	}
	return w.publish()
}

// publish writes the files under hidden names and gives them theirs.
func (w *Writer) publish() (err error) {
	var files []*output.File
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Discard())
		}
	}()
	write := []func(io.Writer) error{w.writePCF, w.writeRow, w.writePRV}
	for i, name := range w.names() {
		f, err := output.Create(name, output.Workers(w.options.Jobs))
		if err == nil {
			files = append(files, f)
			err = errors.Join(write[i](f), f.Complete())
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	for _, f := range files {
		if err := f.Publish(); err != nil {
			return err
		}
	}
	return nil
}

// countDefs counts what of the definitions the format cannot hold. What events lose is counted
// where they are written; see Writer.Lost.
func (w *Writer) countDefs() {
	for _, l := range w.defs.Locations {
		w.count(w.options.Plain && len(l.ClockOffsets) > 1, "clock offsets")
		w.count(l.Kind != trace.LocationCPUThread, "kinds of locations that are no threads")
	}
	for _, r := range w.defs.Regions {
		w.countRegion(r)
	}
	for i, m := range w.defs.MetricMembers {
		w.count(m.Value != valueType(w.values.members[i]), "types of counters")
		unit := w.defs.String(m.Unit)
		w.count(w.defs.String(m.Description) != "" || unit != "" && unit != "#", "descriptions and units of counters")
	}
	for range len(w.objects.tasks) - w.objects.ranks {
		w.count(true, "processes outside MPI (written as tasks)")
	}
	known := 0
	for _, n := range w.objects.nodes {
		if n != trace.None {
			known++
		}
	}
	for range len(w.defs.SystemTree) - known {
		w.count(true, "nodes of the system tree without processes")
	}
}

// countRegion counts what is lost of a region: labels are one line of text each.
func (w *Writer) countRegion(r trace.Region) {
	d, mpi := w.defs, r.Paradigm == trace.ParadigmMPI
	name, canonical := d.String(r.Name), d.String(r.Canonical)
	w.count(w.options.Plain && !writtenParadigm(r.Paradigm), "paradigms of regions")
	w.count(mpi && d.String(r.File) != "", "files of MPI functions")
	w.count(!mpi && canonical != "" && canonical != name, "canonical names of regions")
	w.count(d.String(r.Description) != "", "descriptions of regions")
	w.count(r.EndLine > 0, "last lines of regions")
}

// count counts something that is lost if it is there.
func (w *Writer) count(lost bool, what string) {
	if lost {
		w.lose(what, 1)
	}
}

// lose counts what is lost.
func (w *Writer) lose(what string, n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[what] += n
}
