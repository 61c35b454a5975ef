package tkf

import (
	"path/filepath"
	"slices"

	"tracekit/codec"
	"tracekit/formulae/internal/pack"
	"tracekit/trace"
)

// A head is the first section of a file (docs/internals/TKF.md, Sections).
type head struct {
	Mode   uint64
	Unit   uint64 // see quantiser
	Keep   uint64
	Fine   bool   // the lower bits of short steps are coded in context
	Leader uint64 // location from whose beginning times are learned; trace.None: none

	// Stat mode: the order in which durations are drawn from laws; what formulae could be;
	// whether durations have laws.
	Seed  uint64
	Terms uint64
	Paper bool
	Laws  bool

	Grain uint64 // steps of time are multiples of it; 0: of nothing (since version 7)
	Deep  bool   // times are coded in more contexts (since version 11)
}

// headLayout is that of a version of the format: fields that it does not know come last.
func headLayout(version byte) pack.Column[head] {
	base := 11
	switch {
	case version < versionValues:
		base = 9
	case version < versionWords:
		base = 10
	}
	return pack.Record(base,
		pack.Number(func(h *head) *uint64 { return &h.Mode }, codec.Below("mode", int(Statistics)+1)),
		pack.Number(func(h *head) *uint64 { return &h.Unit }),
		pack.Number(func(h *head) *uint64 { return &h.Keep }),
		pack.Flag(func(h *head) *bool { return &h.Fine }),
		pack.Number(func(h *head) *uint64 { return &h.Leader }),
		pack.Number(func(h *head) *uint64 { return &h.Seed }),
		pack.Number(func(h *head) *uint64 { return &h.Terms }),
		pack.Flag(func(h *head) *bool { return &h.Paper }),
		pack.Flag(func(h *head) *bool { return &h.Laws }),
		pack.Number(func(h *head) *uint64 { return &h.Grain }),
		pack.Flag(func(h *head) *bool { return &h.Deep }),
	)
}

// about is what is kept of a trace beside its events.
type about struct {
	Info     trace.Info
	Defs     trace.Defs
	Findings []trace.Finding
}

// aboutOf returns what is kept of a trace. In which folder it lay is left out: the same trace
// gives the same bytes.
func aboutOf(src trace.Source, findings []trace.Finding) *about {
	a := &about{Info: src.Info(), Defs: *src.Defs(), Findings: slices.Clone(findings)}
	a.Info.Path = ""
	for i := range a.Findings {
		if f := &a.Findings[i].First.File; *f != "" {
			*f = filepath.Base(*f)
		}
	}
	return a
}

// The layouts of what is about a trace. A field that is new comes last and does not count
// among the first of its record, whose number is told (see pack.Record): files with it are
// read by programs that do not know it, and it is zero in files without it.

func aboutLayout() pack.Column[about] {
	return pack.Record(3,
		pack.In(func(a *about) *trace.Info { return &a.Info }, infoLayout()),
		pack.In(func(a *about) *trace.Defs { return &a.Defs }, defsLayout()),
		pack.In(func(a *about) *[]trace.Finding { return &a.Findings }, pack.Lists(findingLayout())),
	)
}

func infoLayout() pack.Column[trace.Info] {
	return pack.Record(9,
		pack.Text(func(i *trace.Info) *string { return &i.Path }),
		pack.Text(func(i *trace.Info) *string { return &i.Format }),
		pack.Text(func(i *trace.Info) *string { return &i.Version }),
		pack.Text(func(i *trace.Info) *string { return &i.Creator }),
		pack.Text(func(i *trace.Info) *string { return &i.Machine }),
		pack.Text(func(i *trace.Info) *string { return &i.Description }),
		pack.In(func(i *trace.Info) *map[string]string { return &i.Properties }, pack.Maps()),
		pack.Number(func(i *trace.Info) *uint64 { return &i.TraceID }),
		pack.Number(func(i *trace.Info) *int64 { return &i.Bytes }),
	)
}

func findingLayout() pack.Column[trace.Finding] {
	return pack.Record(4,
		pack.Text(func(f *trace.Finding) *trace.Code { return &f.Code }),
		pack.Number(func(f *trace.Finding) *uint64 { return &f.Count }),
		pack.In(func(f *trace.Finding) *trace.Place { return &f.First }, pack.Record(4,
			pack.Number(func(p *trace.Place) *trace.LocationID { return &p.Location }),
			pack.Number(func(p *trace.Place) *uint64 { return &p.Seq }),
			pack.Text(func(p *trace.Place) *string { return &p.File }),
			pack.Number(func(p *trace.Place) *int64 { return &p.Offset }),
		)),
		pack.Text(func(f *trace.Finding) *string { return &f.Text }),
	)
}

func defsLayout() pack.Column[trace.Defs] {
	return pack.Record(15,
		pack.In(func(d *trace.Defs) *trace.ClockProperties { return &d.Clock }, clockLayout()),
		pack.In(func(d *trace.Defs) *[]string { return &d.Strings }, pack.Lists(pack.Texts[string]())),
		pack.In(func(d *trace.Defs) *[]uint32 { return &d.StringRefs }, pack.Lists(pack.Numbers[uint32]())),
		pack.In(func(d *trace.Defs) *[]trace.SystemTreeNode { return &d.SystemTree }, pack.Lists(systemTreeLayout())),
		pack.In(func(d *trace.Defs) *[]trace.LocationGroup { return &d.LocationGroups }, pack.Lists(locationGroupLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Location { return &d.Locations }, pack.Lists(locationLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Region { return &d.Regions }, pack.Lists(regionLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Group { return &d.Groups }, pack.Lists(groupLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Comm { return &d.Comms }, pack.Lists(commLayout())),
		pack.In(func(d *trace.Defs) *[]trace.SourceLocation { return &d.SourceLocations }, pack.Lists(sourceLocationLayout())),
		pack.In(func(d *trace.Defs) *[]trace.CallingContext { return &d.CallingContexts }, pack.Lists(callingContextLayout())),
		pack.In(func(d *trace.Defs) *[]trace.MetricMember { return &d.MetricMembers }, pack.Lists(metricMemberLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Metric { return &d.Metrics }, pack.Lists(metricLayout())),
		pack.In(func(d *trace.Defs) *[]trace.Attribute { return &d.Attributes }, pack.Lists(attributeLayout())),
		pack.In(func(d *trace.Defs) *[]trace.OpaqueDefinition { return &d.Opaque }, pack.Lists(opaqueLayout())),
	)
}

func clockLayout() pack.Column[trace.ClockProperties] {
	return pack.Record(4,
		pack.Number(func(c *trace.ClockProperties) *uint64 { return &c.Resolution }),
		pack.Number(func(c *trace.ClockProperties) *int64 { return &c.GlobalOffset }),
		pack.Number(func(c *trace.ClockProperties) *uint64 { return &c.Length }),
		pack.Number(func(c *trace.ClockProperties) *uint64 { return &c.Realtime }),
	)
}

func systemTreeLayout() pack.Column[trace.SystemTreeNode] {
	return pack.Record(4,
		pack.Number(func(n *trace.SystemTreeNode) *uint64 { return &n.Ref }),
		pack.Number(func(n *trace.SystemTreeNode) *trace.StringID { return &n.Name }),
		pack.Number(func(n *trace.SystemTreeNode) *trace.StringID { return &n.Class }),
		pack.Number(func(n *trace.SystemTreeNode) *trace.SystemTreeNodeID { return &n.Parent }),
	)
}

func locationGroupLayout() pack.Column[trace.LocationGroup] {
	return pack.Record(5,
		pack.Number(func(g *trace.LocationGroup) *uint64 { return &g.Ref }),
		pack.Number(func(g *trace.LocationGroup) *trace.StringID { return &g.Name }),
		pack.Number(func(g *trace.LocationGroup) *uint8 { return &g.Kind }),
		pack.Number(func(g *trace.LocationGroup) *trace.SystemTreeNodeID { return &g.Node }),
		pack.Number(func(g *trace.LocationGroup) *trace.LocationGroupID { return &g.Creator }),
	)
}

func locationLayout() pack.Column[trace.Location] {
	return pack.Record(6,
		pack.Number(func(l *trace.Location) *uint64 { return &l.Ref }),
		pack.Number(func(l *trace.Location) *trace.StringID { return &l.Name }),
		pack.Number(func(l *trace.Location) *trace.LocationKind { return &l.Kind }),
		pack.Number(func(l *trace.Location) *uint64 { return &l.Events }),
		pack.Number(func(l *trace.Location) *trace.LocationGroupID { return &l.Group }),
		pack.In(func(l *trace.Location) *[]trace.ClockOffset { return &l.ClockOffsets }, pack.Lists(clockOffsetLayout())),
	)
}

func clockOffsetLayout() pack.Column[trace.ClockOffset] {
	return pack.Record(3,
		pack.Number(func(o *trace.ClockOffset) *int64 { return &o.Time }),
		pack.Number(func(o *trace.ClockOffset) *int64 { return &o.Offset }),
		pack.Real(func(o *trace.ClockOffset) *float64 { return &o.Deviation }),
	)
}

func regionLayout() pack.Column[trace.Region] {
	return pack.Record(10,
		pack.Number(func(r *trace.Region) *uint64 { return &r.Ref }),
		pack.Number(func(r *trace.Region) *trace.StringID { return &r.Name }),
		pack.Number(func(r *trace.Region) *trace.StringID { return &r.Canonical }),
		pack.Number(func(r *trace.Region) *trace.StringID { return &r.Description }),
		pack.Number(func(r *trace.Region) *trace.RegionRole { return &r.Role }),
		pack.Number(func(r *trace.Region) *trace.Paradigm { return &r.Paradigm }),
		pack.Number(func(r *trace.Region) *uint32 { return &r.Flags }),
		pack.Number(func(r *trace.Region) *trace.StringID { return &r.File }),
		pack.Number(func(r *trace.Region) *uint32 { return &r.BeginLine }),
		pack.Number(func(r *trace.Region) *uint32 { return &r.EndLine }),
	)
}

func groupLayout() pack.Column[trace.Group] {
	return pack.Record(6,
		pack.Number(func(g *trace.Group) *uint64 { return &g.Ref }),
		pack.Number(func(g *trace.Group) *trace.StringID { return &g.Name }),
		pack.Number(func(g *trace.Group) *trace.GroupKind { return &g.Kind }),
		pack.Number(func(g *trace.Group) *trace.Paradigm { return &g.Paradigm }),
		pack.Number(func(g *trace.Group) *uint32 { return &g.Flags }),
		pack.In(func(g *trace.Group) *[]uint32 { return &g.Members }, pack.Lists(pack.Numbers[uint32]())),
	)
}

func commLayout() pack.Column[trace.Comm] {
	return pack.Record(7,
		pack.Number(func(c *trace.Comm) *uint64 { return &c.Ref }),
		pack.Number(func(c *trace.Comm) *trace.StringID { return &c.Name }),
		pack.Number(func(c *trace.Comm) *trace.GroupID { return &c.Group }),
		pack.Number(func(c *trace.Comm) *trace.GroupID { return &c.Remote }),
		pack.Number(func(c *trace.Comm) *trace.CommID { return &c.Parent }),
		pack.Number(func(c *trace.Comm) *uint32 { return &c.Flags }),
		pack.Flag(func(c *trace.Comm) *bool { return &c.Inter }),
	)
}

func sourceLocationLayout() pack.Column[trace.SourceLocation] {
	return pack.Record(3,
		pack.Number(func(s *trace.SourceLocation) *uint64 { return &s.Ref }),
		pack.Number(func(s *trace.SourceLocation) *trace.StringID { return &s.File }),
		pack.Number(func(s *trace.SourceLocation) *uint32 { return &s.Line }),
	)
}

func callingContextLayout() pack.Column[trace.CallingContext] {
	return pack.Record(4,
		pack.Number(func(c *trace.CallingContext) *uint64 { return &c.Ref }),
		pack.Number(func(c *trace.CallingContext) *trace.RegionID { return &c.Region }),
		pack.Number(func(c *trace.CallingContext) *trace.SourceLocationID { return &c.Site }),
		pack.Number(func(c *trace.CallingContext) *trace.CallingContextID { return &c.Parent }),
	)
}

func metricMemberLayout() pack.Column[trace.MetricMember] {
	return pack.Record(9,
		pack.Number(func(m *trace.MetricMember) *uint64 { return &m.Ref }),
		pack.Number(func(m *trace.MetricMember) *trace.StringID { return &m.Name }),
		pack.Number(func(m *trace.MetricMember) *trace.StringID { return &m.Description }),
		pack.Number(func(m *trace.MetricMember) *uint8 { return &m.Type }),
		pack.Number(func(m *trace.MetricMember) *uint8 { return &m.Mode }),
		pack.Number(func(m *trace.MetricMember) *trace.ValueType { return &m.Value }),
		pack.Number(func(m *trace.MetricMember) *uint8 { return &m.Base }),
		pack.Number(func(m *trace.MetricMember) *int64 { return &m.Exponent }),
		pack.Number(func(m *trace.MetricMember) *trace.StringID { return &m.Unit }),
	)
}

func metricLayout() pack.Column[trace.Metric] {
	return pack.Record(8,
		pack.Number(func(m *trace.Metric) *uint64 { return &m.Ref }),
		pack.In(func(m *trace.Metric) *[]trace.MetricMemberID { return &m.Members }, pack.Lists(pack.Numbers[trace.MetricMemberID]())),
		pack.Number(func(m *trace.Metric) *uint8 { return &m.Occurrence }),
		pack.Number(func(m *trace.Metric) *uint8 { return &m.Kind }),
		pack.Number(func(m *trace.Metric) *trace.MetricID { return &m.Class }),
		pack.Number(func(m *trace.Metric) *trace.LocationID { return &m.Recorder }),
		pack.Number(func(m *trace.Metric) *uint8 { return &m.Scope }),
		pack.Number(func(m *trace.Metric) *uint64 { return &m.ScopeRef }),
	)
}

func attributeLayout() pack.Column[trace.Attribute] {
	return pack.Record(4,
		pack.Number(func(a *trace.Attribute) *uint64 { return &a.Ref }),
		pack.Number(func(a *trace.Attribute) *trace.StringID { return &a.Name }),
		pack.Number(func(a *trace.Attribute) *trace.StringID { return &a.Description }),
		pack.Number(func(a *trace.Attribute) *trace.ValueType { return &a.Type }),
	)
}

func opaqueLayout() pack.Column[trace.OpaqueDefinition] {
	return pack.Record(4,
		pack.Text(func(o *trace.OpaqueDefinition) *string { return &o.Format }),
		pack.Number(func(o *trace.OpaqueDefinition) *uint8 { return &o.Kind }),
		pack.Flag(func(o *trace.OpaqueDefinition) *bool { return &o.BigEndian }),
		pack.In(func(o *trace.OpaqueDefinition) *[]byte { return &o.Payload }, pack.Lists(pack.Numbers[byte]())),
	)
}
