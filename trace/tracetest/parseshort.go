package tracetest

import (
	"fmt"
	"strconv"

	"tracekit/trace"
)

// The short forms of definitions: ranks, communicators, calling contexts.

// rank puts a location into the process of a rank; the rank's first location is its
// master thread.
func (p *parser) rank(id trace.LocationID, w word) error {
	var rank uint32
	if err := parseNumber(&rank, w, 32); err != nil {
		return err
	}
	const limit = 1 << 16 // so that a slip of the pen does not take all memory
	if rank >= limit {
		return w.errorf("rank %d is not below %d", rank, limit)
	}
	d := p.src.Definitions
	l := &d.Locations[id]
	master, ok := p.masters[rank]
	if ok {
		l.Group = d.Locations[master].Group
	} else {
		p.masters[rank] = id
		p.ranks = max(p.ranks, rank+1)
		l.Group = trace.LocationGroupID(len(d.LocationGroups))
		d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(l.Group), Kind: 1, Node: trace.None,
			Creator: trace.None,
			Name:    p.intern(fmt.Sprintf("MPI Rank %d", rank))})
	}
	if l.Name == trace.None {
		l.Name = p.intern(p.threadName(l.Group))
	}
	return nil
}

// threadName returns the name of the newest location of a process.
func (p *parser) threadName(group trace.LocationGroupID) string {
	n := 0
	for _, l := range p.src.Definitions.Locations {
		if l.Group == group {
			n++
		}
	}
	if n == 1 {
		return "Master thread"
	}
	return fmt.Sprintf("Thread %d", n-1)
}

// world makes MPI_COMM_WORLD of the ranks.
func (p *parser) world() {
	d := p.src.Definitions
	locations := make([]uint32, p.ranks)
	for r := range locations {
		locations[r] = trace.None
		if l, ok := p.masters[uint32(r)]; ok {
			locations[r] = uint32(l)
		}
	}
	ranks := make([]uint32, p.ranks)
	for r := range ranks {
		ranks[r] = uint32(r)
	}
	d.Groups = append(d.Groups, trace.Group{Name: p.intern("MPI"), Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI,
		Members: locations})
	d.Comms = append(d.Comms, trace.Comm{Name: p.intern("MPI_COMM_WORLD"), Group: p.group(trace.GroupComm, ranks), Remote: trace.None,
		Parent: trace.None})
}

func (p *parser) group(kind trace.GroupKind, members []uint32) trace.GroupID {
	d := p.src.Definitions
	id := trace.GroupID(len(d.Groups))
	d.Groups = append(d.Groups, trace.Group{Ref: uint64(id), Name: trace.None, Kind: kind, Paradigm: trace.ParadigmMPI, Members: members})
	return id
}

// isShortComm reports whether the line of a communicator lists ranks instead of groups.
func isShortComm(words []word) bool {
	for _, w := range words {
		if w.key == "ranks" || w.key == "others" || w.key == "" && w.value == "self" {
			return true
		}
	}
	return false
}

// shortComm makes a communicator with its groups.
func (p *parser) shortComm(words []word) error {
	d := p.src.Definitions
	id := trace.CommID(len(d.Comms))
	rest, err := checkNumber(words[1:], int(id))
	if err != nil {
		return err
	}
	c := trace.Comm{Ref: uint64(id), Name: trace.None, Group: trace.None, Remote: trace.None, Parent: trace.None}
	if len(d.Comms) > 0 {
		c.Parent = 0
	}
	if len(rest) > 0 && rest[0].key == "" && (rest[0].value != "self" || len(rest) > 1) {
		rest[0].key = "name"
	}
	for _, w := range rest {
		var members []uint32
		switch w.key {
		case "name":
			c.Name, err = p.stringRef(w)
		case "":
			c.Group, c.Parent = p.group(trace.GroupCommSelf, nil), trace.None
		case "ranks":
			if members, err = parseList[uint32](w); err == nil {
				c.Group = p.group(trace.GroupComm, members)
			}
		case "others":
			if members, err = parseList[uint32](w); err == nil {
				c.Remote, c.Inter = p.group(trace.GroupComm, members), true
			}
		default:
			err = w.errorf("unknown key %q", w.key)
		}
		if err != nil {
			return err
		}
	}
	d.Comms = append(d.Comms, c)
	return nil
}

// region returns the region that a word names and makes it if there is none.
func (p *parser) region(w word) (trace.RegionID, error) {
	if !w.quoted && (w.value[0] >= '0' && w.value[0] <= '9' || w.value == "none") {
		var n trace.RegionID
		err := parseNumber(&n, w, 32)
		return n, err
	}
	if id, ok := p.names.regionIDs[w.value]; ok {
		return id, nil
	}
	if p.names.ambiguousRegions[w.value] {
		return 0, w.errorf("there are several regions %q", w.value)
	}
	d := p.src.Definitions
	id := trace.RegionID(len(d.Regions))
	kind := p.kinds["region"]
	kind.Grow(d)
	d.Regions[id].Name = p.intern(w.value)
	for _, f := range kind.Fields(d, int(id)) {
		if f.Name != "name" {
			f.SetDefault()
		}
	}
	p.names.addRegion(w.value, id)
	return id, nil
}

// context returns the calling context of a region at "@file:line" below another one, and
// makes it if there is none.
func (p *parser) context(w word, region trace.RegionID, parent trace.CallingContextID) (trace.CallingContextID, error) {
	site, err := p.site(w)
	if err != nil {
		return 0, err
	}
	d := p.src.Definitions
	for i, c := range d.CallingContexts {
		if c.Region == region && c.Site == site && c.Parent == parent {
			return trace.CallingContextID(i), nil
		}
	}
	id := trace.CallingContextID(len(d.CallingContexts))
	d.CallingContexts = append(d.CallingContexts, trace.CallingContext{Ref: uint64(id), Region: region, Site: site, Parent: parent})
	return id, nil
}

// site returns the source location "@file:line", "@" for none.
func (p *parser) site(w word) (trace.SourceLocationID, error) {
	if w.value == "@" {
		return trace.None, nil
	}
	colon := len(w.value)
	for i := range len(w.value) {
		if w.value[i] == ':' {
			colon = i
		}
	}
	line, err := strconv.ParseUint(w.value[min(colon+1, len(w.value)):], 10, 32)
	if err != nil {
		return 0, w.errorf("%q is not @FILE:LINE", w.value)
	}
	d := p.src.Definitions
	want := trace.SourceLocation{File: p.intern(w.value[1:colon]), Line: uint32(line)}
	for i, s := range d.SourceLocations {
		if want.Ref = uint64(i); s == want {
			return trace.SourceLocationID(i), nil
		}
	}
	want.Ref = uint64(len(d.SourceLocations))
	d.SourceLocations = append(d.SourceLocations, want)
	return trace.SourceLocationID(want.Ref), nil
}
