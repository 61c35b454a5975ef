package paraver

import (
	"strings"

	"tracekit/trace"
)

// sites makes the calling contexts of MPI calls from caller events: of each call, the
// innermost level whose line is known.
type sites struct {
	names    *names
	pcf      *pcf
	callers  []caller
	ids      map[callerKey]uint32
	contexts map[contextKey]trace.CallingContextID
	parents  map[trace.RegionID]trace.CallingContextID
	lost     uint64 // callers and contexts that are too many
}

// A callerKey is what the events of one level say.
type callerKey struct {
	level          int
	function, line int64
}

// A caller is a line of a function that calls MPI; the function is None if not known.
type caller struct {
	function trace.RegionID
	line     trace.SourceLocationID
}

// A contextKey is a call of an MPI function by a caller.
type contextKey struct {
	region trace.RegionID
	caller uint32
}

// maxSites bounds the callers and the contexts.
const maxSites = 1 << 18

func newSites(n *names, p *pcf) *sites {
	return &sites{names: n, pcf: p, ids: make(map[callerKey]uint32),
		contexts: make(map[contextKey]trace.CallingContextID), parents: make(map[trace.RegionID]trace.CallingContextID)}
}

// addCaller makes a caller that is not in ids, and returns its number: None if its line is
// not known, or there are too many.
func (s *sites) addCaller(k callerKey) uint32 {
	if len(s.ids) >= maxSites {
		s.lost++
		return trace.None
	}
	id := uint32(trace.None)
	label, _ := s.pcf.label(typeCallerLine+uint32(k.level), k.line)
	function, _ := s.pcf.label(typeCaller+uint32(k.level), k.function)
	name, _ := functionLabel(function)
	if l, ok := lineLabel(label); ok && !wrapper(name) {
		c := caller{function: trace.None, line: s.names.location(l)}
		if !unresolved(name) {
			c.function = s.names.function(function, l.file)
		}
		id = uint32(len(s.callers))
		s.callers = append(s.callers, c)
	}
	s.ids[k] = id
	return id
}

// wrapper reports whether a function is part of MPI or of the measurement's wrapper of it.
func wrapper(name string) bool {
	return len(name) > 4 && (strings.EqualFold(name[:4], "MPI_") || strings.EqualFold(name[:5], "PMPI_"))
}

// function returns the region of a function that calls MPI: that of the user function of
// the same label, if there is one.
func (n *names) function(label, file string) trace.RegionID {
	if id, ok := n.functions[label]; ok {
		return id
	}
	name, _ := functionLabel(label)
	text := n.text(name)
	id := n.addRegion(trace.Region{Name: text, Canonical: text, Description: n.text("caller of MPI"),
		Role: trace.RoleFunction, Paradigm: trace.ParadigmUser, File: n.file(file)}, trace.None)
	n.functions[label] = id
	return id
}

// addContext makes the calling context of a call that is not in contexts: None if there are
// too many.
func (s *sites) addContext(k contextKey) trace.CallingContextID {
	if len(s.contexts) >= maxSites {
		s.lost++
		return trace.None
	}
	c := s.callers[k.caller]
	id := s.add(trace.CallingContext{Region: k.region, Site: c.line, Parent: s.parent(c.function)})
	s.contexts[k] = id
	return id
}

// parent returns the calling context of the function that calls.
func (s *sites) parent(function trace.RegionID) trace.CallingContextID {
	if function == trace.None {
		return trace.None
	}
	id, ok := s.parents[function]
	if !ok {
		id = s.add(trace.CallingContext{Region: function, Site: trace.None, Parent: trace.None})
		s.parents[function] = id
	}
	return id
}

func (s *sites) add(c trace.CallingContext) trace.CallingContextID {
	d := s.names.defs
	c.Ref = uint64(len(d.CallingContexts))
	d.CallingContexts = append(d.CallingContexts, c)
	return trace.CallingContextID(c.Ref)
}
