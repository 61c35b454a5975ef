package threads

import (
	"strings"

	"tracekit/trace"
)

// An Activity is what a thread does.
type Activity uint8

// The activities. A worker outside any region is idle, a master is not: few traces record the
// regions of a program outside its constructs. Of what lies in a region, the innermost one
// decides, but in MPI all is MPI's.
const (
	Idle          Activity = iota // a thread without work, or not yet or no longer there
	Useful                        // the program
	Communication                 // MPI
	Barrier                       // implicit and explicit barriers of a team
	Waiting                       // locks, critical sections, taskwait, joining threads
	Scheduling                    // fork and join, creating threads and tasks
	Measurement                   // buffer flushes, and recording off
	Activities                    // their number
)

var activityNames = [Activities]string{"idle", "useful", "communication", "barrier", "waiting", "scheduling", "measurement"}

// String returns the activity's name.
func (a Activity) String() string {
	if a < Activities {
		return activityNames[a]
	}
	return "unknown"
}

// A Meaning is what a region means for the thread that is in it.
type Meaning struct {
	Activity Activity
	Parallel bool // a team works on it
	Locks    bool // waiting for others, and the block that they are kept out of, are one region
}

// Meanings returns what each region means: by its role or, for formats without roles, the name
// of its construct.
func Meanings(d *trace.Defs) []Meaning {
	out := make([]Meaning, len(d.Regions))
	functions := d.MPIFunctions()
	for i := range d.Regions {
		if functions[i].Class != trace.ClassNone {
			out[i].Activity = Communication
			continue
		}
		out[i] = meaningOf(d, &d.Regions[i])
	}
	return out
}

// roleOf returns the role of a region, by its name if none is recorded.
func roleOf(d *trace.Defs, r *trace.Region) trace.RegionRole {
	if r.Role == trace.RoleUnknown || r.Role == trace.RoleFunction {
		return trace.ConstructRole(r.Paradigm, d.String(r.Name))
	}
	return r.Role
}

func meaningOf(d *trace.Defs, r *trace.Region) Meaning {
	switch roleOf(d, r) {
	case trace.RoleParallel:
		return Meaning{Activity: Useful, Parallel: true}
	case trace.RoleBarrier, trace.RoleImplicitBarrier:
		return Meaning{Activity: Barrier}
	case trace.RoleCritical, trace.RoleOrdered:
		return Meaning{Activity: Waiting, Locks: r.Paradigm == trace.ParadigmUser && !strings.HasSuffix(d.String(r.Name), "Lock")}
	case trace.RoleTaskWait, trace.RoleThreadWait:
		return Meaning{Activity: Waiting}
	case trace.RoleThreadCreate, trace.RoleTaskCreate:
		return Meaning{Activity: Scheduling}
	}
	return Meaning{Activity: Useful}
}

// Models reports whether a trace knows threads that work together: one of the regions that it
// visits is a construct of such a model, or it tells when threads run. Traces of programs whose
// threads serve events have threads as well, of which none is expected to work all the time.
func Models(t *trace.Trace) bool {
	visited := t.Tree.Visited(len(t.Defs.Regions))
	for i := range t.Defs.Regions {
		if r := &t.Defs.Regions[i]; visited[i] && models(t.Defs, r) {
			return true
		}
	}
	return t.Defs.RunningCounter() != trace.None
}

func models(d *trace.Defs, r *trace.Region) bool {
	switch r.Paradigm {
	case trace.ParadigmOpenMP, trace.ParadigmPthread, trace.ParadigmOmpSs, trace.ParadigmTBB:
		return true
	case trace.ParadigmMPI:
		return false
	}
	role := roleOf(d, r)
	return role == trace.RoleParallel || role == trace.RoleTask || role == trace.RoleTaskWait
}
