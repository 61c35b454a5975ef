package recording

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// A joiner makes the definitions of one trace of files.
type joiner struct {
	files    []*File
	names    []string // that tell files apart
	defs     *trace.Defs
	strings  map[string]trace.StringID
	regions  map[trace.Region]trace.RegionID
	metrics  map[trace.MetricMember]trace.MetricID
	hosts    nest.Hosts
	comms    map[string]trace.CommID
	world    trace.GroupID // of all ranks; None: there are no ranks
	size     uint32        // of the world
	byDevice bool          // devices are the ranks
	places   []place
	ids      []*nest.IDs
	ledger   trace.Ledger
}

// A place is where the events of a location are.
type place struct {
	file  *File
	track *Track
	sub   int
	ids   *nest.IDs
	known *nest.Outline // nil: nothing is known without reading
}

// join makes the definitions of files, which are finished.
func join(ctx context.Context, jobs int, files []*File, start bool) (*joiner, error) {
	j := &joiner{files: files, defs: &trace.Defs{}, strings: make(map[string]trace.StringID), regions: make(map[trace.Region]trace.RegionID),
		metrics: make(map[trace.MetricMember]trace.MetricID),
		comms:   make(map[string]trace.CommID), world: trace.None}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	j.names = nest.FileNames(paths)
	j.string("")
	j.attributes()
	var sets []*nest.Set
	var tracks [][]*nest.Track
	for _, f := range files {
		f.settle()
		if f.Ledger.Count(trace.CodeTruncated) > 0 && !f.Table { // tables of a database, or planes, follow each other
			f.Ledger.Add(trace.CodeCutAnywhere, f.Place(-1), "")
		}
		if err := f.flows.settle(ctx, f); err != nil {
			return nil, err
		}
		sets, tracks = append(sets, f.Set), append(tracks, nested(f.tracks()))
	}
	if err := nest.SurveyAll(ctx, jobs, sets, tracks); err != nil {
		return nil, err
	}
	j.ranks()
	for i, f := range files {
		if f.Set.Crowded() {
			if err := f.Set.Resurvey(ctx, tracks[i]); err != nil {
				return nil, err
			}
		}
		j.file(f)
		if err := f.Set.Finish(ctx, jobs); err != nil {
			return nil, err
		}
	}
	j.communicators()
	j.clock(start)
	return j, nil
}

// attributes defines the attributes that events may have.
func (j *joiner) attributes() {
	define := func(name, description string, typ trace.ValueType) {
		j.defs.Attributes = append(j.defs.Attributes, trace.Attribute{Ref: uint64(len(j.defs.Attributes)), Name: j.string(name),
			Description: j.string(description), Type: typ})
	}
	define(trace.AttributeCorrelation, "a call and what it starts on an accelerator have the same number", trace.TypeUint64)
	define(trace.AttributeBytes, "what a device copies or sets", trace.TypeUint64)
	if len(j.files) > 0 && j.files[0].Table {
		define(trace.AttributeStep, "the step of training", trace.TypeUint64)
		define(trace.AttributeDP, "the data-parallel rank", trace.TypeUint64)
		define(trace.AttributeStage, "the pipeline stage", trace.TypeUint64)
		define(trace.AttributeMicroBatch, "the micro-batch of the step", trace.TypeUint64)
		define(trace.AttributeChunk, "the chunk of the model, within its stage", trace.TypeUint64)
		define(trace.AttributeModelChunk, "the chunk of the model", trace.TypeUint64)
		define(trace.AttributeSeq, "the number of the operation among those of its kind in the step", trace.TypeUint64)
		define(trace.AttributeGroup, "those who communicate together", trace.TypeString)
		define(trace.AttributeTP, "the tensor-parallel rank", trace.TypeUint64)
		return
	}
	flows, operations := false, false
	for _, f := range j.files {
		flows, operations = flows || f.flows.ends > 0, operations || f.Operations
	}
	if flows || operations {
		define(trace.AttributeFlowOut, "a flow of this number starts here", trace.TypeUint64)
		define(trace.AttributeFlowStep, "a flow of this number passes here", trace.TypeUint64)
		define(trace.AttributeFlowIn, "a flow of this number ends here", trace.TypeUint64)
	}
	if operations {
		define("hlo_op", "the operation of XLA that a device works at", trace.TypeString)
	}
}

// nested returns what nests in tracks.
func nested(list []*Track) []*nest.Track {
	out := make([]*nest.Track, len(list))
	for i, l := range list {
		out[i] = &l.Track
	}
	return out
}

// string returns the number of a string in the trace.
func (j *joiner) string(s string) trace.StringID {
	id, ok := j.strings[s]
	if !ok {
		id = trace.StringID(len(j.defs.Strings))
		j.defs.Strings = append(j.defs.Strings, s)
		j.strings[s] = id
	}
	return id
}

// file adds the definitions of a file but for its communicators.
func (j *joiner) file(f *File) {
	ids := &nest.IDs{}
	j.ids = append(j.ids, ids)
	for _, s := range f.list {
		ids.Strings = append(ids.Strings, j.string(s))
	}
	for _, r := range f.described {
		ids.Regions = append(ids.Regions, j.region(f, r))
	}
	for _, m := range f.meters {
		ids.Metrics = append(ids.Metrics, j.metric(m))
	}
	for _, p := range f.processes {
		p.group = j.group(f, p, j.processName(f, p), 1, trace.None)
		for _, l := range p.threads {
			j.track(f, p, l, p.group, ids)
		}
	}
	for _, p := range f.processes {
		for _, d := range p.devices {
			group := j.group(f, p, d.Name, 2, p.group)
			for _, l := range d.streams {
				if d.main == trace.None {
					d.main = trace.LocationID(len(j.places))
				}
				j.track(f, p, l, group, ids)
			}
		}
	}
	for i, n := range f.lost {
		j.ledger.AddN(trace.CodeLimitExceeded, n, f.Place(-1), lostTexts[i])
	}
}

func (j *joiner) region(f *File, r region) trace.RegionID {
	name := j.string(f.list[r.name])
	def := trace.Region{Name: name, Canonical: name, Description: j.string(r.Category), Role: r.Role, Paradigm: r.Paradigm,
		File: j.string(r.File), BeginLine: r.Line}
	// The canonical name lets the analyses of MPI see what the kernel does.
	if mpi := r.op.MPIName(); mpi != "" {
		def.Canonical, def.Paradigm = j.string(mpi), trace.ParadigmMPI
	}
	id, ok := j.regions[def]
	if !ok {
		id = trace.RegionID(len(j.defs.Regions))
		j.regions[def] = id
		def.Ref = uint64(id)
		j.defs.Regions = append(j.defs.Regions, def)
	}
	return id
}

func (j *joiner) metric(m meter) trace.MetricID {
	def := trace.MetricMember{Name: j.string(m.name), Description: j.string(""), Value: m.typ, Base: 1, Mode: m.mode, Unit: j.string(m.unit)}
	id, ok := j.metrics[def]
	if !ok {
		id = trace.MetricID(len(j.defs.Metrics))
		j.metrics[def] = id
		member := trace.MetricMemberID(len(j.defs.MetricMembers))
		def.Ref = uint64(member)
		j.defs.MetricMembers = append(j.defs.MetricMembers, def)
		j.defs.Metrics = append(j.defs.Metrics, trace.Metric{Ref: uint64(id), Class: trace.None, Recorder: trace.None,
			Members: []trace.MetricMemberID{member}})
	}
	return id
}

// processName returns the name of a process for people.
func (j *joiner) processName(f *File, p *Process) string {
	if p.Name != "" {
		return filepath.Base(p.Name)
	}
	return fmt.Sprintf("process %d", p.Pid)
}

// group adds the location group of a process or a device.
func (j *joiner) group(f *File, p *Process, name string, kind uint8, creator trace.LocationGroupID) trace.LocationGroupID {
	switch {
	case p.world != trace.None && j.size > 1:
		name = fmt.Sprintf("rank %d: %s", p.world, name)
	case p.world == trace.None && len(f.processes) > 1:
		name = fmt.Sprintf("process %d: %s", p.Pid, name)
	}
	if p.world == trace.None && len(j.files) > 1 {
		name = fmt.Sprintf("%s: %s", j.names[slices.Index(j.files, f)], name)
	}
	id := trace.LocationGroupID(len(j.defs.LocationGroups))
	j.defs.LocationGroups = append(j.defs.LocationGroups, trace.LocationGroup{Ref: uint64(id), Name: j.string(name), Kind: kind,
		Node: j.hosts.Node(j.defs, j.string, f.Host), Creator: creator})
	return id
}

// track adds the locations of a track: one, and one more for each sub-track.
func (j *joiner) track(f *File, p *Process, l *Track, group trace.LocationGroupID, ids *nest.IDs) {
	at := trace.Place{Location: trace.LocationID(len(j.places)), File: f.Path, Offset: -1}
	l.Find(&j.ledger, at, "in "+l.Name)
	if p.main == trace.None {
		p.main = at.Location
	}
	for sub, events := range l.Survey.Events {
		name := l.Name
		if sub > 0 {
			name = trace.OverlapName(l.Name, sub)
		}
		j.defs.Locations = append(j.defs.Locations, trace.Location{Ref: uint64(len(j.places)), Name: j.string(name), Kind: l.Kind,
			Events: events, Group: group})
		j.places = append(j.places, place{f, l, sub, ids, l.Survey.Outlines[sub]})
	}
	l.Survey = nil
}
