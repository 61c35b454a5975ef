package trace

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
