package trace

import (
	"fmt"
	"math"
)

// Check reports the first breach of what the definitions promise: references are None or
// name something, parents form trees, lists that go together have one length. Every
// reader's definitions pass it, however bad the file.
func (d *Defs) Check() error {
	if d.Clock.Resolution == 0 {
		return fmt.Errorf("the clock resolution is 0")
	}
	if d.StringRefs != nil && len(d.StringRefs) != len(d.Strings) {
		return fmt.Errorf("%d identifiers of %d strings", len(d.StringRefs), len(d.Strings))
	}
	for _, check := range []func(*Defs) error{checkMachine, checkLocations, checkRegions, checkGroups,
		checkComms, checkContexts, checkMetrics} {
		if err := check(d); err != nil {
			return err
		}
	}
	return nil
}

// A reference is a field of a definition with the number of things that it may name.
type reference struct {
	name string
	id   uint32
	n    int
}

// dangling reports the first reference that names nothing and is not None.
func dangling(kind string, i int, refs ...reference) error {
	for _, r := range refs {
		if r.id != None && uint64(r.id) >= uint64(r.n) {
			return fmt.Errorf("%s %d: %s %d of %d does not exist", kind, i, r.name, r.id, r.n)
		}
	}
	return nil
}

func (d *Defs) text(name string, id StringID) reference {
	return reference{name, uint32(id), len(d.Strings)}
}

// checkAcyclic reports a definition that is its own ancestor.
func checkAcyclic[T ~uint32](kind string, n int, parent func(int) T) error {
	safe := make([]bool, n) // its ancestors end
	for i := range n {
		steps := 0
		for p := i; !safe[p]; steps++ {
			next := parent(p)
			if uint32(next) == None {
				break
			}
			if steps > n {
				return fmt.Errorf("%s %d is its own ancestor", kind, i)
			}
			p = int(next)
		}
		for p := i; !safe[p]; {
			safe[p] = true
			if next := parent(p); uint32(next) != None {
				p = int(next)
			}
		}
	}
	return nil
}

func checkMachine(d *Defs) error {
	for i, n := range d.SystemTree {
		if err := dangling("system tree node", i, d.text("name", n.Name), d.text("class", n.Class),
			reference{"parent", uint32(n.Parent), len(d.SystemTree)}); err != nil {
			return err
		}
	}
	for i, g := range d.LocationGroups {
		if err := dangling("location group", i, d.text("name", g.Name), reference{"node", uint32(g.Node), len(d.SystemTree)},
			reference{"creator", uint32(g.Creator), len(d.LocationGroups)}); err != nil {
			return err
		}
	}
	err := checkAcyclic("system tree node", len(d.SystemTree), func(i int) SystemTreeNodeID { return d.SystemTree[i].Parent })
	if err != nil {
		return err
	}
	return checkAcyclic("location group", len(d.LocationGroups), func(i int) LocationGroupID { return d.LocationGroups[i].Creator })
}

func checkLocations(d *Defs) error {
	for i, l := range d.Locations {
		if err := dangling("location", i, d.text("name", l.Name), reference{"group", uint32(l.Group), len(d.LocationGroups)}); err != nil {
			return err
		}
		for j := 1; j < len(l.ClockOffsets); j++ {
			if l.ClockOffsets[j].Time <= l.ClockOffsets[j-1].Time {
				return fmt.Errorf("location %d: clock offset %d is not later than the one before", i, j)
			}
		}
	}
	return nil
}

func checkRegions(d *Defs) error {
	for i, r := range d.Regions {
		if err := dangling("region", i, d.text("name", r.Name), d.text("canonical name", r.Canonical),
			d.text("description", r.Description), d.text("file", r.File)); err != nil {
			return err
		}
	}
	for i, s := range d.SourceLocations {
		if err := dangling("source location", i, d.text("file", s.File)); err != nil {
			return err
		}
	}
	return nil
}

// checkGroups: the members of a GroupComm are indexes into the COMM_LOCATIONS group of
// its paradigm; if there is none, nothing is known of them.
func checkGroups(d *Defs) error {
	worlds := d.CommLocationsByParadigm()
	for i, g := range d.Groups {
		n := math.MaxInt
		switch g.Kind {
		case GroupLocations, GroupCommLocations:
			n = len(d.Locations)
		case GroupRegions:
			n = len(d.Regions)
		case GroupMetric:
			n = len(d.Metrics)
		case GroupComm:
			if l := worlds[g.Paradigm]; l != None {
				n = len(d.Groups[l].Members)
			}
		}
		if err := dangling("group", i, d.text("name", g.Name)); err != nil {
			return err
		}
		for _, m := range g.Members {
			if err := dangling("group", i, reference{"member", m, n}); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkComms(d *Defs) error {
	for i, c := range d.Comms {
		if err := dangling("communicator", i, d.text("name", c.Name), reference{"group", uint32(c.Group), len(d.Groups)},
			reference{"remote group", uint32(c.Remote), len(d.Groups)}, reference{"parent", uint32(c.Parent), len(d.Comms)}); err != nil {
			return err
		}
		if c.Remote != None && !c.Inter {
			return fmt.Errorf("communicator %d has a remote group but is not an intercommunicator", i)
		}
	}
	return checkAcyclic("communicator", len(d.Comms), func(i int) CommID { return d.Comms[i].Parent })
}

func checkContexts(d *Defs) error {
	for i, c := range d.CallingContexts {
		if err := dangling("calling context", i, reference{"region", uint32(c.Region), len(d.Regions)},
			reference{"source location", uint32(c.Site), len(d.SourceLocations)},
			reference{"parent", uint32(c.Parent), len(d.CallingContexts)}); err != nil {
			return err
		}
	}
	return checkAcyclic("calling context", len(d.CallingContexts), func(i int) CallingContextID { return d.CallingContexts[i].Parent })
}

func checkMetrics(d *Defs) error {
	for i, m := range d.MetricMembers {
		if err := dangling("metric member", i, d.text("name", m.Name), d.text("description", m.Description), d.text("unit", m.Unit)); err != nil {
			return err
		}
	}
	for i, m := range d.Metrics {
		if err := dangling("metric", i, reference{"class", uint32(m.Class), len(d.Metrics)},
			reference{"recorder", uint32(m.Recorder), len(d.Locations)}); err != nil {
			return err
		}
		if m.Class != None && d.Metrics[m.Class].Class != None {
			return fmt.Errorf("metric %d is an instance of metric %d, which is not a class", i, m.Class)
		}
		for _, member := range m.Members {
			if err := dangling("metric", i, reference{"member", uint32(member), len(d.MetricMembers)}); err != nil {
				return err
			}
		}
	}
	for i, a := range d.Attributes {
		if err := dangling("attribute", i, d.text("name", a.Name), d.text("description", a.Description)); err != nil {
			return err
		}
	}
	return nil
}
