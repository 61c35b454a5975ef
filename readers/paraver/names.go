package paraver

import (
	"strconv"
	"strings"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// names makes the strings, the regions and the source locations of the definitions, each when
// it is needed first. The .pcf file cannot be taken over as a whole: it has labels of
// everything that Extrae knows, whether the trace has it or not.
type names struct {
	defs    *trace.Defs
	strings map[string]trace.StringID
	regions map[regionKey]trace.RegionID
	lines   map[sourceLine]trace.SourceLocationID
	mpi     [mpiGroups][256]trace.RegionID // regions of small values; None: not yet made
	classes []trace.MPIFunction            // of the regions
	slots   []uint32                       // of the regions; None: in none

	functions map[string]trace.RegionID // functions of the program by label

	lost uint64 // values that have no name of their own, since there are too many
	cut  uint64 // names that were too long
}

// A regionKey is an event type and a value: what names a region in the file. The value 0 stands
// for a region that was left without having been entered.
type regionKey struct {
	typ   uint32
	value int64
}

// A sourceLine is a line of a source file.
type sourceLine struct {
	file string
	line uint32
}

// maxRegions bounds the regions, because any number can be the value of an event.
const maxRegions = 1 << 17

func newNames(d *trace.Defs) *names {
	n := &names{defs: d, strings: make(map[string]trace.StringID),
		regions: make(map[regionKey]trace.RegionID), lines: make(map[sourceLine]trace.SourceLocationID),
		functions: make(map[string]trace.RegionID)}
	for g := range n.mpi {
		for v := range n.mpi[g] {
			n.mpi[g][v] = trace.None
		}
	}
	n.text("") // noText
	return n
}

// noText is the string without text.
const noText trace.StringID = 0

// text returns the string of that text.
func (n *names) text(s string) trace.StringID {
	if len(s) > wire.NameLimit {
		n.cut++
		s = wire.CutName(s)
	}
	id, ok := n.strings[s]
	if !ok {
		id = trace.StringID(len(n.defs.Strings))
		s = strings.Clone(s)
		n.defs.Strings = append(n.defs.Strings, s)
		n.strings[s] = id
	}
	return id
}

// location returns a line of a source file.
func (n *names) location(l sourceLine) trace.SourceLocationID {
	id, ok := n.lines[l]
	if !ok {
		id = trace.SourceLocationID(len(n.defs.SourceLocations))
		n.defs.SourceLocations = append(n.defs.SourceLocations,
			trace.SourceLocation{Ref: uint64(id), File: n.text(l.file), Line: l.line})
		n.lines[l] = id
	}
	return id
}

// known returns the region that a value of an event type enters, if there is one.
func (n *names) known(typ uint32, value int64) (id trace.RegionID, ok bool) {
	group := typ - firstMPI
	if group < mpiGroups && value >= 0 && value < 256 {
		id = n.mpi[group][value]
		return id, id != trace.None
	}
	id, ok = n.regions[regionKey{typ, value}]
	return id, ok
}

// region returns the region that a value of an event type enters, and makes it if it is
// new. The value 0 is the region of leaves without enter.
func (n *names) region(p *pcf, typ uint32, slot uint32, value int64) trace.RegionID {
	group, k := typ-firstMPI, regionKey{typ, value}
	id, ok := n.regions[k]
	if !ok && len(n.defs.Regions) >= maxRegions {
		n.lost++
		k.value = 0
		id, ok = n.regions[k]
	}
	if !ok {
		id = n.define(p, k, slot)
		n.regions[k] = id
		if group < mpiGroups && value >= 0 && value < 256 {
			n.mpi[group][value] = id
		}
	}
	return id
}

// define makes a region; a function that is known as a caller is the same region.
func (n *names) define(p *pcf, k regionKey, slot uint32) trace.RegionID {
	def := n.describe(p, k)
	label, _ := p.label(k.typ, k.value)
	if !p.function(k.typ) || label == "" || k.value == 0 {
		return n.addRegion(def, slot)
	}
	id, ok := n.functions[label]
	if ok && n.slots[id] == trace.None {
		def.Ref = uint64(id)
		n.defs.Regions[id], n.slots[id] = def, slot
		return id
	}
	id = n.addRegion(def, slot)
	n.functions[label] = id
	return id
}

// addRegion defines a region, with the class of its MPI function and its slot.
func (n *names) addRegion(r trace.Region, slot uint32) trace.RegionID {
	id := trace.RegionID(len(n.defs.Regions))
	r.Ref = uint64(id)
	n.defs.Regions = append(n.defs.Regions, r)
	f := trace.MPIFunctionOf(n.defs.String(r.Name))
	if f.Class == trace.ClassNone && r.Paradigm == trace.ParadigmMPI {
		if f = trace.MPIFunctionOf(n.defs.String(r.Canonical)); f.Class == trace.ClassNone {
			f.Class = trace.ClassOther
		}
	}
	n.classes, n.slots = append(n.classes, f), append(n.slots, slot)
	return id
}

// describe makes the definition of a region.
func (n *names) describe(p *pcf, k regionKey) trace.Region {
	label, ok := p.label(k.typ, k.value)
	kind := p.typeLabel(k.typ)
	if kind == "" {
		kind = "event type " + strconv.FormatUint(uint64(k.typ), 10)
	}
	name, canonical, file, line := label, "", trace.StringID(trace.None), uint32(0)
	switch group := k.typ - firstMPI; {
	case k.value == 0:
		name = kind
	case group < mpiGroups:
		name, canonical = mpiName(group, k.value, label)
	case !ok || label == "":
		name = kind + " " + strconv.FormatInt(k.value, 10)
	case p.function(k.typ):
		f, in := functionLabel(label)
		if at, ok := fileLine(in); ok {
			in, line = at.file, at.line
		}
		name, file = f, n.file(in)
	}
	if canonical == "" {
		canonical = name
	}
	return trace.Region{Name: n.text(name), Canonical: n.text(canonical), Description: n.text(kind), Role: p.role(k, canonical),
		Paradigm: p.paradigm(k.typ), File: file, BeginLine: line}
}

// file returns the string of a file's name, None if there is none.
func (n *names) file(name string) trace.StringID {
	if name == "" {
		return trace.None
	}
	return n.text(name)
}

// mpiName returns the name of an MPI function: the label if it is one, else that of the
// function of that number. The label of another number is "name [MPI function]", for what
// does the same under a name of its own.
func mpiName(group uint32, value int64, label string) (name, canonical string) {
	if len(label) > 4 && strings.EqualFold(label[:4], "MPI_") {
		if strings.ToUpper(label) == label {
			return mixedCase(label), ""
		}
		return label, ""
	}
	for _, c := range mpiCalls()[group] {
		if c.value == value {
			return mixedCase("MPI_" + c.name), ""
		}
	}
	if label != "" {
		return functionLabel(label)
	}
	return "MPI_call_" + strconv.FormatInt(value, 10), ""
}

// functionLabel takes apart "name", "name (file.c)", "name [file.c]" and
// "short..name [name]".
func functionLabel(label string) (name, file string) {
	name = strings.TrimSpace(label)
	at := strings.LastIndexAny(name, "[(")
	if at <= 0 || name[at-1] != ' ' || !strings.HasSuffix(name, "]") && !strings.HasSuffix(name, ")") {
		return name, ""
	}
	inner := name[at+1 : len(name)-1]
	outer := strings.TrimSpace(name[:at])
	if strings.Contains(outer, "..") && inner != "" && strings.LastIndexByte(inner, '.') < 0 {
		return inner, ""
	}
	return outer, inner
}

// lineLabel takes apart "zoo.c:13 [/home/zoo.c:13, /home/zoo]" and "12 (file.c, exe)"; ok
// is false if it names no line.
func lineLabel(label string) (l sourceLine, ok bool) {
	if i := strings.Index(label, " ["); i >= 0 && strings.HasSuffix(label, "]") {
		full, _, _ := strings.Cut(label[i+2:len(label)-1], ", ")
		if l, ok = fileLine(full); ok {
			return l, true
		}
		return fileLine(label[:i])
	}
	if i := strings.Index(label, " ("); i >= 0 && strings.HasSuffix(label, ")") {
		file, _, _ := strings.Cut(label[i+2:len(label)-1], ", ")
		return fileLine(file + ":" + label[:i])
	}
	return fileLine(label)
}

// fileLine takes apart "file.c:13".
func fileLine(s string) (sourceLine, bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return sourceLine{}, false
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 32)
	if err != nil || n == 0 || unresolved(s[:i]) {
		return sourceLine{}, false
	}
	return sourceLine{s[:i], uint32(n)}, true
}

// unresolved reports whether a name stands for an address that was not found.
func unresolved(name string) bool {
	switch strings.TrimSpace(name) {
	case "", "??", ".", "Unresolved", "_NOT_Found", "End":
		return true
	}
	return false
}
