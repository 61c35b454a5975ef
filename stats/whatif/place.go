package whatif

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// A name is what a call path is called by.
type name struct {
	operation    string // "" outside MPI
	region, file string
	line         uint32
}

// namesOf returns the names of the call paths in a trace's tree, and of those outside it.
func namesOf(t *trace.Trace) (out []name) {
	for _, s := range profile.Sites(t) {
		out = append(out, nameOfRow(s.Operation, s.SourceLine))
	}
	for _, b := range outside {
		out = append(out, name{region: b.name})
	}
	return out
}

// String returns the shortest way to write a name: the operation with its line or region, or
// the region.
func (n name) String() string {
	return field.SourceLine{Region: field.Name(n.region), File: field.Name(n.file), Line: field.Line(n.line)}.Written(n.operation)
}

// written returns all ways to write a name.
func (n name) written() []string {
	at := []string{n.region}
	if n.file != "" && n.line > 0 {
		at = append(at, fmt.Sprintf("%s:%d", n.file, n.line), fmt.Sprintf("%s:%d", path.Base(n.file), n.line))
	}
	what, lines := n.region, at[1:]
	if n.operation != "" {
		what, lines = n.operation, at
	}
	out := append([]string{what}, at[1:]...)
	for _, line := range lines {
		if line != "" {
			out = append(out, what+"@"+line)
		}
	}
	return out
}

// Place finds what a user calls a place: a region, an operation, file:line, or one of the first
// two at a line: region@file:line, operation@file:line, operation@region. Of an operation, line
// and region are those that call it; region@caller is a region where another one calls it.
func (m *Model) Place(text string) (Place, error) {
	var known []string
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		slots, some := make([]bool, m.slots()), false
		for i, n := range m.names {
			written := n.written()
			if caller := m.caller(i); n.operation == "" && caller != "" {
				written = append(written, n.region+"@"+caller)
			}
			known = append(known, written...)
			slots[i] = slices.ContainsFunc(written, func(w string) bool { return same(w, text) })
			some = some || slots[i]
		}
		if some {
			return m.ofSlots(slots), nil
		}
	}
	return nil, fmt.Errorf("no place is named %q; %s", text, nearest(text, known))
}

// NameOf returns how a call path is called, as Place takes it.
func (m *Model) NameOf(p trace.PathID) string {
	if slot := m.slot(p); slot < len(m.names) {
		return m.names[slot].String()
	}
	return ""
}

// calledFrom returns the place of a name, where a region calls it ("": wherever).
func (m *Model) calledFrom(n name, caller string) Place {
	slots := make([]bool, m.slots())
	for i, x := range m.names {
		slots[i] = x == n && (caller == "" || m.caller(i) == caller)
	}
	return m.ofSlots(slots)
}

func (m *Model) ofSlots(slots []bool) Place {
	return func(p trace.PathID) bool { return slots[m.slot(p)] }
}

// caller returns the region that a call path is called from, "" if there is none.
func (m *Model) caller(slot int) string {
	if nodes := m.t.Tree.Nodes; slot < len(nodes) && int(nodes[slot].Parent) < len(nodes) {
		return m.names[nodes[slot].Parent].region
	}
	return ""
}

func nameOfRow(operation field.Name, line field.SourceLine) name {
	return name{string(operation), string(line.Region), string(line.File), uint32(line.Line)}
}

// nearestNames is how many names are listed where one is not known.
const nearestNames = 5

// nearest says which names are most like one that is not known.
func nearest(text string, known []string) string {
	slices.Sort(known)
	known = slices.Compact(known)
	if len(known) == 0 {
		return "the trace has none"
	}
	text = strings.ToLower(text)
	type candidate struct {
		name string
		far  int
	}
	var all []candidate
	for _, k := range known {
		far := words.Distance(text, strings.ToLower(k))
		if strings.Contains(strings.ToLower(k), text) {
			far = 0
		}
		all = append(all, candidate{k, far})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, c := range all[:min(len(all), nearestNames)] {
		names = append(names, c.name)
	}
	return "nearest are " + strings.Join(names, ", ")
}

// FindPlace finds a place of a trace as Model.Place does.
func FindPlace(t *trace.Trace, text string) (Place, error) {
	return (&Model{t: t, names: namesOf(t)}).Place(text)
}

// FindCallPath finds what lies in or below a call path, names of regions such as "main > solve > MPI_Send": the first may be called by
// others.
func FindCallPath(t *trace.Trace, text string) (Place, error) {
	var names []string
	for name := range strings.SplitSeq(text, ">") {
		names = append(names, strings.TrimSpace(name))
	}
	nodes := t.Tree.Nodes
	in, found := make([]bool, len(nodes)), false
	for i := range nodes { // callers come first
		at, left := trace.PathID(i), len(names)
		for ; left > 0 && int(at) < len(nodes) && t.Defs.RegionLabel(nodes[at].Region) == names[left-1]; left-- {
			at = nodes[at].Parent
		}
		parent := nodes[i].Parent
		in[i] = left == 0 || int(parent) < i && in[parent]
		found = found || in[i]
	}
	if !found {
		return nil, fmt.Errorf("no call path is %q", text)
	}
	return func(p trace.PathID) bool { return int(p) < len(in) && in[p] }, nil
}
