package jsontrace

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// A place is where the events of a location are: a sub-track of a track of a file. They go on in the next one, of a later file.
type place struct {
	file  *file
	track *track
	sub   int
	ids   *nest.IDs
	next  *place
}

// main reports whether the main thread of a process is there.
func (p *place) main() bool { return p.sub == 0 && p.track.tid == p.track.pid && !p.track.async }

// An assembler makes one trace of files. See the package's documentation for the rules.
type assembler struct {
	jobs    int
	files   []*file
	names   []string // of files, once they are needed
	defs    *trace.Defs
	strings map[string]trace.StringID
	regions map[trace.Region]trace.RegionID
	comms   map[string]trace.CommID
	places  []place
	hosts   nest.Hosts
	worldOf map[uint32]trace.LocationID // location of each world rank
	world   trace.GroupID               // of all ranks
	implied int                         // members of groups that are not listed
	seats   seats                       // of the rank at hand
	pauses  [2]trace.StringID           // once a file goes on with another
	ledger  trace.Ledger
}

// assemble makes the definitions of a trace of files, which may be several only if none
// is in tracekit's own dialect.
func assemble(ctx context.Context, jobs int, files []*file) (*assembler, error) {
	a := &assembler{jobs: jobs, files: files, defs: &trace.Defs{}, strings: make(map[string]trace.StringID),
		regions: make(map[trace.Region]trace.RegionID), comms: make(map[string]trace.CommID),
		worldOf: make(map[uint32]trace.LocationID)}
	a.string("")
	a.attributes()
	orderFiles(files)
	later(files)
	var sets []*nest.Set
	var tracks [][]*nest.Track
	for _, f := range files {
		sets, tracks = append(sets, f.set), append(tracks, nested(f.tracks.list))
	}
	if err := nest.SurveyAll(ctx, jobs, sets, tracks); err != nil {
		return nil, err
	}
	for i, f := range files {
		if err := a.file(ctx, i, f); err != nil {
			return nil, err
		}
	}
	a.ranks()
	a.glooGroups()
	for _, f := range files {
		a.groups(f)
	}
	return a, nil
}

// orderFiles finds the rank of each file and, if all have one, puts them in its order.
func orderFiles(files []*file) {
	ranked := true
	for _, f := range files {
		if len(f.torch) > 1 { // the files of several ranks were made one
			f.origin.hasRank = false // what the head says is true of one of them
		} else if len(files) > 1 || f.origin.kineto {
			f.origin.rankFromName(f.path)
		}
		f.origin.alone = len(f.torch) < 2 && (f.origin.kineto || f.rocprof)
		ranked = ranked && f.origin.hasRank
	}
	if ranked {
		slices.SortStableFunc(files, func(x, y *file) int { return cmp.Compare(x.origin.rank, y.origin.rank) })
	}
}

// string returns the number of a string in the trace.
func (a *assembler) string(s string) trace.StringID {
	id, ok := a.strings[s]
	if !ok {
		id = trace.StringID(len(a.defs.Strings))
		a.defs.Strings = append(a.defs.Strings, s)
		a.strings[s] = id
	}
	return id
}

// attributes defines the attributes, whose numbers are the constants.
func (a *assembler) attributes() {
	texts := [attributes][2]string{
		attrFile:     {trace.AttributeFile, "the file that a call works on"},
		attrFlowOut:  {trace.AttributeFlowOut, "a flow of this number starts here"},
		attrFlowStep: {trace.AttributeFlowStep, "a flow of this number passes here"},
		attrFlowIn:   {trace.AttributeFlowIn, "a flow of this number ends here"},

		attrCorrelation: {trace.AttributeCorrelation, "a call and what it starts on an accelerator have the same number"},
		attrBytes:       {trace.AttributeBytes, "what a call reads or writes"},

		attrStep:       {trace.AttributeStep, "the step of training"},
		attrSeq:        {trace.AttributeSeq, "the number of the operation among those of its kind in the step"},
		attrMicroBatch: {trace.AttributeMicroBatch, "the micro-batch of the step"},
		attrChunk:      {trace.AttributeChunk, "the chunk of the model, within its stage"},
		attrDP:         {trace.AttributeDP, "the data-parallel rank"},
		attrStage:      {trace.AttributeStage, "the pipeline stage"},
	}
	used := attrCorrelation // those before are always defined
	for _, f := range a.files {
		used = max(used, f.attributes)
	}
	for i, t := range texts[:used] {
		typ := trace.TypeUint64
		if trace.AttributeID(i) == attrFile {
			typ = trace.TypeString
		}
		a.defs.Attributes = append(a.defs.Attributes, trace.Attribute{Ref: uint64(i),
			Name: a.string(t[0]), Description: a.string(t[1]), Type: typ})
	}
}

// file adds the definitions of a file but for its communicators.
func (a *assembler) file(ctx context.Context, number int, f *file) error {
	ids := &nest.IDs{Counts: attrCorrelation, Base: uint64(f.later) << 40}
	if f.later == 0 {
		a.seats = newSeats()
	}
	a.seats.kinds = [3]int{}
	for _, s := range f.names.list {
		ids.Strings = append(ids.Strings, a.string(s))
	}
	for _, r := range f.regions.list {
		ids.Regions = append(ids.Regions, a.region(r, ids))
	}
	for _, m := range f.meters.list {
		ids.Metrics = append(ids.Metrics, a.metric(m, ids))
	}
	// Tracks without events are known from metadata only: PyTorch names every device of the
	// machine.
	tracks := slices.Clone(f.tracks.list)
	tracks = slices.DeleteFunc(tracks, func(l *track) bool { return l.Stream.Len() == 0 })
	f.settle(tracks)
	kinds := f.kinds(tracks)
	// The order of locations must not depend on which track happens to come first in the file.
	slices.SortFunc(tracks, func(x, y *track) int {
		return cmp.Or(cmp.Compare(order(kinds[x.pid]), order(kinds[y.pid])), f.compare(x.pid, y.pid),
			cmp.Compare(boolInt(x.async), boolInt(y.async)), cmp.Compare(boolInt(x.stray), boolInt(y.stray)), f.compare(x.tid, y.tid))
	})
	if f.set.Crowded() {
		if err := f.set.Resurvey(ctx, nested(tracks)); err != nil {
			return err
		}
	}
	f.first = trace.LocationID(len(a.places))
	a.places, a.defs.Locations = slices.Grow(a.places, len(tracks)), slices.Grow(a.defs.Locations, len(tracks))
	var group trace.LocationGroupID = trace.None
	processes := make(map[ident]trace.LocationGroupID) // which come before accelerators
	for i, l := range tracks {
		if i == 0 || l.pid != tracks[i-1].pid {
			kind, creator := kinds[l.pid], trace.LocationGroupID(trace.None)
			if kind == 2 {
				creator = f.ownerGroup(l.pid, processes)
			}
			if group = a.groupOf(number, f, l.pid, kind, creator); kind == 1 {
				processes[l.pid] = group
			}
		}
		if l.steps {
			f.placeWorker(l)
		}
		a.track(f, l, group, ids)
	}
	f.idmap, f.locations = ids, len(a.places)-int(f.first)
	return f.set.Finish(ctx, a.jobs)
}

// nested returns what nests in tracks.
func nested(list []*track) []*nest.Track {
	out := make([]*nest.Track, len(list))
	for i, l := range list {
		out[i] = &l.Track
	}
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kinds returns the kinds of the location groups that pids become: accelerators are those
// with a track of kernels; those with nothing but the writer's bookkeeping are unknown.
func (f *file) kinds(tracks []*track) map[ident]uint8 {
	kinds := make(map[ident]uint8)
	for _, l := range tracks {
		switch {
		case l.GPU || f.rocprof && rocprofDevice(f.meta.processes[l.pid]):
			kinds[l.pid] = 2
		case kinds[l.pid] == 0 && (!l.trivial || l.moments && !f.origin.kineto): // which may be known last
			kinds[l.pid] = 1
		}
	}
	return kinds
}

// order returns where among the others a location group of that kind comes: processes,
// accelerators, the writer's bookkeeping.
func order(kind uint8) uint8 { return (kind + 2) % 3 }

// compare orders pids and tids: numbers, then names.
func (f *file) compare(x, y ident) int {
	if x.named && y.named {
		return cmp.Compare(f.names.list[x.n], f.names.list[y.n])
	}
	return compareIdents(x, y)
}

func (a *assembler) region(r region, ids *nest.IDs) trace.RegionID {
	name := a.string(r.code.function)
	def := trace.Region{Name: name, Canonical: name, Description: ids.Strings[r.cat], Role: r.role,
		Paradigm: r.paradigm, File: a.string(r.code.file), BeginLine: r.code.line}
	// The canonical name lets the analyses of MPI see what the kernel does.
	if name := r.op.MPIName(); name != "" {
		def.Canonical = a.string(name)
		def.Paradigm = trace.ParadigmMPI
	}
	id, ok := a.regions[def]
	if !ok {
		id = trace.RegionID(len(a.defs.Regions))
		a.regions[def] = id
		def.Ref = uint64(id)
		a.defs.Regions = append(a.defs.Regions, def)
	}
	return id
}

func (a *assembler) metric(m meter, ids *nest.IDs) trace.MetricID {
	def := trace.Metric{Ref: uint64(len(a.defs.Metrics)), Class: trace.None, Recorder: trace.None}
	for _, s := range m.series {
		name := a.defs.Strings[ids.Strings[m.name]]
		// Viewers and writers use the series "value" where there is only one.
		if series := a.defs.Strings[ids.Strings[s.name]]; len(m.series) > 1 || series != "value" && series != name {
			name += "." + series
		}
		id := trace.MetricMemberID(len(a.defs.MetricMembers))
		a.defs.MetricMembers = append(a.defs.MetricMembers, trace.MetricMember{Ref: uint64(id),
			Name: a.string(name), Description: a.string(""), Value: s.valueType(), Base: 1,
			Mode: trace.MetricAbsolutePoint, Unit: a.string("")})
		def.Members = append(def.Members, id)
	}
	a.defs.Metrics = append(a.defs.Metrics, def)
	return trace.MetricID(len(a.defs.Metrics) - 1)
}

// group adds the location group of a process or accelerator.
func (a *assembler) group(number int, f *file, pid ident, kind uint8, creator trace.LocationGroupID) trace.LocationGroupID {
	name := f.meta.processes[pid]
	if label := f.meta.labels[pid]; kind == 2 && label != "" {
		name = label // the processes of accelerators have the name of that which uses them
	}
	switch {
	case name == "" && kind == 2:
		name = f.identName("device", pid)
	case name == "":
		name = f.identName("process", pid)
	}
	if len(a.files) > 1 {
		if f.origin.hasRank {
			name = fmt.Sprintf("rank %d: %s", f.origin.rank, name)
		} else {
			name = fmt.Sprintf("%s: %s", a.fileNames()[number], name)
		}
	}
	id := trace.LocationGroupID(len(a.defs.LocationGroups))
	a.defs.LocationGroups = append(a.defs.LocationGroups, trace.LocationGroup{Ref: uint64(id),
		Name: a.string(name), Kind: kind, Node: a.hosts.Node(a.defs, a.string, f.host()), Creator: creator})
	return id
}

// fileNames returns names that tell the files apart.
func (a *assembler) fileNames() []string {
	if a.names == nil {
		var paths []string
		for _, f := range a.files {
			paths = append(paths, f.path)
		}
		a.names = nest.FileNames(paths)
	}
	return a.names
}

// host names the host on which all processes of a file ran, "" if that cannot be told. A process
// with NCCL's profiler writes a file of its own, for all the accelerators that it drives.
func (f *file) host() string {
	if f.dft.host == "" && f.ncclWorld != "" {
		return "host of " + filepath.Base(f.path)
	}
	return f.dft.host
}

// identName returns the name of a process or thread that has no other: its own text, or
// what it is and its number.
func (f *file) identName(what string, i ident) string {
	if !i.named {
		return what + " " + strconv.FormatInt(i.n, 10)
	}
	if name := f.names.list[i.n]; name != "" {
		return name
	}
	return "unnamed " + what
}

// track adds the locations of a track: one, and one more for each sub-track.
func (a *assembler) track(f *file, l *track, group trace.LocationGroupID, ids *nest.IDs) {
	kind := trace.LocationCPUThread
	if l.GPU || f.rocprof && a.defs.LocationGroups[group].Kind == 2 { // PyTorch has threads beside the streams
		kind = trace.LocationGPU
	} else if a.defs.LocationGroups[group].Kind == 0 {
		kind = trace.LocationUnknown
	}
	seat := f.seat(l, group)
	at := trace.Place{Location: a.location(seat), File: f.path, Offset: -1}
	in := "in " + f.trackName(l)
	l.Find(&a.ledger, at, in)
	if !l.device { // several threads
		a.ledger.AddN(trace.CodeUnsorted, l.Stream.Late(), at, in)
	}
	name := f.trackName(l)
	for sub, events := range l.Survey.Events {
		if sub > 0 {
			name = trace.OverlapName(f.trackName(l), sub)
		}
		seat.sub = sub
		p := place{file: f, track: l, sub: sub, ids: ids}
		if id := a.location(seat); int(id) < len(a.places) {
			a.goOn(id, p, events)
			continue
		}
		a.seats.locations[seat] = trace.LocationID(len(a.places))
		a.defs.Locations = append(a.defs.Locations, trace.Location{Ref: uint64(len(a.places)),
			Name: a.string(name), Kind: kind, Events: events, Group: group})
		a.places = append(a.places, p)
	}
	l.Survey = nil
}

func (f *file) trackName(l *track) string {
	if l.async {
		return "async " + f.names.list[l.tid.n]
	}
	pid := l.pid
	if l.stray {
		pid = ident{}
	}
	if name := f.meta.threads[[2]ident{pid, l.tid}]; name != "" {
		return name
	}
	return f.identName("thread", l.tid)
}
