package otf2

import (
	"bytes"
	"fmt"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Numbers of the definition records that the model has types for; all others are kept as
// they are.
const (
	defClockProperties    = 5
	defString             = 10
	defAttribute          = 11
	defSystemTreeNode     = 12
	defLocationGroup      = 13
	defLocation           = 14
	defRegion             = 15
	defGroup              = 18
	defMetricMember       = 19
	defMetricClass        = 20
	defMetricInstance     = 21
	defComm               = 22
	defSourceCodeLocation = 33
	defCallingContext     = 34
	defInterComm          = 43
)

// A defReader makes the model's definitions from the global definition file. It reads the
// file twice: the first pass finds which identifiers are defined, for writers do not keep
// to the rule that definitions precede their use; the second builds the definitions.
type defReader struct {
	file     string
	defs     *trace.Defs
	ids      [spaces]idTable
	built    [spaces]uint32 // number of definitions that the second pass has seen
	clocks   int            // number of ClockProperties
	records  uint64         // number of records in the file
	findings *trace.Ledger
	offset   int64 // of the current record

	twice map[identifier][]byte // what is defined several times: the first definition, once the second pass has seen it

	cart cartesian

	instantNamed, hasInstants bool   // see instants.go: name and parameter are defined
	instantString, instant    uint64 // their identifiers
}

// An identifier is that of a definition.
type identifier struct {
	space space
	ref   uint64
}

// readDefinitions reads the global definition file.
func readDefinitions(file *wire.File, chunkSize uint64, findings *trace.Ledger) (*defReader, error) {
	d := &defReader{file: file.Name(), defs: new(trace.Defs), findings: findings}
	first := d.pass(file, chunkSize, d.register)
	if first.damage != nil && d.empty() {
		return nil, &trace.SyntaxError{File: d.file, Offset: first.damage.offset,
			Record: first.damage.record, Err: first.damage.err}
	}
	d.reportEnd(first)
	d.pass(file, chunkSize, d.build)
	d.offset = file.Size()
	d.complete()
	return d, nil
}

// empty reports whether nothing at all is defined.
func (d *defReader) empty() bool {
	for i := range d.ids {
		if d.ids[i].n > 0 {
			return false
		}
	}
	return d.clocks == 0
}

// pass decodes all records of the file and hands them to f.
func (d *defReader) pass(file *wire.File, chunkSize uint64, f func(rawRecord, *record, error)) *rawRecords {
	fr := newRawRecords(file, int64(chunkSize), false)
	var r record
	for rec, ok := fr.next(); ok; rec, ok = fr.next() {
		d.offset = rec.offset
		c := wire.Cursor{Data: rec.payload, BigEndian: rec.bigEndian}
		definitionRecords()[rec.id].decode(&c, &r)
		f(rec, &r, c.Err)
	}
	return fr
}

// register is the first pass: it defines the record's identifier and notes bad records.
func (d *defReader) register(rec rawRecord, r *record, err error) {
	layout := &definitionRecords()[rec.id]
	d.records++
	switch {
	case layout.name == "":
		d.note(trace.CodeUnknownDefinition, definitionRecords().recordName(rec.id))
	case err != nil:
		d.note(trace.CodeBadDefinition, layout.name+": "+err.Error())
	case isInstantName(rec.id, r):
		d.instantNamed, d.instantString = true, r.values[0]
	case rec.id == defClockProperties:
		d.clocks++
		if d.clocks > 1 {
			d.note(trace.CodeDuplicateDefinition, layout.name)
		}
	case layout.fields[0].self && isUndefined(layout.fields[0].enc, r.values[0]):
		d.note(trace.CodeBadDefinition, layout.name+" defines the identifier that stands for none")
	case layout.fields[0].self:
		if _, fresh := d.ids[layout.fields[0].space].add(r.values[0]); !fresh {
			if d.twice == nil {
				d.twice = make(map[identifier][]byte)
			}
			d.twice[identifier{layout.fields[0].space, r.values[0]}] = nil
		}
	}
}

// isUndefined reports whether an identifier is the one that stands for none.
func isUndefined(enc encoding, ref uint64) bool {
	return enc == encC32 && ref == undefined || enc == encC64 && ref == undefined64
}

// reportEnd notes how the file ends.
func (d *defReader) reportEnd(f *rawRecords) { noteEnd(d.findings, f, trace.None, d.file) }

// noteEnd notes damage, a missing end mark and data behind it.
func noteEnd(l *trace.Ledger, f *rawRecords, location trace.LocationID, file string) {
	at := trace.Place{Location: location, File: file, Offset: f.chunks.file.Size()}
	switch {
	case f.damage != nil:
		at.Offset = f.damage.offset
		l.Add(f.damage.code, at, f.damage.text())
	case !f.ended:
		l.Add(trace.CodeUnfinalised, at, "the file has no end mark")
	case f.trailing >= 0:
		at.Offset = f.trailing
		l.Add(trace.CodeTrailingData, at, "")
	}
}

func (d *defReader) note(code trace.Code, text string) {
	d.findings.Add(code, trace.Place{Location: trace.None, File: d.file, Offset: d.offset}, text)
}

// isNew reports whether the record is the first definition of its identifier. The first
// pass numbered identifiers in the order of their first definition.
func (d *defReader) isNew(s space, ref uint64) bool {
	if d.ids[s].get(ref) != d.built[s] {
		return false
	}
	d.built[s]++
	return true
}

// ref resolves a reference; trace.None for undefined ones and, with a finding, for those
// that are not defined.
func (d *defReader) ref(s space, ref uint64) uint32 {
	id := d.ids[s].get(ref)
	if id == trace.None && ref != undefined && ref != undefined64 {
		d.note(trace.CodeDanglingReference, fmt.Sprintf("%s %d is not defined", spaceNames[s], ref))
	}
	return id
}

func (d *defReader) str(ref uint64) trace.StringID { return trace.StringID(d.ref(spaceString, ref)) }

// build is the second pass: it makes the model's definition of a record.
func (d *defReader) build(rec rawRecord, r *record, err error) {
	layout := &definitionRecords()[rec.id]
	if err != nil || layout.name == "" || isInstantName(rec.id, r) {
		return
	}
	if layout.fields[0].self {
		fresh := d.isNew(layout.fields[0].space, r.values[0])
		d.compare(rec, identifier{layout.fields[0].space, r.values[0]}, fresh)
		if !fresh {
			return
		}
	}
	if !d.buildMachine(rec.id, r) && !d.buildProgram(rec.id, r) && !d.buildInstant(rec.id, r) {
		d.cart.note(rec.id, r)
		d.defs.Opaque = append(d.defs.Opaque, trace.OpaqueDefinition{Format: Format, Kind: rec.id,
			BigEndian: rec.bigEndian, Payload: bytes.Clone(rec.payload)})
	}
}

// compare notes that an identifier is defined again: alike, which changes nothing, or as something else.
func (d *defReader) compare(rec rawRecord, id identifier, first bool) {
	as, twice := d.twice[id]
	if !twice {
		return
	}
	if first {
		d.twice[id] = append([]byte{rec.id}, rec.payload...)
		return
	}
	said := fmt.Sprintf("%s %d", definitionRecords()[rec.id].name, id.ref)
	if len(as) > 0 && as[0] == rec.id && bytes.Equal(as[1:], rec.payload) {
		d.note(trace.CodeRedundantRecord, said+", defined again")
	} else {
		d.note(trace.CodeDuplicateDefinition, said)
	}
}

// buildMachine builds the definitions of where the trace was recorded.
func (d *defReader) buildMachine(kind uint8, r *record) bool {
	v, defs := r.values, d.defs
	switch kind {
	case defClockProperties:
		if defs.Clock.Resolution == 0 {
			defs.Clock = trace.ClockProperties{Resolution: v[0], GlobalOffset: int64(v[1]), Length: v[2], Realtime: r.opt(3, undefined64)}
		}
	case defString:
		defs.Strings = append(defs.Strings, r.texts[0])
		defs.StringRefs = append(defs.StringRefs, uint32(v[0]))
	case defSystemTreeNode:
		defs.SystemTree = append(defs.SystemTree, trace.SystemTreeNode{Ref: v[0], Name: d.str(v[1]), Class: d.str(v[2]),
			Parent: trace.SystemTreeNodeID(d.ref(spaceSystemTreeNode, v[3]))})
	case defLocationGroup:
		defs.LocationGroups = append(defs.LocationGroups, trace.LocationGroup{Ref: v[0], Name: d.str(v[1]), Kind: uint8(v[2]),
			Node:    trace.SystemTreeNodeID(d.ref(spaceSystemTreeNode, v[3])),
			Creator: trace.LocationGroupID(d.ref(spaceLocationGroup, r.opt(4, undefined)))})
	case defLocation:
		defs.Locations = append(defs.Locations, trace.Location{Ref: v[0], Name: d.str(v[1]), Kind: trace.LocationKind(v[2]),
			Events: v[3], Group: trace.LocationGroupID(d.ref(spaceLocationGroup, v[4]))})
	case defMetricMember:
		defs.MetricMembers = append(defs.MetricMembers, trace.MetricMember{Ref: v[0], Name: d.str(v[1]), Description: d.str(v[2]),
			Type: uint8(v[3]), Mode: uint8(v[4]), Value: trace.ValueType(v[5]), Base: uint8(v[6]), Exponent: int64(v[7]), Unit: d.str(v[8])})
	case defMetricClass:
		m := trace.Metric{Ref: v[0], Occurrence: uint8(v[2]), Kind: uint8(r.opt(3, 0)), Class: trace.None, Recorder: trace.None}
		for _, ref := range r.list {
			m.Members = append(m.Members, trace.MetricMemberID(d.ref(spaceMetricMember, ref)))
		}
		defs.Metrics = append(defs.Metrics, m)
	case defMetricInstance:
		defs.Metrics = append(defs.Metrics, trace.Metric{Ref: v[0], Class: trace.MetricID(d.ref(spaceMetric, v[1])),
			Recorder: trace.LocationID(d.ref(spaceLocation, v[2])), Scope: uint8(v[3]), ScopeRef: v[4]})
	default:
		return false
	}
	return true
}

// buildProgram builds the definitions of what was recorded.
func (d *defReader) buildProgram(kind uint8, r *record) bool {
	v, defs := r.values, d.defs
	switch kind {
	case defAttribute:
		defs.Attributes = append(defs.Attributes, trace.Attribute{Ref: v[0], Name: d.str(v[1]), Type: trace.ValueType(v[2]),
			Description: d.str(r.opt(3, undefined))})
	case defRegion:
		defs.Regions = append(defs.Regions, d.region(r))
	case defGroup:
		defs.Groups = append(defs.Groups, d.group(r))
	case defComm:
		defs.Comms = append(defs.Comms, trace.Comm{Ref: v[0], Name: d.str(v[1]), Group: trace.GroupID(d.ref(spaceGroup, v[2])),
			Remote: trace.None, Parent: trace.CommID(d.ref(spaceComm, v[3])), Flags: uint32(r.opt(4, 0))})
	case defInterComm:
		defs.Comms = append(defs.Comms, trace.Comm{Ref: v[0], Name: d.str(v[1]), Group: trace.GroupID(d.ref(spaceGroup, v[2])),
			Remote: trace.GroupID(d.ref(spaceGroup, v[3])), Parent: trace.CommID(d.ref(spaceComm, v[4])), Flags: uint32(v[5]), Inter: true})
	case defSourceCodeLocation:
		defs.SourceLocations = append(defs.SourceLocations, trace.SourceLocation{Ref: v[0], File: d.str(v[1]), Line: uint32(v[2])})
	case defCallingContext:
		defs.CallingContexts = append(defs.CallingContexts, trace.CallingContext{Ref: v[0], Region: trace.RegionID(d.ref(spaceRegion, v[1])),
			Site: trace.SourceLocationID(d.ref(spaceSourceLocation, v[2])), Parent: trace.CallingContextID(d.ref(spaceCallingContext, v[3]))})
	default:
		return false
	}
	return true
}

// region builds a region; records before version 1.1 have only a type, of which role,
// paradigm and flags are made.
func (d *defReader) region(r *record) trace.Region {
	v := r.values
	g := trace.Region{Ref: v[0], Name: d.str(v[1]), Description: d.str(v[2]), File: d.str(v[4]),
		BeginLine: lineNumber(v[5]), EndLine: lineNumber(v[6])}
	if len(v) < 11 {
		g.Canonical = g.Name
		g.Role, g.Paradigm, g.Flags = legacyRegion(v[3])
		return g
	}
	g.Canonical, g.Role, g.Paradigm, g.Flags = d.str(v[7]), trace.RegionRole(v[8]), trace.Paradigm(v[9]), uint32(v[10])
	return g
}

// lineNumber returns a line, 0 for undefined ones.
func lineNumber(v uint64) uint32 {
	if v == undefined {
		return 0
	}
	return uint32(v)
}

// group builds a group; records before version 1.2 have only a type of other numbers.
func (d *defReader) group(r *record) trace.Group {
	v := r.values
	g := trace.Group{Ref: v[0], Name: d.str(v[1])}
	if len(v) < 7 {
		g.Kind, g.Paradigm = legacyGroup(v[2])
	} else {
		g.Kind, g.Paradigm, g.Flags = trace.GroupKind(v[4]), trace.Paradigm(v[5]), uint32(v[6])
	}
	members, refers := memberSpace(g.Kind)
	g.Members = make([]uint32, len(r.list))
	for i, m := range r.list {
		switch {
		case refers:
			g.Members[i] = d.ref(members, m)
		case m < trace.None:
			g.Members[i] = uint32(m)
		default:
			if m != undefined && m != undefined64 {
				d.note(trace.CodeDanglingReference, fmt.Sprintf("Group %d: rank %d does not exist", g.Ref, m))
			}
			g.Members[i] = trace.None
		}
	}
	return g
}

// memberSpace returns what the members of a group refer to; ok is false if they are
// indexes into another group.
func memberSpace(kind trace.GroupKind) (s space, ok bool) {
	switch kind {
	case trace.GroupLocations, trace.GroupCommLocations:
		return spaceLocation, true
	case trace.GroupRegions:
		return spaceRegion, true
	case trace.GroupMetric:
		return spaceMetric, true
	}
	return noSpace, false
}

// legacyRegion returns what became of a RegionType in version 1.1 of the format.
func legacyRegion(regionType uint64) (trace.RegionRole, trace.Paradigm, uint32) {
	const (
		user    = trace.ParadigmUser
		omp     = trace.ParadigmOpenMP
		mpi     = trace.ParadigmMPI
		dynamic = 1
		phase   = 2
		loop    = 3
		code    = 4
	)
	table := [...]struct {
		role     trace.RegionRole
		paradigm trace.Paradigm
		flags    uint32
	}{
		1: {trace.RoleFunction, 0, 0}, 2: {loop, user, 0}, 3: {trace.RoleFunction, 0, 0}, 4: {27, user, 0},
		5: {5, omp, 0}, 6: {loop, omp, 0}, 7: {6, omp, 0}, 8: {7, omp, 0}, 9: {8, omp, 0}, 10: {9, omp, 0},
		11: {11, omp, 0}, 12: {12, omp, 0}, 13: {14, omp, 0}, 14: {15, omp, 0}, 15: {16, omp, 0}, 16: {17, omp, 0},
		17: {13, omp, 0}, 18: {10, omp, 0}, 19: {2, omp, 0}, 20: {20, omp, 0}, 21: {22, omp, 0},
		22: {trace.RoleBarrier, mpi, 0}, 23: {trace.RoleCollOne2All, mpi, 0}, 24: {trace.RoleCollAll2One, mpi, 0},
		25: {trace.RoleCollAll2All, mpi, 0}, 26: {trace.RoleCollOther, mpi, 0},
		27: {code, user, phase}, 28: {code, user, dynamic}, 29: {code, user, dynamic | phase},
		30: {loop, user, dynamic}, 31: {trace.RoleFunction, user, dynamic}, 32: {loop, user, dynamic | phase},
		33: {21, omp, 0}, 34: {18, omp, 0}, 35: {19, omp, 0},
	}
	if regionType >= uint64(len(table)) {
		return 0, 0, 0
	}
	t := table[regionType]
	return t.role, t.paradigm, t.flags
}

// legacyGroup returns what became of a GroupTypePre12 in version 1.2 of the format.
func legacyGroup(groupType uint64) (trace.GroupKind, trace.Paradigm) {
	table := [...]struct {
		kind     trace.GroupKind
		paradigm trace.Paradigm
	}{
		1: {trace.GroupLocations, 0}, 2: {trace.GroupRegions, 0}, 3: {trace.GroupMetric, 0},
		4: {trace.GroupComm, trace.ParadigmMPI}, 5: {trace.GroupCommSelf, trace.ParadigmMPI},
		6: {trace.GroupCommLocations, trace.ParadigmMPI},
	}
	if groupType >= uint64(len(table)) {
		return 0, 0
	}
	return table[groupType].kind, table[groupType].paradigm
}
