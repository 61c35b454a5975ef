package trace

import "strings"

// ConstructRole returns the role of a region of OpenMP or pthread by its name, as Score-P, Extrae
// and EZTrace call their constructs. Formats and recorders may hold no roles, and EZTrace has no
// paradigms either. RoleFunction is all else.
func ConstructRole(p Paradigm, name string) RegionRole {
	switch p {
	case ParadigmOpenMP:
		if construct, ok := strings.CutPrefix(name, "!$omp "); ok {
			construct, _, _ = strings.Cut(construct, " @")
			if role, ok := constructRoles[construct]; ok {
				return role
			}
			return RoleFunction
		}
		return extraeRole(name)
	case ParadigmPthread, ParadigmUser:
		if role, ok := eztraceRoles[name]; ok {
			return role
		}
		switch {
		case name == "pthread_create":
			return RoleThreadCreate
		case name == "pthread_barrier_wait":
			return RoleBarrier
		case strings.HasPrefix(name, "pthread_"):
			return RoleThreadWait
		}
	}
	return RoleFunction
}

// constructRoles are the roles of Score-P's constructs of OpenMP.
var constructRoles = map[string]RegionRole{
	"parallel": RoleParallel, "barrier": RoleBarrier, "implicit barrier": RoleImplicitBarrier, "taskwait": RoleTaskWait,
	"task": RoleTask, "create task": RoleTaskCreate, "critical": RoleCritical, "critical sblock": RoleCriticalBlock, "ordered": RoleOrdered,
}

// eztraceRoles are those of EZTrace's. Locking and the locked block are one region.
var eztraceRoles = map[string]RegionRole{
	"OpenMP Parallel": RoleParallel, "OpenMP barrier": RoleBarrier, "OpenMP implicit barrier": RoleImplicitBarrier,
	"OpenMP critical": RoleCritical, "OpenMP Ordered": RoleOrdered, "OpenMP Set Lock": RoleCritical, "OpenMP Set Nest Lock": RoleCritical,
	"OpenMP Task create": RoleTaskCreate, "OpenMP Untied Task create": RoleTaskCreate, "OpenMP Task run": RoleTask,
	"OpenMP Untied  Task run": RoleTask, "OpenMP Task wait": RoleTaskWait,
}

// extraeRole returns the role of a construct of OpenMP by the label that Extrae gives it.
func extraeRole(label string) RegionRole {
	switch label {
	case "DO (open)", "SECTIONS (open)", "REGION (open)":
		return RoleParallel
	case "Lock", "Unlock":
		return RoleCritical
	case "Locked status":
		return RoleCriticalBlock
	}
	return RoleFunction
}
