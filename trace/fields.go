package trace

import "math"

// The fields of definitions: one list for each kind of definition, from which all that
// write and read every field work, such as the text form and the tables of definitions.

// A Field is a member of a definition, of the Info or of the clock.
type Field struct {
	Name    string
	Value   any    // pointer to the member; its type says how the value looks
	Default uint64 // of numbers and references: that of a definition of which nothing is said
}

// SetDefault gives numbers and references their default.
func (f *Field) SetDefault() {
	switch v := f.Value.(type) {
	case *uint8:
		*v = uint8(f.Default)
	case *uint32:
		*v = uint32(f.Default)
	case *uint64:
		*v = f.Default
	case *StringID:
		*v = StringID(f.Default)
	}
}

// A DefKind is a kind of definition whose definitions are a slice of Defs.
type DefKind struct {
	Name   string
	Count  func(*Defs) int          // how many there are
	Grow   func(*Defs)              // appends one with the defaults of its fields
	Fields func(*Defs, int) []Field // of definition i, pointing into Defs
}

// DefKinds returns all kinds but the strings, in the order in which they are written.
func DefKinds() []DefKind {
	return []DefKind{
		defKind("node", func(d *Defs) *[]SystemTreeNode { return &d.SystemTree }, nodeFields),
		defKind("process", func(d *Defs) *[]LocationGroup { return &d.LocationGroups }, processFields),
		defKind("location", func(d *Defs) *[]Location { return &d.Locations }, locationFields),
		defKind("region", func(d *Defs) *[]Region { return &d.Regions }, regionFields),
		defKind("group", func(d *Defs) *[]Group { return &d.Groups }, groupFields),
		defKind("comm", func(d *Defs) *[]Comm { return &d.Comms }, commFields),
		defKind("site", func(d *Defs) *[]SourceLocation { return &d.SourceLocations }, siteFields),
		defKind("context", func(d *Defs) *[]CallingContext { return &d.CallingContexts }, contextFields),
		defKind("member", func(d *Defs) *[]MetricMember { return &d.MetricMembers }, memberFields),
		defKind("metric", func(d *Defs) *[]Metric { return &d.Metrics }, metricFields),
		defKind("attribute", func(d *Defs) *[]Attribute { return &d.Attributes }, attributeFields),
		defKind("opaque", func(d *Defs) *[]OpaqueDefinition { return &d.Opaque }, opaqueFields),
	}
}

func defKind[T any](name string, list func(*Defs) *[]T, fields func(*Defs, int) []Field) DefKind {
	grow := func(d *Defs) {
		var row T
		l := list(d)
		*l = append(*l, row)
		for _, f := range fields(d, len(*l)-1) {
			f.SetDefault()
		}
	}
	return DefKind{name, func(d *Defs) int { return len(*list(d)) }, grow, fields}
}

func nodeFields(d *Defs, i int) []Field {
	n := &d.SystemTree[i]
	return []Field{{"name", &n.Name, None}, {"class", &n.Class, None}, {"parent", (*uint32)(&n.Parent), None},
		{"ref", &n.Ref, uint64(i)}}
}

// processFields: a location group is a process (kind 1) unless it is said to be something else.
func processFields(d *Defs, i int) []Field {
	g := &d.LocationGroups[i]
	return []Field{{"name", &g.Name, None}, {"kind", &g.Kind, 1}, {"node", (*uint32)(&g.Node), None},
		{"creator", (*uint32)(&g.Creator), None}, {"ref", &g.Ref, uint64(i)}}
}

func locationFields(d *Defs, i int) []Field {
	l := &d.Locations[i]
	return []Field{{"name", &l.Name, None}, {"process", (*uint32)(&l.Group), None},
		{"kind", (*uint8)(&l.Kind), uint64(LocationCPUThread)}, {"events", &l.Events, 0},
		{"offsets", &l.ClockOffsets, 0}, {"ref", &l.Ref, uint64(i)}}
}

// regionFields has the defaults that fit the region's name.
func regionFields(d *Defs, i int) []Field {
	r := &d.Regions[i]
	paradigm, role := ParadigmUser, RoleFunction
	if f := MPIFunctionOf(d.String(r.Name)); f.Class != ClassNone {
		paradigm, role = ParadigmMPI, f.Role()
	}
	return []Field{{"name", &r.Name, None}, {"canonical", &r.Canonical, uint64(r.Name)},
		{"description", &r.Description, None}, {"role", (*uint8)(&r.Role), uint64(role)},
		{"paradigm", (*uint8)(&r.Paradigm), uint64(paradigm)}, {"flags", &r.Flags, 0}, {"file", &r.File, None},
		{"line", &r.BeginLine, 0}, {"end", &r.EndLine, 0}, {"ref", &r.Ref, uint64(i)}}
}

// groupFields: almost all groups are MPI's.
func groupFields(d *Defs, i int) []Field {
	g := &d.Groups[i]
	return []Field{{"name", &g.Name, None}, {"kind", (*uint8)(&g.Kind), 0}, {"paradigm", (*uint8)(&g.Paradigm), uint64(ParadigmMPI)},
		{"flags", &g.Flags, 0}, {"members", &g.Members, 0}, {"ref", &g.Ref, uint64(i)}}
}

func commFields(d *Defs, i int) []Field {
	c := &d.Comms[i]
	return []Field{{"name", &c.Name, None}, {"group", (*uint32)(&c.Group), None}, {"remote", (*uint32)(&c.Remote), None},
		{"parent", (*uint32)(&c.Parent), None}, {"flags", &c.Flags, 0}, {"inter", &c.Inter, 0}, {"ref", &c.Ref, uint64(i)}}
}

func siteFields(d *Defs, i int) []Field {
	s := &d.SourceLocations[i]
	return []Field{{"file", &s.File, None}, {"line", &s.Line, 0}, {"ref", &s.Ref, uint64(i)}}
}

func contextFields(d *Defs, i int) []Field {
	c := &d.CallingContexts[i]
	return []Field{{"region", (*uint32)(&c.Region), None}, {"site", (*uint32)(&c.Site), None},
		{"parent", (*uint32)(&c.Parent), None}, {"ref", &c.Ref, uint64(i)}}
}

func memberFields(d *Defs, i int) []Field {
	m := &d.MetricMembers[i]
	return []Field{{"name", &m.Name, None}, {"description", &m.Description, None}, {"type", &m.Type, 0},
		{"mode", &m.Mode, 0}, {"value", (*uint8)(&m.Value), 0}, {"base", &m.Base, 0}, {"exponent", &m.Exponent, 0},
		{"unit", &m.Unit, None}, {"ref", &m.Ref, uint64(i)}}
}

func metricFields(d *Defs, i int) []Field {
	m := &d.Metrics[i]
	return []Field{{"members", &m.Members, 0}, {"occurrence", &m.Occurrence, 0}, {"kind", &m.Kind, 0},
		{"class", (*uint32)(&m.Class), None}, {"recorder", (*uint32)(&m.Recorder), None}, {"scope", &m.Scope, 0},
		{"scoperef", &m.ScopeRef, 0}, {"ref", &m.Ref, uint64(i)}}
}

func attributeFields(d *Defs, i int) []Field {
	a := &d.Attributes[i]
	return []Field{{"name", &a.Name, None}, {"description", &a.Description, None}, {"type", (*uint8)(&a.Type), 0},
		{"ref", &a.Ref, uint64(i)}}
}

// opaqueFields: an opaque definition has no identifier of its own.
func opaqueFields(d *Defs, i int) []Field {
	o := &d.Opaque[i]
	return []Field{{"format", &o.Format, 0}, {"kind", &o.Kind, 0}, {"bigendian", &o.BigEndian, 0}, {"payload", &o.Payload, 0}}
}

// Fields returns the fields of the clock. Ticks are nanoseconds unless something else is
// said.
func (c *ClockProperties) Fields() []Field {
	return []Field{{"resolution", &c.Resolution, 1_000_000_000}, {"offset", &c.GlobalOffset, 0}, {"length", &c.Length, 0},
		{"realtime", &c.Realtime, math.MaxUint64}}
}

// Fields returns the fields of the info, without its properties.
func (i *Info) Fields() []Field {
	return []Field{{"path", &i.Path, 0}, {"format", &i.Format, 0}, {"version", &i.Version, 0}, {"creator", &i.Creator, 0},
		{"machine", &i.Machine, 0}, {"description", &i.Description, 0}, {"traceid", &i.TraceID, 0}, {"bytes", &i.Bytes, 0}}
}
