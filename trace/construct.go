package trace

import "strings"

// ConstructRole returns the role of a region of OpenMP or pthread by its name, as Score-P and
// Extrae call their constructs: for formats that hold no roles. RoleFunction is all else.
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
	case ParadigmPthread:
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
