package recording

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"tracekit/trace"
)

// launchers tell a process its rank, and mostly how many there are, by variables of its environment; the surest first.
var launchers = [...]struct{ rank, size string }{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMIX_RANK", ""}, {"PMI_RANK", "PMI_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}, {"PALS_RANKID", ""}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}, {"RANK", "WORLD_SIZE"}}

var launcherPatterns = func() (patterns [len(launchers)][2]func() *regexp.Regexp) {
	for i, l := range launchers {
		for k, name := range [2]string{l.rank, l.size} {
			if name != "" {
				patterns[i][k] = trace.Expression(`(?:^|[\x00\n ",{])` + name + `"? ?[=:] ?"?(\d{1,7})(?:[\x00\n ",}]|$)`)
			}
		}
	}
	return patterns
}()

// A Launch is what environments tell of the place of a process in its job. The zero value knows nothing.
type Launch struct {
	told [len(launchers)][2]uint64 // rank and size, plus one; 0: not told
}

// Take looks for ranks and sizes in an environment, or a part of one. Nothing else of it is looked at, since it may hold what is secret.
func (l *Launch) Take(environment []byte) {
	for i := range launcherPatterns {
		for k, p := range launcherPatterns[i] {
			if p == nil || l.told[i][k] > 0 {
				continue
			}
			if m := p().FindSubmatch(environment); m != nil {
				n, _ := strconv.ParseUint(string(m[1]), 10, 32)
				l.told[i][k] = n + 1
			}
		}
	}
}

// Rank returns the rank that the surest launcher tells, and of how many; ok is false if none tells one, and size 0 if that one does not.
func (l *Launch) Rank() (rank, size uint32, ok bool) {
	for _, told := range l.told {
		if told[0] > 0 {
			if rank, size = uint32(told[0]-1), uint32(max(1, told[1])-1); size <= rank {
				size = 0
			}
			return rank, size, true
		}
	}
	return 0, 0, false
}

var rankInName = trace.Expression(`(?i)(?:rank|worker)[-_.\[]?(\d{1,7})`)

var numbers = trace.Expression(`\d{1,9}`)

// nameRanks gives files the rank that their names tell: behind the word, or, if the names of several differ in one number
// alone, as that number.
func nameRanks(files []*File) {
	for _, f := range files {
		if m := rankInName().FindStringSubmatch(filepath.Base(f.Path)); m != nil && !f.HasRank {
			n, _ := strconv.Atoi(m[1])
			f.Rank, f.HasRank = uint32(n), true
		}
	}
	if len(files) < 2 || slices.ContainsFunc(files, func(f *File) bool { return f.HasRank }) {
		return
	}
	pattern := numbers().ReplaceAllLiteralString(filepath.Base(files[0].Path), "#")
	first := numbers().FindAllString(filepath.Base(files[0].Path), -1)
	differ := -1
	for _, f := range files[1:] {
		mine := numbers().FindAllString(filepath.Base(f.Path), -1)
		if numbers().ReplaceAllLiteralString(filepath.Base(f.Path), "#") != pattern {
			return
		}
		for i := range mine {
			if mine[i] != first[i] && i != differ {
				if differ >= 0 {
					return
				}
				differ = i
			}
		}
	}
	seen := make(map[int]bool)
	for _, f := range files {
		n := -1
		if differ >= 0 {
			n, _ = strconv.Atoi(numbers().FindAllString(filepath.Base(f.Path), -1)[differ])
		}
		if n < 0 || n >= len(files) || seen[n] { // numbers of processes, say
			return
		}
		seen[n] = true
	}
	for _, f := range files {
		n, _ := strconv.Atoi(numbers().FindAllString(filepath.Base(f.Path), -1)[differ])
		f.Rank, f.HasRank = uint32(n), true
	}
}

// order puts files in the order of their ranks, if all have one.
func order(files []*File) {
	rank := func(f *File) uint32 {
		least := uint32(trace.None)
		if f.HasRank {
			least = f.Rank
		}
		for _, p := range f.processes {
			least = min(least, p.rankOrder())
		}
		return least
	}
	if !slices.ContainsFunc(files, func(f *File) bool { return rank(f) == trace.None }) {
		slices.SortStableFunc(files, func(x, y *File) int { return cmp.Compare(rank(x), rank(y)) })
	}
}

// ranks finds the rank of each process.
func (j *joiner) ranks() {
	byRank := make(map[uint32]*Process)
	working, communicates := 0, false
	for _, f := range j.files {
		communicates = communicates || len(f.groups) > 1
		works := slices.DeleteFunc(slices.Clone(f.processes), func(p *Process) bool { return !p.Works })
		if f.HasRank && len(works) == 1 && !works[0].HasRank {
			works[0].Rank, works[0].HasRank = f.Rank, true
		}
		working += len(works)
		if slices.ContainsFunc(f.processes, func(p *Process) bool { return p.HasRank }) && f.JobSize <= worldLimit {
			j.size = max(j.size, f.JobSize)
		}
		for _, p := range f.processes {
			switch {
			case !p.HasRank:
			case p.Rank >= worldLimit:
				j.ledger.Add(trace.CodeBadDefinition, f.Place(-1), fmt.Sprintf("rank %d; more than %d are not believed", p.Rank, worldLimit))
			case byRank[p.Rank] != nil:
				j.ledger.Add(trace.CodeDuplicateDefinition, f.Place(-1), fmt.Sprintf("a second process of rank %d", p.Rank))
			default:
				byRank[p.Rank], p.world = p, p.Rank
			}
		}
		for _, l := range f.tracks() {
			communicates = communicates || l.Comm
		}
	}
	if j.byDevice = len(j.files) == 1 && j.files[0].Devices && len(byRank) == 0; j.byDevice {
		j.deviceRanks(j.files[0])
		return
	}
	if len(byRank) == 0 && (working > 1 || communicates) {
		for _, f := range j.files {
			for _, p := range f.processes {
				if p.Works || working == 0 {
					p.world = uint32(len(byRank))
					byRank[p.world] = p
				}
			}
		}
		if len(byRank) > 1 {
			j.ledger.Add(trace.CodeNumberedRanks, trace.Nowhere(), "")
		}
	}
	for r := range byRank {
		j.size = max(j.size, r+1)
	}
	for _, f := range j.files {
		for _, c := range f.groups { // of ranks that are not in the trace, too
			if j.size > 0 && c.Size <= worldLimit {
				j.size = max(j.size, c.Size)
			}
		}
	}
}

// deviceRanks makes the devices of a file ranks.
func (j *joiner) deviceRanks(f *File) {
	for _, p := range f.processes {
		for _, d := range p.devices {
			if d.Number >= 0 && d.Number < worldLimit {
				j.size = max(j.size, uint32(d.Number)+1)
			}
		}
	}
}

// communicators defines the world and all other communicators.
func (j *joiner) communicators() {
	for i, f := range j.files {
		j.ids[i].Comms = slices.Repeat([]trace.CommID{trace.None}, len(f.groups))
	}
	if j.size == 0 {
		return
	}
	members, all := make([]uint32, j.size), make([]uint32, j.size)
	for r := range members {
		members[r], all[r] = trace.None, uint32(r)
	}
	for _, f := range j.files {
		for _, p := range f.processes {
			if p.world != trace.None {
				members[p.world] = uint32(p.main)
			}
			for _, d := range p.devices {
				if j.byDevice && d.Number >= 0 && d.Number < worldLimit {
					members[d.Number] = uint32(d.main)
				}
			}
		}
	}
	j.members("MPI ranks", trace.GroupCommLocations, members)
	j.world = j.members("MPI_COMM_WORLD", trace.GroupComm, all)
	j.comm("MPI_COMM_WORLD", j.world)
	merged, keys := j.merged()
	listed := make(map[string]trace.CommID)
	total := 0
	for _, key := range keys {
		c := merged[key]
		ranks := c.ranks(j.size)
		if total += len(ranks); total > memberLimit {
			j.ledger.Add(trace.CodeLimitExceeded, trace.Nowhere(), "members of communicators; the last ones are taken for all ranks")
			ranks = nil
		}
		if ranks == nil || slices.Equal(ranks, all) {
			j.comms[key] = j.comm(c.Name, j.world)
			continue
		}
		text := c.Name + "\x00"
		for _, r := range ranks {
			text = string(binary.LittleEndian.AppendUint32([]byte(text), r))
		}
		id, ok := listed[text]
		if !ok {
			id = j.comm(c.Name, j.members(c.Name, trace.GroupComm, ranks))
			listed[text] = id
		}
		j.comms[key] = id
	}
	for i, f := range j.files {
		for k, c := range f.groups {
			if j.ids[i].Comms[k] = j.comms[c.Key]; c.Devices && !j.byDevice { // 0 for that of all ranks
				j.ids[i].Comms[k] = trace.None
			}
		}
	}
}

// merged returns the communicators of all files by their keys, which are in the order of first use.
func (j *joiner) merged() (map[string]*Comm, []string) {
	merged := make(map[string]*Comm)
	var keys []string
	for _, f := range j.files {
		for i := range f.groups[1:] {
			c := &f.groups[i+1]
			known := merged[c.Key]
			if known == nil {
				known = &Comm{Key: c.Key, Name: c.Name, World: c.World, Size: c.Size, Members: make(map[uint32]*Process)}
				merged[c.Key] = known
				keys = append(keys, c.Key)
			}
			if known.World == nil {
				known.World = c.World
			}
			for r, p := range c.Members {
				if known.Members[r] == nil {
					known.Members[r] = p
				}
			}
		}
	}
	return merged, keys
}

// ranks returns the world ranks of a communicator, nil if they are not known.
func (c *Comm) ranks(world uint32) []uint32 {
	if c.World != nil {
		out := slices.Clone(c.World)
		for i, r := range out {
			if r >= world {
				out[i] = trace.None
			}
		}
		return out
	}
	size := uint32(0)
	for r := range c.Members {
		size = max(size, r+1)
	}
	if size = max(size, min(c.Size, world)); len(c.Members) == 0 {
		return nil
	}
	out := slices.Repeat([]uint32{trace.None}, int(size))
	for r, p := range c.Members {
		out[r] = p.world
	}
	return out
}

func (j *joiner) members(name string, kind trace.GroupKind, members []uint32) trace.GroupID {
	id := trace.GroupID(len(j.defs.Groups))
	j.defs.Groups = append(j.defs.Groups, trace.Group{Ref: uint64(id), Name: j.string(name), Kind: kind, Paradigm: trace.ParadigmMPI,
		Members: members})
	return id
}

func (j *joiner) comm(name string, group trace.GroupID) trace.CommID {
	id := trace.CommID(len(j.defs.Comms))
	j.defs.Comms = append(j.defs.Comms, trace.Comm{Ref: uint64(id), Name: j.string(name), Group: group, Remote: trace.None,
		Parent: trace.None})
	return id
}
