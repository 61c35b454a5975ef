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

// rankVariables are the variables of the environment by which launchers tell a process its rank, the surest first.
var rankVariables = [...]string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "SLURM_PROCID",
	"RANK"}

// Unsure is how sure a rank is that nothing tells.
const Unsure = len(rankVariables)

var rankPatterns = func() (patterns [Unsure]func() *regexp.Regexp) {
	for i, name := range rankVariables {
		patterns[i] = trace.Expression(`(?:^|[\x00\n ",{])` + name + `"? ?[=:] ?"?(\d{1,7})(?:[\x00\n ",}]|$)`)
	}
	return patterns
}()

// RankIn returns the rank that an environment tells by a variable that is surer than surest: the less, the surer; surest if none does.
// Nothing else of the environment is looked at, since it may hold what is secret.
func RankIn(environment []byte, surest int) (rank uint32, sure int) {
	for i, p := range rankPatterns[:surest] {
		if m := p().FindSubmatch(environment); m != nil {
			n, _ := strconv.ParseUint(string(m[1]), 10, 32)
			return uint32(n), i
		}
	}
	return 0, surest
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
	if missing := slices.Index(members, trace.None); missing >= 0 && !j.files[0].Table && !j.byDevice { // a table need not have all ranks
		n := len(slices.DeleteFunc(slices.Clone(members), func(l uint32) bool { return l != trace.None }))
		j.ledger.AddN(trace.CodeMissingFile, uint64(n), trace.Nowhere(),
			fmt.Sprintf("rank %d of %d is in none of the files", missing, len(members)))
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
