package trace

import (
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

// IDs are dense from 0 and index the slice of Defs that holds the definition; the
// reader of a format makes them so. None stands for "no such thing" in each of them.
type (
	StringID         uint32 // index into Defs.Strings
	SystemTreeNodeID uint32 // index into Defs.SystemTree
	LocationGroupID  uint32 // index into Defs.LocationGroups
	LocationID       uint32 // index into Defs.Locations
	RegionID         uint32 // index into Defs.Regions
	GroupID          uint32 // index into Defs.Groups
	CommID           uint32 // index into Defs.Comms
	SourceLocationID uint32 // index into Defs.SourceLocations
	CallingContextID uint32 // index into Defs.CallingContexts
	MetricID         uint32 // index into Defs.Metrics
	MetricMemberID   uint32 // index into Defs.MetricMembers
	AttributeID      uint32 // index into Defs.Attributes
	PathID           uint32 // node of a CallTree
)

// None is the value of an ID, a rank or a row that refers to nothing.
const None = 1<<32 - 1

// Defs holds the definitions of a trace. A reader fills it before it delivers events
// and never changes it afterwards. Ref is the identifier that the file uses, kept for
// messages to the user and for writing the definition again; it identifies nothing in
// this program.
type Defs struct {
	Clock           ClockProperties
	Strings         []string
	StringRefs      []uint32 // the file's identifiers of Strings; nil: the same as the index
	SystemTree      []SystemTreeNode
	LocationGroups  []LocationGroup
	Locations       []Location
	Regions         []Region
	Groups          []Group
	Comms           []Comm
	SourceLocations []SourceLocation
	CallingContexts []CallingContext
	MetricMembers   []MetricMember
	Metrics         []Metric
	Attributes      []Attribute
	Topologies      []Topology
	Opaque          []OpaqueDefinition
}

// ClockProperties describes the trace's clock.
type ClockProperties struct {
	Resolution   uint64 // ticks per second, never 0
	GlobalOffset int64  // the tick that counts as time zero
	Length       uint64 // ticks from GlobalOffset to the last event, as the writer says
	Realtime     uint64 // ns since 1970 at GlobalOffset; all ones if not recorded
}

// A SystemTreeNode is a machine, node, socket … in the hierarchy of hardware.
type SystemTreeNode struct {
	Ref         uint64
	Name, Class StringID
	Parent      SystemTreeNodeID
}

// A LocationGroup is a process or an accelerator.
type LocationGroup struct {
	Ref     uint64
	Name    StringID
	Kind    uint8 // 0 unknown, 1 process, 2 accelerator
	Node    SystemTreeNodeID
	Creator LocationGroupID
}

// A Location is a stream of events.
type Location struct {
	Ref          uint64
	Name         StringID
	Kind         LocationKind
	Events       uint64 // as the writer says; a hint, not to be believed
	Group        LocationGroupID
	ClockOffsets []ClockOffset // measured offsets to the global clock, ascending in Time
}

// A Region is a piece of source code that is entered and left.
type Region struct {
	Ref                          uint64
	Name, Canonical, Description StringID
	Role                         RegionRole
	Paradigm                     Paradigm
	Flags                        uint32
	File                         StringID
	BeginLine, EndLine           uint32 // 0: not known
}

// A Group is a list of locations, regions, metrics or ranks, according to its kind.
// Members are dense IDs (indexes into the COMM_LOCATIONS group for GroupComm); a member
// that does not exist is None.
type Group struct {
	Ref      uint64
	Name     StringID
	Kind     GroupKind
	Paradigm Paradigm
	Flags    uint32
	Members  []uint32
}

// A Comm is a communicator; Inter tells an intercommunicator, whose other group is
// Remote and whose Parent is the common communicator.
type Comm struct {
	Ref    uint64
	Name   StringID
	Group  GroupID
	Remote GroupID // None unless Inter
	Parent CommID
	Flags  uint32
	Inter  bool
}

// A SourceLocation is a line of a source file.
type SourceLocation struct {
	Ref  uint64
	File StringID
	Line uint32
}

// A CallingContext is a region, the place from which it is called (None: not known)
// and the context that calls it.
type CallingContext struct {
	Ref    uint64
	Region RegionID
	Site   SourceLocationID
	Parent CallingContextID
}

// A MetricMember describes one counter. A value v stands for v·Base^Exponent Unit.
type MetricMember struct {
	Ref               uint64
	Name, Description StringID
	Type, Mode        uint8 // OTF2's MetricType and MetricMode
	Value             ValueType
	Base              uint8 // 0: 2, 1: 10
	Exponent          int64
	Unit              StringID
}

// A Metric is a set of counters that are recorded together (a metric class). If Class is not None, it is an instance of a class with its
// recorder and scope.
type Metric struct {
	Ref        uint64
	Members    []MetricMemberID // empty for an instance: see its class
	Occurrence uint8            // OTF2's MetricOccurrence
	Kind       uint8            // OTF2's RecorderKind
	Class      MetricID
	Recorder   LocationID
	Scope      uint8 // OTF2's MetricScope
	ScopeRef   uint64
}

// An Attribute names additional information that events may carry.
type Attribute struct {
	Ref               uint64
	Name, Description StringID
	Type              ValueType
}

// A Topology is a Cartesian grid in which the locations of a communicator have places. It is
// for reading: writers write the opaque definitions that it was made of.
type Topology struct {
	Name   string
	Sizes  []uint32 // by dimension
	Torus  []bool   // by dimension: the last place is beside the first
	Places []Coordinate
}

// A Coordinate says where a location is in a Topology: At[k] < Sizes[k].
type Coordinate struct {
	Location LocationID
	At       []uint32
}

// An OpaqueDefinition is a definition that no analysis uses. It is kept as the format
// has it, so that a writer of the same format can write it again; Format names that
// format, Kind is its number there.
type OpaqueDefinition struct {
	Format    string
	Kind      uint8
	BigEndian bool
	Payload   []byte
}

// longestName is how many bytes of a name are kept: documents repeat names in every row.
const longestName = 64 << 10

// ShortenNames cuts names that are longer than 64 KiB, which end in an ellipsis then, and
// returns how many there are. Definitions are not changed once they are in use: it is for who
// opens a trace.
func (d *Defs) ShortenNames() (n uint64) {
	for i, s := range d.Strings {
		if len(s) > longestName {
			end := longestName
			for end > longestName-utf8.UTFMax && !utf8.RuneStart(s[end]) {
				end--
			}
			d.Strings[i] = strings.Clone(s[:end]) + "…"
			n++
		}
	}
	return n
}

// String returns the text of a string, "" if there is none.
func (d *Defs) String(id StringID) string {
	if int(id) < len(d.Strings) {
		return d.Strings[id]
	}
	return ""
}

// RegionName returns the name of a region as it is recorded, "" if there is none.
func (d *Defs) RegionName(id RegionID) string {
	if int(id) < len(d.Regions) {
		return d.String(d.Regions[id].Name)
	}
	return ""
}

// RegionLabel returns the name of a region for people, "" if there is none: mangled names
// of C++ and Rust are made readable.
func (d *Defs) RegionLabel(id RegionID) string { return demangle.Filter(d.RegionName(id)) }

// SiteOf returns from where a calling context was called, None if that is not known.
func (d *Defs) SiteOf(c CallingContextID) SourceLocationID {
	if int(c) < len(d.CallingContexts) {
		return d.CallingContexts[c].Site
	}
	return None
}

// RunningCounter returns the counter that tells when threads compute, None if there is none.
func (d *Defs) RunningCounter() MetricMemberID {
	for i, m := range d.MetricMembers {
		if m.Mode == MetricAbsoluteNext && d.String(m.Name) == RunningCounter {
			return MetricMemberID(i)
		}
	}
	return None
}

// World returns the location of each rank of MPI_COMM_WORLD: the members of the
// COMM_LOCATIONS group of MPI. If there is no such group, every location group that
// is a process counts as a rank, with its first location.
func (d *Defs) World() []LocationID {
	if g := d.CommLocations(ParadigmMPI); g != None {
		world := make([]LocationID, len(d.Groups[g].Members))
		for i, m := range d.Groups[g].Members {
			world[i] = LocationID(m)
		}
		return world
	}
	var world []LocationID
	seen := make(map[LocationGroupID]bool)
	for id, l := range d.Locations {
		if l.Kind == LocationMetric || seen[l.Group] {
			continue
		}
		if int(l.Group) < len(d.LocationGroups) && d.LocationGroups[l.Group].Kind == 2 {
			continue
		}
		seen[l.Group] = true
		world = append(world, LocationID(id))
	}
	return world
}

// CommLocations returns the COMM_LOCATIONS group of a paradigm, None if there is none.
func (d *Defs) CommLocations(p Paradigm) GroupID { return d.CommLocationsByParadigm()[p] }

// Ranked reports whether something says that the processes are ranks of one job.
func (d *Defs) Ranked() bool { return d.CommLocations(ParadigmMPI) != None }

// CommLocationsByParadigm returns the COMM_LOCATIONS group of every paradigm, None where
// there is none: for those who ask for each of many groups.
func (d *Defs) CommLocationsByParadigm() (groups [256]GroupID) {
	for p := range groups {
		groups[p] = None
	}
	for i, g := range d.Groups {
		if g.Kind == GroupCommLocations && groups[g.Paradigm] == None {
			groups[g.Paradigm] = GroupID(i)
		}
	}
	return groups
}

// Ranks returns the world rank of every location, that of its process: locations of one
// location group share it, and an accelerator's have that of the process that created it.
// None for locations outside MPI.
func (d *Defs) Ranks() []uint32 {
	ranks := make([]uint32, len(d.Locations))
	byGroup := make(map[LocationGroupID]uint32)
	for i := range ranks {
		ranks[i] = None
	}
	for r, loc := range d.World() {
		if int(loc) >= len(ranks) {
			continue
		}
		ranks[loc] = uint32(r)
		if g := d.Locations[loc].Group; g != None {
			if _, ok := byGroup[g]; !ok {
				byGroup[g] = uint32(r)
			}
		}
	}
	for i := range d.Locations {
		r, ok := byGroup[d.Locations[i].Group] // an accelerator may be a rank itself
		if !ok {
			r, ok = byGroup[d.Process(LocationID(i))]
		}
		if ok && ranks[i] == None {
			ranks[i] = r
		}
	}
	return ranks
}

// WorldRanks returns the members of a group as world ranks, of which there are size, given those of
// locations (Ranks). A group of communicator members names them directly; groups of locations
// are accepted for their processes; of groups of other kinds it returns nil. None for what is no rank.
func (g *Group) WorldRanks(ranks []uint32, size uint32) []uint32 {
	out := make([]uint32, len(g.Members))
	for i, m := range g.Members {
		out[i] = None
		switch g.Kind {
		case GroupComm:
			if m < size {
				out[i] = m
			}
		case GroupCommLocations, GroupLocations:
			if int(m) < len(ranks) {
				out[i] = ranks[m]
			}
		default:
			return nil
		}
	}
	return out
}

// Process returns the location group of the process that a location belongs to: for an
// accelerator, that which created it.
func (d *Defs) Process(l LocationID) LocationGroupID {
	group := d.Locations[l].Group
	if int(group) < len(d.LocationGroups) && d.LocationGroups[group].Kind == 2 && d.LocationGroups[group].Creator != None {
		return d.LocationGroups[group].Creator
	}
	return group
}

// Node returns the machine that a location runs on: the nearest node of the system tree above its process whose class says that it
// is one, None if there is none.
func (d *Defs) Node(l LocationID) SystemTreeNodeID {
	group := d.Process(l)
	if int(group) >= len(d.LocationGroups) {
		return None
	}
	node := d.LocationGroups[group].Node
	for range d.SystemTree { // it may be a circle
		if int(node) >= len(d.SystemTree) {
			break
		}
		if class := strings.ToLower(d.String(d.SystemTree[node].Class)); strings.Contains(class, "node") || class == "host" {
			return node
		}
		node = d.SystemTree[node].Parent
	}
	return None
}
