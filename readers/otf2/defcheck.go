package otf2

import (
	"fmt"

	"tracekit/trace"
)

// complete checks what only all definitions together show, and repairs it with a finding,
// so that nobody who follows references gets lost.
func (d *defReader) complete() {
	defs := d.defs
	if dense(defs.StringRefs) {
		defs.StringRefs = nil
	}
	if defs.Clock.Resolution == 0 {
		d.note(trace.CodeBadDefinition, "no usable ClockProperties: a tick is taken for 1 ns")
		defs.Clock.Resolution, defs.Clock.Realtime = 1e9, undefined64
	}
	cutLoops(d, "SystemTreeNode", len(defs.SystemTree), func(i int) *trace.SystemTreeNodeID { return &defs.SystemTree[i].Parent })
	cutLoops(d, "LocationGroup", len(defs.LocationGroups), func(i int) *trace.LocationGroupID { return &defs.LocationGroups[i].Creator })
	cutLoops(d, "Comm", len(defs.Comms), func(i int) *trace.CommID { return &defs.Comms[i].Parent })
	cutLoops(d, "CallingContext", len(defs.CallingContexts), func(i int) *trace.CallingContextID { return &defs.CallingContexts[i].Parent })
	for i := range defs.Metrics {
		m := &defs.Metrics[i]
		if m.Class != trace.None && defs.Metrics[m.Class].Class != trace.None {
			d.note(trace.CodeBadDefinition, fmt.Sprintf("Metric %d is an instance of an instance", m.Ref))
			m.Class = trace.None
		}
	}
	d.cutMembers()
	d.topologies()
	d.unifyRegions()
}

// unifyRegions lets the events of regions that are defined alike, as by a writer that gives each
// process definitions of its own, be those of the first of them. The others stay defined.
func (d *defReader) unifyRegions() {
	type texts struct{ name, canonical, description, file string }
	type key struct {
		texts
		trace.Region // but for what is in texts, and its Ref
	}
	first := make(map[key]trace.RegionID, len(d.defs.Regions))
	same := make([]trace.RegionID, len(d.defs.Regions))
	for i, r := range d.defs.Regions {
		k := key{texts{d.defs.String(r.Name), d.defs.String(r.Canonical), d.defs.String(r.Description), d.defs.String(r.File)}, r}
		k.Ref, k.Name, k.Canonical, k.Description, k.File = 0, 0, 0, 0, 0
		id, ok := first[k]
		if !ok {
			id = trace.RegionID(i)
			first[k] = id
		}
		if same[i] = id; ok {
			d.ids[spaceRegion].alias(r.Ref, uint32(id))
		}
	}
	for i := range d.defs.CallingContexts {
		if r := &d.defs.CallingContexts[i].Region; *r != trace.None {
			*r = same[*r]
		}
	}
}

// cutMembers removes the ranks of communicator groups that lie beyond the COMM_LOCATIONS
// group of their paradigm, which may be defined behind them.
func (d *defReader) cutMembers() {
	worlds := d.defs.CommLocationsByParadigm()
	for _, g := range d.defs.Groups {
		world := worlds[g.Paradigm]
		if g.Kind != trace.GroupComm || world == trace.None {
			continue
		}
		ranks := uint32(len(d.defs.Groups[world].Members))
		for i, m := range g.Members {
			if m != trace.None && m >= ranks {
				d.note(trace.CodeDanglingReference, fmt.Sprintf("Group %d: rank %d of %d does not exist", g.Ref, m, ranks))
				g.Members[i] = trace.None
			}
		}
	}
}

func dense(refs []uint32) bool {
	for i, r := range refs {
		if r != uint32(i) {
			return false
		}
	}
	return true
}

// cutLoops follows the parents of n definitions and removes the parent that closes a loop.
func cutLoops[T ~uint32](d *defReader, name string, n int, parent func(int) *T) {
	const unseen, onPath, sound = 0, 1, 2
	state := make([]uint8, n)
	for i := range n {
		var path []int
		for j := i; state[j] == unseen; {
			state[j] = onPath
			path = append(path, j)
			p := parent(j)
			if *p == trace.None {
				break
			}
			if state[*p] == onPath {
				d.note(trace.CodeBadDefinition, fmt.Sprintf("the parents of %s %d form a loop", name, j))
				*p = trace.None
				break
			}
			j = int(*p)
		}
		for _, j := range path {
			state[j] = sound
		}
	}
}
