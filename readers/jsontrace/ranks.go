package jsontrace

import (
	"fmt"
	"slices"

	"tracekit/trace"
)

// worldLimit bounds the number of ranks that a file may announce.
const worldLimit = 1 << 20

// ranks defines MPI_COMM_WORLD, if anything says that the processes are ranks: the files
// are those of ranks, or there are messages or collectives.
func (a *assembler) ranks() {
	if !a.ranksOfTracks() && !a.ranksOfFiles() && !a.ranksOfProcesses() {
		return
	}
	size := uint32(0)
	for r := range a.worldOf {
		size = max(size, r+1)
	}
	for _, f := range a.files {
		size = max(size, min(f.origin.worldSize, worldLimit))
	}
	members, all := make([]uint32, size), make([]uint32, size)
	for r := range members {
		members[r], all[r] = trace.None, uint32(r)
		if l, ok := a.worldOf[uint32(r)]; ok {
			members[r] = uint32(l)
		}
	}
	a.addGroup("MPI ranks", trace.GroupCommLocations, members)
	a.comm("MPI_COMM_WORLD", all)
}

// ranksOfTracks takes the ranks that tracks themselves name.
func (a *assembler) ranksOfTracks() bool {
	for i, p := range a.places {
		if p.track.hasRank {
			if _, taken := a.worldOf[p.track.rank]; !taken {
				a.worldOf[p.track.rank] = trace.LocationID(i)
			}
		}
	}
	return len(a.worldOf) > 0
}

// ranksOfFiles gives each file that knows its rank, or is the only one of a distributed
// job, its main thread as location of the rank.
func (a *assembler) ranksOfFiles() bool {
	for _, f := range a.files {
		if !f.origin.hasRank && !(len(a.files) == 1 && f.origin.alone) {
			continue
		}
		l := a.mainThread(f)
		if l == trace.None {
			continue
		}
		if _, taken := a.worldOf[f.origin.rank]; taken {
			a.ledger.Add(trace.CodeDuplicateDefinition, trace.Place{Location: l, File: f.path, Offset: -1},
				fmt.Sprintf("a second file of rank %d", f.origin.rank))
			continue
		}
		if f.origin.rank < worldLimit {
			a.worldOf[f.origin.rank] = l
		}
	}
	return len(a.worldOf) > 0
}

// mainThread returns the location of a file's main thread: the one whose tid is its pid,
// else the first thread of a process, else the first location; None if there is none.
func (a *assembler) mainThread(f *file) trace.LocationID {
	first, thread := trace.LocationID(trace.None), trace.LocationID(trace.None)
	for i, p := range a.places {
		if p.file != f || p.sub > 0 {
			continue
		}
		id := trace.LocationID(i)
		cpu := a.defs.Locations[i].Kind == trace.LocationCPUThread && !p.track.async
		switch {
		case cpu && p.track.tid == p.track.pid:
			return id
		case cpu && thread == trace.None:
			thread = id
		case first == trace.None:
			first = id
		}
	}
	if thread != trace.None {
		return thread
	}
	return first
}

// ranksOfProcesses makes the processes ranks if there is communication among them: the
// pid is the rank if pids are small numbers, else the order of pids.
func (a *assembler) ranksOfProcesses() bool {
	var pids []ident
	locations := make(map[ident]trace.LocationID)
	communicate, small := false, true
	kind := uint8(2) // accelerators, if there is nothing else
	if slices.ContainsFunc(a.defs.LocationGroups, func(g trace.LocationGroup) bool { return g.Kind == 1 }) {
		kind = 1
	}
	for i, p := range a.places {
		communicate = communicate || p.track.comm
		if a.defs.LocationGroups[a.defs.Locations[i].Group].Kind != kind {
			continue
		}
		if _, ok := locations[p.track.pid]; !ok {
			pids = append(pids, p.track.pid)
			locations[p.track.pid] = trace.LocationID(i)
		}
		small = small && !p.track.pid.named && p.track.pid.n >= 0
	}
	if !communicate || len(pids) == 0 || len(a.files) > 1 {
		return false
	}
	slices.SortFunc(pids, a.files[0].compare)
	small = small && pids[len(pids)-1].n < int64(4*len(pids)+64)
	for i, pid := range pids {
		rank := uint32(i)
		if small {
			rank = uint32(pid.n)
		}
		a.worldOf[rank] = locations[pid]
	}
	return true
}

func (a *assembler) addGroup(name string, kind trace.GroupKind, members []uint32) trace.GroupID {
	id := trace.GroupID(len(a.defs.Groups))
	a.defs.Groups = append(a.defs.Groups, trace.Group{Ref: uint64(id), Name: a.string(name),
		Kind: kind, Paradigm: trace.ParadigmMPI, Members: members})
	return id
}

// comm returns the communicator of a name and ranks.
func (a *assembler) comm(name string, ranks []uint32) trace.CommID {
	key := fmt.Sprint(name, ranks)
	if id, ok := a.comms[key]; ok {
		return id
	}
	id := trace.CommID(len(a.defs.Comms))
	a.comms[key] = id
	a.defs.Comms = append(a.defs.Comms, trace.Comm{Ref: uint64(id), Name: a.string(name),
		Group: a.addGroup(name, trace.GroupComm, ranks), Remote: trace.None, Parent: trace.None})
	return id
}

// groups makes communicators of the groups of a file.
func (a *assembler) groups(f *file) {
	if len(a.defs.Comms) == 0 { // nobody communicates, or it is not known who
		f.idmap.comms = slices.Repeat([]trace.CommID{trace.None}, len(f.comms.list))
		return
	}
	world := a.defs.Groups[a.defs.Comms[0].Group].Members
	for i, g := range f.comms.list {
		if i == 0 {
			f.idmap.comms = append(f.idmap.comms, 0)
			continue
		}
		f.idmap.comms = append(f.idmap.comms, a.comm(g.name, g.members(world, f.origin.groups)))
	}
}

// members returns the world ranks of a group: as listed, or as the file's table of groups
// says, or by start, size and stride, or all.
func (g *group) members(world []uint32, table map[string][]uint32) []uint32 {
	ranks := g.ranks
	if ranks == nil {
		ranks = table[g.name]
	}
	if ranks == nil && g.size > 1 && g.stride > 0 {
		for i := range min(g.size, uint32(len(world))) {
			ranks = append(ranks, g.start+i*g.stride)
		}
	}
	if ranks == nil {
		return world
	}
	members := slices.Clone(ranks)
	for i, r := range members {
		if r >= uint32(len(world)) {
			members[i] = trace.None
		}
	}
	return members
}
