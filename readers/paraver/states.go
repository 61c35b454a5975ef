package paraver

import (
	"strconv"
	"strings"

	"tracekit/trace"
)

// The state of a thread that computes, and that before it begins.
const (
	stateRunning    = 1
	stateNotCreated = 2
)

// stateType is the event type under which the regions of states are known.
const stateType = 0

// stateCalls are the MPI functions that states stand for, so that traces of states alone
// tell waiting from computing. A state of waiting may be for one request or for all; it
// counts as MPI_Waitall, so that none stays open.
var stateCalls = map[int64]string{
	3: "MPI_Recv", 4: "MPI_Send", 6: "MPI_Iprobe", 8: "MPI_Waitall", 10: "MPI_Isend", 11: "MPI_Irecv",
	16: "MPI_Sendrecv", 25: "MPI_Put",
}

// stateRegion returns the region of a state; ok is false if a worker sees it first.
func (d *decoder) stateRegion(value int64) (id trace.RegionID, ok bool) {
	k := regionKey{stateType, value}
	if id, ok = d.names.regions[k]; ok || d.main == nil {
		return id, ok
	}
	if len(d.defs.Regions) >= maxRegions {
		return d.names.region(d.pcf, stateType, trace.None, 0), true
	}
	name, ok := d.pcf.states[value]
	if !ok {
		name = "State " + strconv.FormatInt(value, 10)
	}
	text := d.names.text
	def := trace.Region{Name: text(name), Canonical: text(name), Description: text("state of the thread"),
		Role: trace.RoleFunction, Paradigm: trace.ParadigmUser, File: trace.None}
	switch call := stateCalls[value]; {
	case call != "" && likeStandard(value, name):
		def.Paradigm, def.Canonical = trace.ParadigmMPI, text(call)
	case value == 13 && likeStandard(value, name):
		def.Paradigm, def.Role = trace.ParadigmMPI, trace.RoleCollOther
	case value == 0 || value == 14:
		def.Paradigm, def.Role = trace.ParadigmMeasurement, trace.RoleArtificial
	}
	id = d.names.addRegion(def, trace.None)
	d.names.regions[k] = id
	return id, true
}

// likeStandard reports whether a state is called as in Extrae, whatever the spelling of
// its version: programs may have states of their own.
func likeStandard(value int64, name string) bool {
	word := map[int64]string{3: "wait", 4: "send", 6: "test", 8: "wait", 10: "mediate send",
		11: "mediate rec", 13: "group", 16: "send", 25: "one-sided"}[value]
	return strings.Contains(strings.ToLower(name), word) || strings.HasPrefix(name, "State ")
}
