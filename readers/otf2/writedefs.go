package otf2

import (
	"math"
	"path/filepath"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// makeRefs chooses the identifiers in the file: those that the source had, if they are
// distinct. Of metric members, only those without gaps are kept: Paraver's are the numbers
// of event types, and the reference library complains of such.
func (w *Writer) makeRefs() {
	d := w.defs
	w.refs = [spaces][]uint64{
		spaceString:         distinct(len(d.StringRefs), undefined, func(i int) uint64 { return uint64(d.StringRefs[i]) }),
		spaceAttribute:      distinct(len(d.Attributes), undefined, func(i int) uint64 { return d.Attributes[i].Ref }),
		spaceLocation:       distinct(len(d.Locations), undefined64, func(i int) uint64 { return d.Locations[i].Ref }),
		spaceRegion:         distinct(len(d.Regions), undefined, func(i int) uint64 { return d.Regions[i].Ref }),
		spaceGroup:          distinct(len(d.Groups), undefined, func(i int) uint64 { return d.Groups[i].Ref }),
		spaceMetric:         distinct(len(d.Metrics), undefined, func(i int) uint64 { return d.Metrics[i].Ref }),
		spaceComm:           distinct(len(d.Comms), undefined, func(i int) uint64 { return d.Comms[i].Ref }),
		spaceSourceLocation: distinct(len(d.SourceLocations), undefined, func(i int) uint64 { return d.SourceLocations[i].Ref }),
		spaceCallingContext: distinct(len(d.CallingContexts), undefined, func(i int) uint64 { return d.CallingContexts[i].Ref }),
		spaceLocationGroup:  distinct(len(d.LocationGroups), undefined, func(i int) uint64 { return d.LocationGroups[i].Ref }),
		spaceSystemTreeNode: distinct(len(d.SystemTree), undefined, func(i int) uint64 { return d.SystemTree[i].Ref }),
		spaceMetricMember: distinct(len(d.MetricMembers), uint64(len(d.MetricMembers)),
			func(i int) uint64 { return d.MetricMembers[i].Ref }),
	}
}

// distinct returns the n references if they are distinct and below limit, else nil.
func distinct(n int, limit uint64, ref func(int) uint64) []uint64 {
	refs, seen := make([]uint64, n), make(map[uint64]bool, n)
	for i := range refs {
		refs[i] = ref(i)
		if refs[i] >= limit || seen[refs[i]] {
			return nil
		}
		seen[refs[i]] = true
	}
	return refs
}

// ref returns the identifier in the file.
func (w *Writer) ref(s space, id uint32) uint64 {
	if id == trace.None {
		if s == spaceLocation {
			return undefined64
		}
		return undefined
	}
	if refs := w.refs[s]; int(id) < len(refs) {
		return refs[id]
	}
	return uint64(id)
}

func (w *Writer) str(id trace.StringID) uint64 { return w.ref(spaceString, uint32(id)) }

// A defFile writes definition records.
type defFile struct {
	out     chunkWriter
	scratch []byte
	records uint64
	err     error
}

// put writes a definition that has no repeated fields and no text.
func (f *defFile) put(id uint8, values ...uint64) { f.putRecord(id, &record{values: values}) }

func (f *defFile) putRecord(id uint8, r *record) {
	f.putBytes(definitionRecords()[id].encode(f.scratch[:0], id, r))
}

func (f *defFile) putBytes(b []byte) {
	f.scratch = b
	if f.err != nil {
		return
	}
	if _, f.err = f.out.reserve(len(b)); f.err != nil {
		return
	}
	f.out.buf = append(f.out.buf, b...)
	f.records++
	if len(f.out.buf) >= flushSize {
		f.err = f.out.flush()
	}
}

func (f *defFile) close() error {
	if f.err != nil {
		return f.err
	}
	return f.out.close()
}

// writeLocal writes a location's definitions: the clock offsets. Identifiers in events are
// global ones.
func (w *Writer) writeLocal(id trace.LocationID) error {
	f := defFile{out: chunkWriter{path: w.localPath(id, ".def"), size: int64(w.options.DefChunk)}}
	for _, o := range w.defs.Locations[id].ClockOffsets {
		f.putBytes(localRecords()[localClockOffset].encode(f.scratch[:0], localClockOffset, &record{values: []uint64{
			uint64(o.Time), uint64(o.Offset), math.Float64bits(o.Deviation)}}))
	}
	return f.close()
}

// writeGlobal writes the global definitions, each after those that it refers to, and
// returns their number.
func (w *Writer) writeGlobal() (uint64, error) {
	f := &defFile{out: chunkWriter{path: filepath.Join(w.dir, w.target.stem+".def"), size: int64(w.options.DefChunk)}}
	c := w.defs.Clock
	f.put(defClockProperties, c.Resolution, uint64(c.GlobalOffset), c.Length, c.Realtime)
	for i, s := range w.defs.Strings {
		f.putRecord(defString, &record{values: []uint64{w.str(trace.StringID(i))}, texts: [2]string{s}})
	}
	w.putInstantName(f)
	w.putOpaque(f, func(kind uint8) bool { return kind < defString })
	w.putMachine(f)
	w.putProgram(f)
	w.putMetrics(f)
	w.putOpaque(f, func(kind uint8) bool { return kind > defString })
	w.putInstant(f)
	return f.records, f.close()
}

func (w *Writer) putMachine(f *defFile) {
	for i, n := range w.defs.SystemTree {
		f.put(defSystemTreeNode, w.ref(spaceSystemTreeNode, uint32(i)), w.str(n.Name), w.str(n.Class),
			w.ref(spaceSystemTreeNode, uint32(n.Parent)))
	}
	for i, g := range w.defs.LocationGroups {
		f.put(defLocationGroup, w.ref(spaceLocationGroup, uint32(i)), w.str(g.Name), uint64(g.Kind),
			w.ref(spaceSystemTreeNode, uint32(g.Node)), w.ref(spaceLocationGroup, uint32(g.Creator)))
	}
	for i, l := range w.defs.Locations {
		f.put(defLocation, w.ref(spaceLocation, uint32(i)), w.str(l.Name), uint64(l.Kind),
			w.files[i].out.events, w.ref(spaceLocationGroup, uint32(l.Group)))
	}
}

// putProgram writes regions, contexts and communicators. The type that stood for role
// and paradigm before version 1.1 of the format is left unknown.
func (w *Writer) putProgram(f *defFile) {
	for i, a := range w.defs.Attributes {
		f.put(defAttribute, w.ref(spaceAttribute, uint32(i)), w.str(a.Name), uint64(a.Type), w.str(a.Description))
	}
	for i, r := range w.defs.Regions {
		f.put(defRegion, w.ref(spaceRegion, uint32(i)), w.str(r.Name), w.str(r.Description), 0, w.str(r.File), uint64(r.BeginLine),
			uint64(r.EndLine), w.str(r.Canonical), uint64(r.Role), uint64(r.Paradigm), uint64(r.Flags))
	}
	for i, s := range w.defs.SourceLocations {
		f.put(defSourceCodeLocation, w.ref(spaceSourceLocation, uint32(i)), w.str(s.File), uint64(s.Line))
	}
	for i, c := range w.defs.CallingContexts {
		f.put(defCallingContext, w.ref(spaceCallingContext, uint32(i)), w.ref(spaceRegion, uint32(c.Region)),
			w.ref(spaceSourceLocation, uint32(c.Site)), w.ref(spaceCallingContext, uint32(c.Parent)))
	}
	for i, g := range w.defs.Groups {
		f.putRecord(defGroup, &record{values: []uint64{w.ref(spaceGroup, uint32(i)), w.str(g.Name), 0, uint64(len(g.Members)),
			uint64(g.Kind), uint64(g.Paradigm), uint64(g.Flags)}, list: w.members(g)})
	}
	for i, c := range w.defs.Comms {
		self, group, parent := w.ref(spaceComm, uint32(i)), w.ref(spaceGroup, uint32(c.Group)), w.ref(spaceComm, uint32(c.Parent))
		if c.Inter {
			f.put(defInterComm, self, w.str(c.Name), group, w.ref(spaceGroup, uint32(c.Remote)), parent, uint64(c.Flags))
		} else {
			f.put(defComm, self, w.str(c.Name), group, parent, uint64(c.Flags))
		}
	}
}

// members returns the members of a group as they lie in the file.
func (w *Writer) members(g trace.Group) []uint64 {
	s, refers := memberSpace(g.Kind)
	list := make([]uint64, len(g.Members))
	for i, m := range g.Members {
		switch {
		case refers:
			list[i] = w.ref(s, m)
		case m == trace.None:
			list[i] = undefined64
		default:
			list[i] = uint64(m)
		}
	}
	return list
}

func (w *Writer) putMetrics(f *defFile) {
	for i, m := range w.defs.MetricMembers {
		f.put(defMetricMember, w.ref(spaceMetricMember, uint32(i)), w.str(m.Name), w.str(m.Description), uint64(m.Type), uint64(m.Mode),
			uint64(m.Value), uint64(m.Base), uint64(m.Exponent), w.str(m.Unit))
	}
	for i, m := range w.defs.Metrics {
		self := w.ref(spaceMetric, uint32(i))
		if m.Class != trace.None {
			f.put(defMetricInstance, self, w.ref(spaceMetric, uint32(m.Class)), w.ref(spaceLocation, uint32(m.Recorder)), uint64(m.Scope),
				m.ScopeRef)
			continue
		}
		r := record{values: []uint64{self, uint64(len(m.Members)), uint64(m.Occurrence), uint64(m.Kind)}}
		for _, member := range m.Members {
			r.list = append(r.list, w.ref(spaceMetricMember, uint32(member)))
		}
		f.putRecord(defMetricClass, &r)
	}
}

// putOpaque writes definitions that were read from an archive as they were there, in the
// byte order of this one.
func (w *Writer) putOpaque(f *defFile, kinds func(uint8) bool) {
	var r record
	for _, o := range w.defs.Opaque {
		if o.Format != Format || !kinds(o.Kind) {
			continue
		}
		if o.BigEndian {
			c := wire.Cursor{Data: o.Payload, BigEndian: true}
			definitionRecords()[o.Kind].decode(&c, &r)
			f.putRecord(o.Kind, &r)
			continue
		}
		b := append(f.scratch[:0], o.Kind, 0)
		f.putBytes(closePrefix(append(b, o.Payload...), 1))
	}
}
