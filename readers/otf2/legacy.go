package otf2

import "tracekit/trace"

// legacyRegion returns what became of a RegionType in version 1.1 of the format.
func legacyRegion(regionType uint64) (trace.RegionRole, trace.Paradigm, uint32) {
	const (
		user    = trace.ParadigmUser
		omp     = trace.ParadigmOpenMP
		mpi     = trace.ParadigmMPI
		dynamic = 1
		phase   = 2
		loop    = 3
		code    = 4
	)
	table := [...]struct {
		role     trace.RegionRole
		paradigm trace.Paradigm
		flags    uint32
	}{
		1: {trace.RoleFunction, 0, 0}, 2: {loop, user, 0}, 3: {trace.RoleFunction, 0, 0}, 4: {27, user, 0},
		5: {5, omp, 0}, 6: {loop, omp, 0}, 7: {6, omp, 0}, 8: {7, omp, 0}, 9: {8, omp, 0}, 10: {9, omp, 0},
		11: {11, omp, 0}, 12: {12, omp, 0}, 13: {14, omp, 0}, 14: {15, omp, 0}, 15: {16, omp, 0}, 16: {17, omp, 0},
		17: {13, omp, 0}, 18: {10, omp, 0}, 19: {2, omp, 0}, 20: {20, omp, 0}, 21: {22, omp, 0},
		22: {trace.RoleBarrier, mpi, 0}, 23: {trace.RoleCollOne2All, mpi, 0}, 24: {trace.RoleCollAll2One, mpi, 0},
		25: {trace.RoleCollAll2All, mpi, 0}, 26: {trace.RoleCollOther, mpi, 0},
		27: {code, user, phase}, 28: {code, user, dynamic}, 29: {code, user, dynamic | phase},
		30: {loop, user, dynamic}, 31: {trace.RoleFunction, user, dynamic}, 32: {loop, user, dynamic | phase},
		33: {21, omp, 0}, 34: {18, omp, 0}, 35: {19, omp, 0},
	}
	if regionType >= uint64(len(table)) {
		return 0, 0, 0
	}
	t := table[regionType]
	return t.role, t.paradigm, t.flags
}

// legacyGroup returns what became of a GroupTypePre12 in version 1.2 of the format.
func legacyGroup(groupType uint64) (trace.GroupKind, trace.Paradigm) {
	table := [...]struct {
		kind     trace.GroupKind
		paradigm trace.Paradigm
	}{
		1: {trace.GroupLocations, 0}, 2: {trace.GroupRegions, 0}, 3: {trace.GroupMetric, 0},
		4: {trace.GroupComm, trace.ParadigmMPI}, 5: {trace.GroupCommSelf, trace.ParadigmMPI},
		6: {trace.GroupCommLocations, trace.ParadigmMPI},
	}
	if groupType >= uint64(len(table)) {
		return 0, 0
	}
	return table[groupType].kind, table[groupType].paradigm
}
