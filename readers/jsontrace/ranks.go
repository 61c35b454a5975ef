package jsontrace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

const (
	worldLimit  = 1 << 18 // bounds the number of ranks that a file may announce; no machine has as many
	memberLimit = 1 << 22 // bounds the members of groups that are not listed one by one
)

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
		if f.origin.worldSize > worldLimit {
			a.ledger.Add(trace.CodeBadDefinition, f.place(-1), fmt.Sprintf("a world of %d ranks is more than the plausible %d",
				f.origin.worldSize, worldLimit))
			continue
		}
		size = max(size, uint32(f.origin.worldSize))
	}
	members, all := make([]uint32, size), make([]uint32, size)
	for r := range members {
		members[r], all[r] = trace.None, uint32(r)
		if l, ok := a.worldOf[uint32(r)]; ok {
			members[r] = uint32(l)
		}
	}
	a.addGroup("MPI ranks", trace.GroupCommLocations, members)
	a.world = a.addGroup("MPI_COMM_WORLD", trace.GroupComm, all)
	a.comm("MPI_COMM_WORLD", "", nil)
}

// ranksOfTracks takes the ranks that tracks themselves name.
func (a *assembler) ranksOfTracks() bool {
	for i, p := range a.places {
		if p.track.hasRank && !(p.track.device && len(a.files) > 1) { // devices of several hosts have the same numbers
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
		if !f.origin.hasRank && !(len(a.files) == 1 && f.origin.alone) || f.later > 0 {
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
		if f.origin.rank >= worldLimit {
			a.ledger.Add(trace.CodeBadDefinition, trace.Place{Location: l, File: f.path, Offset: -1},
				fmt.Sprintf("rank %d; more than %d are not believed", f.origin.rank, worldLimit))
			continue
		}
		a.worldOf[f.origin.rank] = l
	}
	return len(a.worldOf) > 0
}

// mainThread returns the location of a file's main thread: the one whose tid is its pid,
// else the first thread of a process, else the first location; None if there is none.
func (a *assembler) mainThread(f *file) trace.LocationID {
	first, thread := trace.LocationID(trace.None), trace.LocationID(trace.None)
	for id := f.first; id < f.first+trace.LocationID(f.locations); id++ {
		p := a.places[id]
		if p.sub > 0 {
			continue
		}
		cpu := a.defs.Locations[id].Kind == trace.LocationCPUThread && !p.track.async
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

// A process is one of a file.
type process struct {
	file *file
	pid  ident
}

// ranksOfProcesses makes the processes ranks if there is communication among them, in files of PyTorch those with operators: the rank is
// what the names of all processes say, else in a single file the pid if pids are small numbers, else the order of files and pids.
func (a *assembler) ranksOfProcesses() bool {
	if len(a.files) > 1 && !a.eachOneProcess() {
		return false
	}
	var all []process
	locations := make(map[process]trace.LocationID)
	communicate, small := false, len(a.files) == 1
	kind := uint8(2) // accelerators, if there is nothing else
	if slices.ContainsFunc(a.defs.LocationGroups, func(g trace.LocationGroup) bool { return g.Kind == 1 }) {
		kind = 1
	}
	for i, p := range a.places {
		communicate = communicate || p.track.Comm
		if len(p.file.torch) > 0 && !p.file.torch[p.track.pid] || a.defs.LocationGroups[a.defs.Locations[i].Group].Kind != kind {
			continue
		}
		x := process{p.file, p.track.pid}
		if _, ok := locations[x]; !ok {
			all = append(all, x)
			locations[x] = trace.LocationID(i)
		}
		small = small && !x.pid.named && x.pid.n >= 0
	}
	if !communicate || len(all) == 0 {
		return false
	}
	slices.SortFunc(all, func(x, y process) int {
		return cmp.Or(nest.Natural(x.file.path, y.file.path), x.file.compare(x.pid, y.pid))
	})
	small = small && all[len(all)-1].pid.n < int64(4*len(all)+64)
	named := namedRanks(all)
	for i, x := range all {
		switch {
		case named != nil:
			a.worldOf[named[i]] = locations[x]
		case small:
			a.worldOf[uint32(x.pid.n)] = locations[x]
		default:
			a.worldOf[uint32(i)] = locations[x]
		}
	}
	if named == nil && !small && len(all) > 1 {
		a.ledger.Add(trace.CodeNumberedRanks, trace.Nowhere(), "")
	}
	return true
}

// eachOneProcess reports whether each of several files has one process with operators of PyTorch, and another one than all others: not
// what was recorded of it later.
func (a *assembler) eachOneProcess() bool {
	seen := make(map[int64]bool)
	for _, f := range a.files {
		if len(f.torch) != 1 {
			return false
		}
		for pid := range f.torch {
			if pid.named || seen[pid.n] {
				return false
			}
			seen[pid.n] = true
		}
	}
	return true
}

// namedRanks returns the ranks that the names of processes say they are, nil unless all do and they differ.
func namedRanks(all []process) []uint32 {
	var ranks []uint32
	for _, x := range all {
		name := x.file.meta.processes[x.pid]
		if x.pid.named {
			name += " " + x.file.names.list[x.pid.n]
		}
		rank, ok := rankInName(name + " " + x.file.meta.labels[x.pid])
		if !ok || rank >= worldLimit || slices.Contains(ranks, rank) {
			return nil
		}
		ranks = append(ranks, rank)
	}
	return ranks
}

func (a *assembler) addGroup(name string, kind trace.GroupKind, members []uint32) trace.GroupID {
	id := trace.GroupID(len(a.defs.Groups))
	a.defs.Groups = append(a.defs.Groups, trace.Group{Ref: uint64(id), Name: a.string(name),
		Kind: kind, Paradigm: trace.ParadigmMPI, Members: members})
	return id
}

// comm returns the communicator of a name and ranks; nil: all of them. Its group is called what it is for, if that is recorded.
func (a *assembler) comm(name, about string, ranks []uint32) trace.CommID {
	key := name + "\x00"
	if ranks != nil {
		b := append([]byte(key), 0)
		for _, r := range ranks {
			b = binary.LittleEndian.AppendUint32(b, r)
		}
		key = string(b)
	}
	if id, ok := a.comms[key]; ok {
		return id
	}
	id, group := trace.CommID(len(a.defs.Comms)), a.world
	if ranks != nil {
		group = a.addGroup(cmp.Or(about, name), trace.GroupComm, ranks)
	}
	a.comms[key] = id
	a.defs.Comms = append(a.defs.Comms, trace.Comm{Ref: uint64(id), Name: a.string(name),
		Group: group, Remote: trace.None, Parent: trace.None})
	return id
}

// groups makes communicators of the groups of a file.
func (a *assembler) groups(f *file) {
	if len(a.defs.Comms) == 0 { // nobody communicates, or it is not known who
		f.idmap.Comms = slices.Repeat([]trace.CommID{trace.None}, len(f.comms.list))
		return
	}
	for i := range f.comms.list {
		if i == 0 {
			f.idmap.Comms = append(f.idmap.Comms, 0)
			continue
		}
		g := &f.comms.list[i]
		if g.devices && len(a.files) > 1 {
			f.idmap.Comms = append(f.idmap.Comms, trace.None)
			continue
		}
		if a.otherRanks(f, g) {
			a.ledger.Add(trace.CodeMergedRanks, f.place(-1), "the ranks of "+g.name)
			f.idmap.Comms = append(f.idmap.Comms, trace.None)
			continue
		}
		if g.sole || g.gloo && g.ranks == nil {
			ranks, sure := f.origin.soleRanks(g.gloo)
			if !sure && g.peers {
				ranks, sure = a.tensorRanks(f)
			}
			if !sure {
				who := "kernels communicate and"
				switch {
				case g.gloo:
					who = "operations of gloo"
				case g.peers:
					who = "collectives without a library"
				}
				code := trace.CodeBadDefinition
				if len(f.torch) > 1 {
					code = trace.CodeMergedRanks
				}
				a.ledger.Add(code, f.place(-1), who+" do not name one of several groups")
				f.idmap.Comms = append(f.idmap.Comms, trace.None)
				continue
			}
			if ranks == nil {
				f.idmap.Comms = append(f.idmap.Comms, 0)
				continue
			}
			g.ranks = ranks
		}
		f.idmap.Comms = append(f.idmap.Comms, a.comm(g.name, cmp.Or(g.about, f.origin.about[g.name]), a.members(f, g)))
	}
}

// otherRanks reports whether a group may have other ranks than are known: a file of several ranks has the table of groups of one of them,
// and each rank has a group of that name.
func (a *assembler) otherRanks(f *file, g *group) bool {
	ranks, known := f.origin.groups[g.name]
	return len(f.torch) > 1 && known && g.ranks == nil && len(ranks) < len(a.defs.Groups[a.world].Members)
}

// tensorRanks returns the ranks of the only group of a file's rank whose members differ in their number of tensor parallelism, by the
// names of their processes: servers of models reach into the memory of these alone. ok is false if there is no such group, or are several.
func (a *assembler) tensorRanks(f *file) (ranks []uint32, ok bool) {
	for _, members := range f.origin.groups {
		if !slices.Contains(members, f.origin.rank) || trace.WorkerDimension(a.processes(members)) != trace.DimensionTensor {
			continue
		}
		if ok && !slices.Equal(ranks, members) {
			return nil, false
		}
		ranks, ok = members, true
	}
	return ranks, ok
}

// processes returns the names of the processes of ranks, "" of those that are not recorded.
func (a *assembler) processes(ranks []uint32) []string {
	out := make([]string, len(ranks))
	for i, r := range ranks {
		if l, ok := a.worldOf[r]; ok {
			out[i] = a.defs.String(a.defs.LocationGroups[a.defs.Locations[l].Group].Name)
		}
	}
	return out
}

// members returns the world ranks of a group: as listed, or as the file's table of groups
// says, or by start, size and stride, or nil: all.
func (a *assembler) members(f *file, g *group) []uint32 {
	world := uint32(len(a.defs.Groups[a.world].Members))
	ranks := g.ranks
	if ranks == nil {
		ranks = f.origin.groups[g.name]
	}
	if ranks == nil && g.size > 1 && g.stride > 0 {
		size := min(g.size, world)
		if a.implied += int(size); a.implied > memberLimit {
			a.ledger.Add(trace.CodeLimitExceeded, f.place(-1), "too many groups of ranks by start and stride; the last ones "+
				"count as all ranks")
			return nil
		}
		for i := range size {
			ranks = append(ranks, uint32(min(uint64(g.start)+uint64(i)*uint64(g.stride), trace.None)))
		}
	}
	members := slices.Clone(ranks)
	for i, r := range members {
		if r >= world {
			a.ledger.Add(trace.CodeBadDefinition, f.place(-1), fmt.Sprintf("group %s has rank %d of %d", g.name, r, world))
			members[i] = trace.None
		}
	}
	return members
}
