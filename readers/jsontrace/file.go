package jsontrace

import (
	"context"
	"fmt"
	"io"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/wire"
	"tracekit/spill"
	"tracekit/trace"
)

// A file is one file of a trace while and after it is read. Its names, regions, tracks,
// communicators and metrics have numbers of their own; assemble makes them those of the
// trace.
type file struct {
	path    string
	window  int // bytes that are read at once
	block   int // bytes that are parsed at once by one of
	jobs    int // goroutines that read it
	set     *nest.Set
	names   *names
	regions *regions
	tracks  *tracks
	comms   *comms
	meters  *meters
	async   *async
	flows   *flows
	ledger  trace.Ledger
	members map[string]string // of the outer object, raw
	phases  [256]uint64       // number of events by phase
	origin  origin
	meta    metadata
	dft     dftracer
	tau     tau

	leftOut leftOut // arguments of events
	sorting sorting

	launches   launches
	owners     owners
	executing  map[*track]*executed // what threads execute as devices
	torch      map[ident]bool       // processes that have operators of PyTorch
	operator   *track               // of the process that had the last one of these
	repeated   uint64               // operations that consist of others
	rocprof    bool                 // times stand in the arguments
	copies     rocprofCopies
	attributes trace.AttributeID // one more than the last that slices have
	ncclWorld  string            // hash of the communicator of all ranks, in files of NCCL's profiler

	own      *dialect // tracekit's own dialect, nil in others
	base     int64    // ns to be added to all times
	based    bool     // the times with base count from 1970
	near     bool     // a time was met that fits
	far      bool     // none was before one that does not fit: times count from farUnits
	farUnits int64
	size     int64     // of the file
	bytes    int64     // of the text
	idmap    *nest.IDs // made by assemble

	later     int   // files of its rank before it, which it goes on with
	before    *file // the last of them
	begun     int64 // of one that has later ones or is one: first and last time, on its own clock
	ended     int64
	first     trace.LocationID // of the locations that assemble makes of the file's tracks
	locations int
}

// newFile returns a file whose events wait in a store.
func newFile(path string, store *spill.Store) *file {
	n := newNames()
	s := nest.NewSet(store)
	f := &file{path: path, window: windowBytes, block: blockBytes, set: s, names: n,
		regions: newRegions(n), tracks: newTracks(s, n), comms: newComms(), meters: newMeters(n), members: make(map[string]string),
		executing: make(map[*track]*executed), torch: make(map[ident]bool), sorting: newSorting()}
	f.async, f.flows = newAsync(f), newFlows(f)
	f.meta, f.dft, f.tau, f.launches, f.owners = newMetadata(), newDftracer(), newTau(), newLaunches(), newOwners()
	s.Name = func(id trace.RegionID) uint32 { return f.regions.list[id].name }
	s.Sizes, s.Messages = f.launches.sizes, f.launches.batch
	s.Type = func(id trace.MetricID, series int) trace.ValueType {
		return f.meters.list[id].series[series].valueType()
	}
	f.names.text("") // so that a missing name is number 0
	return f
}

// read reads the whole text.
func (f *file) read(ctx context.Context, r io.Reader) error {
	plain, err := uncompressed(r)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	in := newInput(plain, f.window)
	c := &container{in: in, h: f, workers: min(f.jobs, maxWorkers), block: f.block}
	if err := c.run(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.bytes = in.at()
	if f.size == 0 { // a stream
		f.size = f.bytes
	}
	f.origin.kineto = f.origin.kineto || len(f.torch) > 0
	if f.ledger.Count(trace.CodeTruncated) > 0 && (f.origin.kineto || f.sorting.anywhere()) { // kernels of PyTorch come last
		f.find(trace.CodeCutAnywhere, f.bytes, "")
	}
	f.async.close()
	for _, l := range f.tracks.list {
		f.executedBy(l)
	}
	f.ledger.AddN(trace.CodeRedundantRecord, f.repeated, f.place(-1), "operations of XLA that consist of others")
	f.tracks.found()
	f.limits()
	f.ledger.AddN(trace.CodeArgumentsLeftOut, f.leftOut.events, f.place(f.leftOut.first), f.leftOut.name)
	if err := f.set.Spool.Finish(ctx, f.jobs); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return f.flows.count(ctx)
}

// limits notes what was more than is told apart.
func (f *file) limits() {
	for _, l := range []struct {
		lost uint64
		what string
	}{
		{f.names.lost, "names; the last ones are called " + otherName},
		{f.names.cut, "names that are very long; they are cut"},
		{f.regions.lost, "pairs of name and category; the last ones are called " + otherName},
		{f.meters.lost, "counters; values of the last ones are left out"},
		{f.comms.lost, "groups of ranks; the last ones are taken for all ranks"},
		{f.launches.lost, "launches of collectives, or launches out of order; their sizes are not known"},
	} {
		f.ledger.AddN(trace.CodeLimitExceeded, l.lost, f.place(-1), l.what)
	}
}

// find implements handler.
func (f *file) find(code trace.Code, at int64, text string) {
	f.ledger.Add(code, f.place(at), text)
}

// place names a byte of the file.
func (f *file) place(at int64) trace.Place {
	return trace.Place{Location: trace.None, File: f.path, Offset: at}
}

// digits implements handler.
func (f *file) digits() int {
	if f.own != nil {
		return f.own.Digits
	}
	return f.dft.digits
}

// member implements handler: it keeps what is short or known.
func (f *file) member(key string, value []byte, at int64) {
	switch {
	case value == nil:
		f.find(trace.CodeBadValue, at, "the member "+key+" is too long")
	case key == "tracekit":
		f.readDialect(value, at)
	case key == "baseTimeNanoseconds" || key == "viztracer_metadata":
		f.readBase(value)
	case key == "schemaVersion":
		f.origin.kineto = true
	case key == "distributedInfo":
		f.origin.readDistributedInfo(value)
	case key == "samples":
		elements(value, func(v []byte) bool { f.sample(v, at); return true })
	case len(value) <= 256 && len(f.members) < 64:
		f.members[key] = unescape(text(value))
	}
}

// readBase reads the time that the times of the file count from.
func (f *file) readBase(value []byte) {
	if v := member(value, "baseTimeNanoseconds"); v != nil {
		value = v
	}
	if n, ok := integer(text(value)); ok {
		f.base, f.based = n, true
	}
}

// sample takes an element of the outer member samples: a moment on a thread.
func (f *file) sample(raw []byte, at int64) {
	var ev event
	if ev.parse(raw, true, f.digits()) < 0 {
		f.find(trace.CodeBadValue, at, "a sample that is not an object")
		return
	}
	ev.phase = 'P'
	f.event(&ev, at)
}

// event implements handler: the dispatch on the phase.
func (f *file) event(ev *event, at int64) {
	f.phases[ev.phase]++
	if ev.phase == 'M' {
		f.metadataEvent(ev, at)
		return
	}
	if !f.timed(ev, at) {
		return
	}
	f.sorting.note(ev)
	if ev.quoted {
		f.copies.move(ev)
	}
	l := f.tracks.find(ev.pid, ev.tid)
	if l == nil {
		f.find(trace.CodeLimitExceeded, at, crowded)
		return
	}
	if f.own != nil {
		f.own.event(f, l, ev, at)
		return
	}
	if f.leftOut.events == 0 && len(ev.args) > 0 {
		f.dft.sniff(f, ev)
	}
	f.leftOut.note(ev, at)
	switch ev.phase {
	case 'X':
		f.slice(l, ev, at)
	case 'B', 'E':
		f.beginEnd(l, ev)
	case 'i', 'I', 'R', 'P':
		f.instant(l, ev)
	case 'C':
		f.counter(l, ev, at)
	case 'b', 'e', 'n', 'S', 'T', 'p', 'F':
		f.async.event(ev, at)
	case 's', 't', 'f':
		f.flow(l, ev, at)
	case 'A':
		f.find(trace.CodeUnknownRecord, at, "sums of events that dftracer has aggregated")
	default:
		f.find(trace.CodeUnknownRecord, at, fmt.Sprintf("phase %q", ev.phase))
	}
}

// timed checks that an event has a phase and a time.
func (f *file) timed(ev *event, at int64) bool {
	switch {
	case ev.phase == 0 && ev.empty:
		return false
	case ev.phase == 0:
		f.find(trace.CodeUnknownRecord, at, "an event without a phase (ph)")
		return false
	case !ev.hasTime:
		f.find(trace.CodeBadValue, at, "an event without a time")
		return false
	case ev.badTime, ev.farTime && !f.farTime(ev, at), !ev.farTime && f.far:
		f.find(trace.CodeBadValue, at, "a time that is not a number or too large")
		return false
	}
	f.near = f.near || !ev.farTime
	return true
}

// slice takes an X.
func (f *file) slice(l *track, ev *event, at int64) {
	if ev.quoted {
		f.rocprof = rocprofTimes(ev) || f.rocprof
	}
	// Writers clamp durations in different ways; none of these is a reason to lose a slice.
	dur := ev.dur
	switch {
	case !ev.hasDur:
		dur = nest.OpenEnd
		f.find(trace.CodeBadValue, at, "a slice without dur; it ends with what encloses it")
	case dur < 0:
		dur = 0
		f.find(trace.CodeBadValue, at, "a slice with a negative dur; taken as 0")
	}
	if f.onDevice(l, ev, dur, at) {
		return
	}
	f.xlaStep(ev)
	id := f.regions.find(ev.name, ev.cat)
	r := &f.regions.list[id]
	if r.frame && l.pid == (ident{}) {
		if l = f.tracks.get(trackKey{tid: l.tid, stray: true}); l == nil {
			f.find(trace.CodeLimitExceeded, at, crowded)
			return
		}
	}
	l.GPU = l.GPU || r.gpu
	l.trivial = l.trivial && r.trivial
	if r.torch && (f.operator == nil || l.pid != f.operator.pid) {
		f.operator, f.torch[l.pid] = l, true
	}
	var c nest.Call
	if r.args {
		c = f.call(l, r, ev)
	}
	begin := ev.time
	if r.gloo && c.Operation.IsMessage() {
		if asked := f.launches.around(l, begin); asked != nil && ev.hasDur { // what it notes first comes after the message
			begin, dur = asked.begin, nest.AddTime(dur, begin-asked.begin)
		}
		if l = f.messageTrack(l); l == nil {
			f.find(trace.CodeLimitExceeded, at, crowded)
			return
		}
	}
	switch {
	case r.host || r.asked:
		f.launches.span(l, r, ev)
	case r.records:
		f.launches.record(l, ev, f.recorded(ev))
	case r.runtime:
		f.launches.launch(l, ev)
	}
	f.attach(l, ev)
	switch {
	case r.gpu || r.runtime:
		f.correlate(l, r, ev)
	case r.role == trace.RoleFileIO:
		f.measure(l, ev)
	case r.training != no:
		f.operation(l, r, ev)
	}
	l.Put(begin, dur, id, c)
}

// beginEnd takes a B or an E.
func (f *file) beginEnd(l *track, ev *event) {
	l.trivial = false
	l.Stack() // B and E at equal times mean what their order in the file says
	if ev.phase == 'B' {
		id := f.regions.find(ev.name, ev.cat)
		f.attach(l, ev)
		l.Begin(ev.time, id)
		return
	}
	// An E names what it ends, in the place of the region: its category may be missing.
	name := uint32(trace.None)
	if ev.name != nil {
		name = f.names.raw(ev.name)
	}
	l.End(ev.time, name)
}

// instant takes a moment.
func (f *file) instant(l *track, ev *event) {
	l.moments = true
	l.Moment()
	l.Stream.AddOther(ev.time, trace.KindInstant, uint64(f.names.raw(ev.name)))
}

// metadataLimit bounds the number of processes and threads that M events may describe.
const metadataLimit = 1 << 18

// metadata holds what the M events say about processes and threads.
type metadata struct {
	processes map[ident]string
	labels    map[ident]string // of processes: what PyTorch calls an accelerator
	threads   map[[2]ident]string
}

func newMetadata() metadata {
	return metadata{make(map[ident]string), make(map[ident]string), make(map[[2]ident]string)}
}

// metadataEvent takes an M, wherever in the file it stands.
func (f *file) metadataEvent(ev *event, at int64) {
	if string(ev.cat) == "dftracer" && f.dft.metadata(f, ev) {
		return
	}
	pid := f.tracks.pid(ev.pid)
	switch string(ev.name) {
	case "process_name":
		if name := f.nameOf(ev, "name", at); name != "" {
			f.meta.processes[pid] = name
			f.copies.process(name, ev.pid)
		}
	case "process_labels":
		if label := f.nameOf(ev, "labels", at); label != "" {
			f.meta.labels[pid] = label
		}
	case "thread_name":
		tid := f.tracks.tid(ev.pid, ev.tid)
		if name := f.nameOf(ev, "name", at); name != "" {
			f.meta.threads[[2]ident{pid, tid}] = name
		}
	case "trace_buffer_overflowed":
		f.find(trace.CodeUnfinalised, -1, "the writer says that its buffer overflowed")
	}
}

// nameOf returns the name that an M gives in a member of its arguments, "" if there is none or
// there are too many.
func (f *file) nameOf(ev *event, key string, at int64) string {
	raw := text(member(ev.args, key))
	if len(raw) == 0 {
		return ""
	}
	if len(f.meta.processes)+len(f.meta.labels)+len(f.meta.threads) >= metadataLimit || f.names.bytes >= nameLimit {
		f.find(trace.CodeLimitExceeded, at, "too many names of processes and threads")
		return ""
	}
	f.names.bytes += min(len(raw), wire.NameLimit)
	return f.names.short(unescape(raw))
}

// leftOut counts the events of which not all arguments become part of the tables: those
// that last or are moments. What the arguments of counters, flows and metadata say is kept.
type leftOut struct {
	events uint64
	first  int64  // where the first of them begins
	name   string // of its first argument
}

// note takes an event that begins at a byte of the file.
func (o *leftOut) note(ev *event, at int64) {
	if len(ev.args) <= len("{}") {
		return
	}
	switch ev.phase {
	case 'C', 's', 't', 'f':
		return
	}
	if o.events++; o.events == 1 {
		o.first = at
		members(ev.args, func(key, _ []byte) bool {
			o.name = unescape(key)
			return false
		})
	}
}
