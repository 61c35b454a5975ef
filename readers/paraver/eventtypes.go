package paraver

import (
	"maps"
	"slices"
	"strings"

	"tracekit/trace"
)

// A class says what a type of event means to the reader.
type class uint8

const (
	classMetric     class = iota // a number; index is its metric member
	classMPI                     // enter and leave of MPI functions; index is the slot
	classRegion                  // enter and leave of other regions; index is the slot
	classInterval                // the same, of a type of the user's: states are used beside it
	classLine                    // source line of the region that is entered on the same line
	classCaller                  // function that calls MPI; index is the level from 0
	classCallerLine              // its source line
	classSent                    // attributes of a collective
	classReceived
	classRoot
	classComm
	classFlush
	classTracing
	classProgram
	classLabelled // a moment whose values have names
	classOwn      // see own.go; index is the number of the value
)

// The event types that are looked for by number.
const (
	typeApplication    = 40000001
	typeInitialization = 40000002
	typeFlush          = 40000003
	typeTracing        = 40000012
	typeSent           = 50100001
	typeReceived       = 50100002
	typeRoot           = 50100003
	typeComm           = 50100004
	typeParallel       = 60000001
	typeBarrier        = 60000005
	typeOutlined       = 60000018
	typeUser           = 60000019
	typePthread        = 60000020
	typeInstantiation  = 60000021
	typeTaskWait       = 60000022
	typeTask           = 60000023
	typeTaskBody       = 60000024
	typeLine           = 100 // added to the type of a function: its line
	typePthreadCall    = 61000000
	typeCaller         = 70000001
	typeCallerLine     = 80000001
	callerLevels       = 100
	firstSample        = 30000000 // to lastSample: functions, lines and addresses that were sampled
	lastSample         = 32999999
	firstCounter       = 42000000 // to lastCounter: hardware counters, resource and memory usage
	lastCounter        = 46999999
)

// A typeInfo is what the reader knows of a type of event.
type typeInfo struct {
	typ   uint32
	known bool
	class class
	index uint32
}

// A slot is a kind of region that is entered and left on its own: the values of one event
// type, in which 0 is the leave.
type slot struct {
	typ     uint32
	replace bool           // another value ends the one before; else it is nested in it
	user    bool           // a type of the user's: see layers.go
	layer   uint32         // in which layer of a thread its regions lie
	used    bool           // the type occurs
	unknown trace.RegionID // the region of a leave that was not entered
}

// eventTypes classifies types of events.
type eventTypes struct {
	pcf    *pcf
	meters *meters
	slots  []slot
	all    map[uint32]typeInfo
}

func newEventTypes(p *pcf, m *meters) *eventTypes {
	t := &eventTypes{pcf: p, meters: m, all: make(map[uint32]typeInfo)}
	for i := range uint32(mpiGroups) {
		t.slots = append(t.slots, slot{typ: firstMPI + i, unknown: trace.None})
	}
	return t
}

// classify tells what a type means that is not in all.
func (t *eventTypes) classify(typ uint32) typeInfo {
	i := typeInfo{typ: typ, known: true}
	switch {
	case typ >= firstMPI && typ < firstMPI+mpiGroups:
		i.class, i.index = classMPI, typ-firstMPI
		t.slots[i.index].used = true
	case typ == typeSent:
		i.class = classSent
	case typ == typeReceived:
		i.class = classReceived
	case typ == typeRoot:
		i.class = classRoot
	case typ == typeComm:
		i.class = classComm
	case typ >= typeCaller && typ < typeCaller+callerLevels:
		i.class, i.index = classCaller, typ-typeCaller
	case typ >= typeCallerLine && typ < typeCallerLine+callerLevels:
		i.class, i.index = classCallerLine, typ-typeCallerLine
	case typ == typeFlush:
		i.class = classFlush
	case typ == typeTracing:
		i.class = classTracing
	case typ == typeApplication:
		i.class = classProgram
	case t.own(typ, &i):
	case isFunction(typ - typeLine):
		i.class = classLine
	case t.pcf.region(typ):
		i.class, i.index = classRegion, t.newSlot(typ)
		if t.slots[i.index].user {
			i.class = classInterval
		}
	case typ >= firstCounter && typ <= lastCounter || !t.pcf.labeled(typ):
		i.class, i.index = classMetric, t.meters.member(typ, t.pcf)
	default:
		i.class = classLabelled
	}
	return i
}

// own classifies a type that is one of our own; it returns false for all others.
func (t *eventTypes) own(typ uint32, i *typeInfo) bool {
	own, ok := ownType(t.pcf.typeLabel(typ))
	switch {
	case !ok:
		return false
	case own < firstOwnRegion:
		i.class, i.index = classOwn, own-firstOwn
	default:
		i.class, i.index = classRegion, t.newSlot(typ)
	}
	return true
}

// isFunction reports whether the values of a type of Extrae's are functions of the program.
func isFunction(typ uint32) bool {
	switch typ {
	case typeOutlined, typeUser, typePthread, typeTask, typeTaskBody:
		return true
	}
	return false
}

// function reports whether the values of a type are functions of the program.
func (p *pcf) function(typ uint32) bool {
	own, ok := ownType(p.typeLabel(typ))
	return isFunction(typ) || ok && own >= firstOwnRegion
}

// region reports whether a type that is neither MPI's nor our own means enter and leave.
func (p *pcf) region(typ uint32) bool {
	return isFunction(typ) || typ == typeParallel || p.construct(typ) || p.interval(typ)
}

// tasks returns the type whose values are the tasks that threads run, 0 if there is none: COMPSs
// calls it so, and its threads are in the state of running when they have none.
func (p *pcf) tasks() uint32 {
	for _, typ := range slices.Sorted(maps.Keys(p.types)) {
		if p.typeLabel(typ) == "Task" && p.interval(typ) {
			return typ
		}
	}
	return 0
}

// construct reports whether the values of a type are constructs of OpenMP, calls of pthread,
// of a runtime or of an accelerator, which have names.
func (p *pcf) construct(typ uint32) bool {
	return (openMP(typ) || typ == typePthreadCall || typ >= 62000000 && typ < 67000000) && p.labeled(typ)
}

func openMP(typ uint32) bool { return typ >= typeParallel && typ < typeParallel+typeLine-1 }

// interval reports whether a value of a type begins what the value 0 ends, by the name of 0:
// that of the user's own types. Samples have such a name too, and end nothing.
func (p *pcf) interval(typ uint32) bool {
	if typ >= firstSample && typ <= lastSample || typ == typeInitialization {
		return false
	}
	label, _ := p.label(typ, 0)
	first, _, _ := strings.Cut(strings.ToLower(label), " ")
	return first == "end" || first == "outside"
}

// newSlot makes the slot of a type. Of constructs, one follows the other; functions are nested.
func (t *eventTypes) newSlot(typ uint32) uint32 {
	s := slot{typ: typ, used: true, unknown: trace.None}
	switch {
	case t.pcf.function(typ) || typ == typeParallel:
	case t.pcf.construct(typ):
		s.replace = true
	default:
		s.user = true
	}
	t.slots = append(t.slots, s)
	return uint32(len(t.slots) - 1)
}

// role returns the role of a region by the function that it is or, of constructs of OpenMP and
// calls of pthread, by their type or their label.
func (p *pcf) role(k regionKey, function string) trace.RegionRole {
	switch {
	case isFunction(k.typ) || k.value == 0:
	case k.typ == typeParallel:
		return trace.RoleParallel
	case k.typ == typeBarrier:
		return trace.RoleBarrier
	case k.typ == typeTaskWait:
		return trace.RoleTaskWait
	case k.typ == typeInstantiation:
		return trace.RoleTaskCreate
	case openMP(k.typ) || k.typ == typePthreadCall:
		return trace.ConstructRole(p.paradigm(k.typ), function)
	}
	return trace.MPIFunctionOf(function).Role()
}

// paradigm returns the paradigm of the regions of a type.
func (p *pcf) paradigm(typ uint32) trace.Paradigm {
	own, ok := ownType(p.typeLabel(typ))
	switch {
	case ok && own >= firstOwnRegion:
		return trace.Paradigm(own - firstOwnRegion)
	case typ >= firstMPI && typ < firstMPI+mpiGroups:
		return trace.ParadigmMPI
	case typ == typePthread || typ >= 61000000 && typ < 62000000:
		return trace.ParadigmPthread
	case openMP(typ) && typ != typeUser:
		return trace.ParadigmOpenMP
	case typ >= 63000000 && typ < 63500000:
		return trace.ParadigmCUDA
	case typ >= 40000000 && typ < 50000000 || typ >= 62000000 && typ < 67000000: // the system's and runtimes'
		return trace.ParadigmUnknown
	}
	return trace.ParadigmUser
}
