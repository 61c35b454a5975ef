package paraver

import (
	"fmt"
	"strings"
	"sync/atomic"
	"unicode"

	"tracekit/trace"
)

// values numbers what events refer to, for the labels in the .pcf file.
type values struct {
	defs    *trace.Defs
	regions []value  // by region
	members []uint32 // event type by metric member

	// What is used.
	used, callers               marks // by region
	metric                      marks // by metric member
	texts                       marks // by string
	lines                       marks // by source location
	arguments                   marks // by number, of an event of our own types
	flush, tracing, application atomic.Bool
}

// marks says which identifiers are used. Any number of goroutines may set them.
type marks []atomic.Bool

func (m marks) set(id int) {
	if !m[id].Load() { // most are set, and stay in all processors' caches
		m[id].Store(true)
	}
}

// all iterates over the identifiers that are set.
func (m marks) all(yield func(id int) bool) {
	for id := range m {
		if m[id].Load() && !yield(id) {
			return
		}
	}
}

// A value is an event type and a value.
type value struct {
	typ   uint32
	value int64
	class trace.CallClass
	op    trace.CollectiveOp
	state int64
}

// firstOtherCall is the number of the first MPI function that Extrae does not know.
const firstOtherCall = 1000

func newValues(d *trace.Defs, plain bool) *values {
	v := &values{defs: d, used: make(marks, len(d.Regions)), callers: make(marks, len(d.Regions)),
		metric: make(marks, len(d.MetricMembers)), texts: make(marks, len(d.Strings)), lines: make(marks,
			len(d.SourceLocations)), arguments: make(marks, maxArguments+1)}
	known := make(map[string]value)
	for g, calls := range mpiCalls() {
		for _, c := range calls {
			known[c.name] = value{typ: firstMPI + uint32(g), value: c.value}
		}
	}
	taken := make(map[value]bool)
	for i, f := range d.MPIFunctions() {
		name := d.RegionName(trace.RegionID(i))
		n := value{typ: functionType(d.Regions[i].Paradigm, plain), value: int64(i) + 1}
		if f.Class != trace.ClassNone {
			var ok bool
			n, ok = known[strings.ToUpper(strings.TrimPrefix(name, "MPI_"))]
			if !ok || mixedCase(name) != name || taken[n] {
				n = value{typ: firstMPI + uint32(mpiGroup(f.Class, name)), value: firstOtherCall + int64(i)}
			}
			taken[n] = true
			n.class, n.op = f.Class, f.Op
			n.state = stateOf(f.Class, n.typ)
		}
		v.regions = append(v.regions, n)
	}
	for i, m := range d.MetricMembers {
		first := uint32(firstOwnMetric)
		switch m.Mode & trace.MetricProperty {
		case trace.MetricAccumulated:
			first = firstCounter + 1000000
		case trace.MetricRelative:
			first = firstCounter
		}
		v.members = append(v.members, first+uint32(i))
	}
	return v
}

// functionType returns the event type of regions of a paradigm.
func functionType(p trace.Paradigm, plain bool) uint32 {
	switch {
	case p == trace.ParadigmOpenMP:
		return typeOutlined
	case p == trace.ParadigmPthread:
		return typePthread
	case p == trace.ParadigmUser || plain:
		return typeUser
	}
	return firstOwnRegion + uint32(p)
}

// writtenParadigm reports whether a paradigm can be told from what is written.
func writtenParadigm(p trace.Paradigm) bool {
	switch p {
	case trace.ParadigmMPI, trace.ParadigmUser, trace.ParadigmOpenMP, trace.ParadigmPthread:
		return true
	}
	return false
}

// mpiGroup returns the group of an MPI function that Extrae does not know.
func mpiGroup(c trace.CallClass, name string) int {
	name = strings.ToLower(strings.TrimPrefix(name, "MPI_"))
	switch {
	case c == trace.ClassColl || c == trace.ClassIcoll:
		return 1
	case c == trace.ClassOther && strings.HasPrefix(name, "file_"):
		return 4
	case c == trace.ClassOther && (strings.HasPrefix(name, "win_") || strings.HasPrefix(name, "r")):
		return 3
	case c == trace.ClassOther || c == trace.ClassInit || c == trace.ClassFinalize || c == trace.ClassStart:
		return 2
	}
	return 0
}

// stateOf returns Extrae's state of a thread in an MPI function.
func stateOf(c trace.CallClass, typ uint32) int64 {
	switch c {
	case trace.ClassRecv:
		return 3
	case trace.ClassSend, trace.ClassBsend:
		return 4
	case trace.ClassProbe:
		return 6
	case trace.ClassWait, trace.ClassTest:
		return 8
	case trace.ClassIsend:
		return 10
	case trace.ClassIrecv:
		return 11
	case trace.ClassColl, trace.ClassIcoll:
		return 13
	case trace.ClassSendrecv:
		return 16
	}
	switch typ {
	case firstMPI + 3:
		return 17
	case firstMPI + 4:
		return 12
	}
	return 15
}

// region returns the event type and value of a region, and notes that it is used.
func (v *values) region(id trace.RegionID) (value, bool) {
	if int(id) >= len(v.regions) {
		return value{}, false
	}
	v.used.set(int(id))
	return v.regions[id], true
}

// functionLabelOf makes a label that functionLabel takes apart again.
func functionLabelOf(d *trace.Defs, r trace.Region) string {
	name, file := oneLine(d.String(r.Name)), oneLine(d.String(r.File))
	switch {
	case file != "" && r.BeginLine > 0:
		return fmt.Sprintf("%s [%s:%d]", name, file, r.BeginLine)
	case file != "":
		return fmt.Sprintf("%s [%s]", name, file)
	case strings.HasSuffix(name, ")") || strings.HasSuffix(name, "]"):
		return name + " []"
	}
	return name
}

// lineLabelOf makes a label that lineLabel takes apart again.
func lineLabelOf(d *trace.Defs, s trace.SourceLocation) string {
	file := oneLine(d.String(s.File))
	base := file[strings.LastIndexByte(file, '/')+1:]
	return fmt.Sprintf("%s:%d [%s:%d, ]", base, s.Line, file, s.Line)
}

// oneLine makes a text fit into a line; the format has no escapes for what is no graphic character.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s))
}
