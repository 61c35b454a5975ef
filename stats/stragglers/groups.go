package stragglers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/training"
	"tracekit/trace"
)

// roleByName returns what a process group is for by its description or name, as Megatron, torchtitan and vLLM give them; "" if these do
// not say.
func roleByName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	has := func(any ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
	}
	data, tensor := has("dp", "ddp", "fsdp", "efsdp", "batch", "loss", "data", "replicate", "shard", "optimizer"), has("tp", "tensor")
	switch {
	case has("embedding", "embd"):
		return training.RoleEmbedding
	case data && tensor:
		return ""
	case data:
		return training.RoleData
	case has("pp", "pipeline"):
		return training.RolePipeline
	case has("ep", "expert"):
		return training.RoleExpert
	case tensor:
		return training.RoleTensor
	case has("cp", "context"):
		return training.RoleContext
	case has("mp", "model"):
		return training.RoleModel
	case has("default", "world"):
		return training.RoleAll
	}
	return ""
}

// roleByNames returns what a process group is for by the names of all that it may be.
func roleByNames(names string) string {
	role := ""
	for i, name := range strings.Split(names, trace.Or) {
		of := roleByName(name)
		if i > 0 && of != role {
			return ""
		}
		role = of
	}
	return role
}

// roleByWorkers returns what a process group is for by the names of the processes of its ranks; "" if these do not say.
func roleByWorkers(d *trace.Defs, ranks []uint32) string {
	world := d.World()
	processes := make([]string, len(ranks))
	for i, r := range ranks {
		if int(r) < len(world) && int(world[r]) < len(d.Locations) {
			if g := d.Locations[world[r]].Group; int(g) < len(d.LocationGroups) {
				processes[i] = d.String(d.LocationGroups[g].Name)
			}
		}
	}
	switch trace.WorkerDimension(processes) {
	case trace.DimensionTensor:
		return training.RoleTensor
	case trace.DimensionPipeline:
		return training.RolePipeline
	case trace.DimensionData:
		return training.RoleData
	}
	return ""
}

// A usage counts what a communicator is used for.
type usage struct {
	messages, forwardReduce, forwardScatter, exchange, backward, parameters, tail, other int

	forwardBytes, backwardBytes float64
}

// A processGroup is a communicator, and what it is for.
type processGroup struct {
	name  string
	ranks []uint32 // in the order of the group
	steps int      // of all its ranks
	usage
	role  string
	by    string // name, use, members
	lacks bool   // the file of a member
}

// groupsOf finds what the communicators of a job are for.
func groupsOf(d *trace.Defs, ranks []*ranked) []processGroup {
	world := uint32(len(d.World()))
	of, has := d.Ranks(), recorded(ranks)
	groups := make([]processGroup, len(d.Comms))
	trains, serves := false, false
	for _, r := range ranks {
		trains, serves = trains || r.named[backward], serves || r.marks == servedStep
	}
	for _, r := range ranks {
		for i := range r.calls {
			if c := &r.calls[i]; int(c.comm) < len(groups) {
				groups[c.comm].use(c)
			}
		}
	}
	for i := range groups {
		g, c := &groups[i], &d.Comms[i]
		g.name = d.String(c.Name)
		about := g.name
		if int(c.Group) < len(d.Groups) {
			g.ranks = d.Groups[c.Group].WorldRanks(of, world)
			about = cmp.Or(d.String(d.Groups[c.Group].Name), g.name)
		}
		g.lacks = slices.ContainsFunc(g.ranks, func(r uint32) bool { return !has[r] })
		for _, r := range ranks {
			if slices.Contains(g.ranks, r.rank) {
				g.steps += r.steps
			}
		}
		if g.role = roleByNames(about); g.role != "" && g.role != training.RoleAll {
			g.name, g.by = about, training.ByName
			continue
		}
		if role := roleByWorkers(d, g.ranks); role != "" {
			g.role, g.by = role, training.ByName
			continue
		}
		if g.role, g.by = g.roleByUse(trains, serves), training.ByUse; g.role == "" && len(g.ranks) == int(world) {
			g.role, g.by = training.RoleAll, training.ByMembers
		}
	}
	return groups
}

// use counts a call.
func (u *usage) use(c *call) {
	passes := c.within == forward || c.within == backward || c.within == weights
	switch {
	case c.peer != none:
		if !c.tail {
			u.messages++
		}
	case c.tail && scatters(c.op), c.begun == 0 && gathers(c.op):
		u.parameters++
	case c.tail:
		u.tail++
	case c.op == trace.CollAlltoall || c.op == trace.CollAlltoallv:
		u.exchange++
	case c.within == backward || c.within == weights:
		u.backward++
		u.backwardBytes += float64(c.bytes)
	case passes && c.op == trace.CollAllreduce:
		u.forwardReduce++
		u.forwardBytes += float64(c.bytes)
	case passes && scatters(c.op):
		u.forwardScatter++
		u.forwardBytes += float64(c.bytes)
	default:
		u.other++
	}
}

func gathers(op trace.CollectiveOp) bool {
	return op == trace.CollAllgather || op == trace.CollAllgatherv
}

func scatters(op trace.CollectiveOp) bool {
	return op == trace.CollReduceScatter || op == trace.CollReduceScatterBlock
}

// rare is how many reductions within backward passes there are for each within a forward pass where the latter say nothing; of bytes, too.
const rare = 8

// roleByUse returns what a group is for by what it does: tensors of the forward pass are summed within a worker, in each step more than
// once; gradients over all workers. trains tells that backward passes are told apart from forward ones, serves that there are
// none.
func (g *processGroup) roleByUse(trains, serves bool) string {
	reduced := g.forwardReduce + g.forwardScatter
	switch {
	case serves && reduced > 0, // fewer, or less, are of a step that is not recorded whole, or of a number such as that of tokens
		trains && reduced > g.steps && rare*reduced > g.backward && rare*g.forwardBytes >= g.backwardBytes:
		return training.RoleTensor
	case g.exchange > 0:
		return training.RoleExpert
	case g.messages > 0:
		return training.RolePipeline
	case g.backward+g.parameters > 0:
		return training.RoleData
	}
	return ""
}

// A grid says where the ranks of a job are: data-parallel rank, lane and stage. A lane is a place in the groups that share the
// computation of a worker: tensor- and context-parallel ones.
type grid struct {
	dps, lanes, stages int
	at                 map[uint32]coordinate // of ranks in complete columns
	leftOut            []uint32              // recorded ranks whose column is not complete
}

type coordinate struct{ dp, lane, stage int }

func (g *grid) column(c coordinate) int { return c.dp*g.lanes + c.lane }

// place finds the grid.
func place(groups []processGroup, ranks []*ranked, world int) (*grid, error) {
	all := make([]coordinate, world)
	stages, err := stagesOf(groups, ranks, world)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		groups[i].roleByMembers(stages)
	}
	lanes := 1
	for _, role := range []string{training.RoleTensor, training.RoleContext} {
		index, size := make([]int, world), 1
		for i := range groups {
			if g := &groups[i]; g.role == role && sameStage(g.ranks, stages) {
				for k, r := range g.ranks {
					if int(r) < world {
						index[r], size = k, max(size, len(g.ranks))
					}
				}
			}
		}
		for r := range all {
			all[r].lane = all[r].lane*size + index[r]
		}
		lanes *= size
	}
	g := &grid{lanes: lanes, at: make(map[uint32]coordinate)}
	next := make(map[coordinate]int)
	for r := range all {
		all[r].stage = stages[r]
		if stages[r] < 0 {
			continue
		}
		k := coordinate{0, all[r].lane, stages[r]}
		all[r].dp = next[k]
		next[k]++
		g.stages, g.dps = max(g.stages, stages[r]+1), max(g.dps, next[k])
	}
	if float64(g.dps)*float64(g.lanes)*float64(g.stages) > mostWorkers { // which an int may not hold
		return nil, &MissingError{fmt.Sprintf("%d × %d × %d ranks are too many", g.dps, g.lanes, g.stages)}
	}
	recorded := make(map[int]int) // stages by column
	for r, alone := range incomparable(groups, ranks) {
		if !alone {
			recorded[g.column(all[ranks[r].rank])]++
		}
	}
	for _, r := range ranks {
		if c := all[r.rank]; recorded[g.column(c)] == g.stages && c.stage >= 0 {
			g.at[r.rank] = c
		} else {
			g.leftOut = append(g.leftOut, r.rank)
		}
	}
	switch {
	case len(g.at) == 0:
		return nil, &MissingError{"no data-parallel rank has files of all ranks that work for it"}
	case len(g.at) == 1 && len(ranks) > 1:
		return nil, &MissingError{"all ranks but one miss the file of a rank that works with them"}
	}
	return g, nil
}

// recorded tells which ranks have a file.
func recorded(ranks []*ranked) map[uint32]bool {
	has := make(map[uint32]bool, len(ranks))
	for _, r := range ranks {
		has[r.rank] = true
	}
	return has
}

// incomparable reports which ranks miss others in a way of their own, so that how long they compute cannot be compared: those that exchange
// messages of their pipeline with a rank that has no file, for what its stages are is unknown, and those that wait for one while they
// compute, in a communicator in which not all wait.
func incomparable(groups []processGroup, ranks []*ranked) []bool {
	has := recorded(ranks)
	out, waits, of := make([]bool, len(ranks)), make([]map[trace.CommID]bool, len(ranks)), make(map[trace.CommID]int)
	for k, r := range ranks {
		waits[k] = make(map[trace.CommID]bool)
		for i := range r.calls {
			c := &r.calls[i]
			if int(c.comm) >= len(groups) || !groups[c.comm].lacks {
				continue
			}
			g := &groups[c.comm]
			if c.peer != none {
				out[k] = out[k] || g.role == training.RolePipeline && int(c.peer) < len(g.ranks) && !has[g.ranks[c.peer]]
			} else if what, _ := g.kind(c); what == kinds && !waits[k][c.comm] {
				waits[k][c.comm] = true
				of[c.comm]++
			}
		}
	}
	for k := range ranks {
		for comm := range waits[k] {
			out[k] = out[k] || of[comm] < len(ranks)
		}
	}
	return out
}

// roleByMembers returns what a group without a role is for by the stages of its members.
func (g *processGroup) roleByMembers(stages []int) {
	if g.role != "" || g.tail == 0 || len(g.ranks) < 2 || len(g.ranks) == len(stages) {
		return
	}
	last := slices.Max(stages)
	ends := len(g.ranks) == 2 && last > 0
	for k, want := range []int{0, last} {
		ends = ends && int(g.ranks[k]) < len(stages) && stages[g.ranks[k]] == want
	}
	switch {
	case ends:
		g.role, g.by = training.RoleEmbedding, training.ByMembers
	case sameStage(g.ranks, stages):
		g.role, g.by = training.RoleData, training.ByMembers
	}
}

func sameStage(ranks []uint32, stages []int) bool {
	for _, r := range ranks {
		if int(r) >= len(stages) || stages[r] != stages[ranks[0]] {
			return false
		}
	}
	return true
}

// stagesOf returns the stage of each rank: its place in its pipeline group, or, where the group of messages is not known, that by who
// sends to whom in the forward pass; -1: not known.
func stagesOf(groups []processGroup, ranks []*ranked, world int) ([]int, error) {
	stages := make([]int, world)
	placed := false
	for i := range groups {
		g := &groups[i]
		if g.role != training.RolePipeline || len(g.ranks) < 2 || len(g.ranks) == world && g.by != training.ByName {
			continue
		}
		for k, r := range g.ranks {
			if int(r) < world {
				stages[r], placed = k, true
			}
		}
	}
	if placed {
		return stages, nil
	}
	to, receives := make(map[uint32]uint32), make(map[uint32]bool)
	for _, r := range ranks {
		for i := range r.calls {
			c := &r.calls[i]
			if c.peer == none || c.tail || int(c.comm) >= len(groups) || int(c.peer) >= len(groups[c.comm].ranks) {
				continue
			}
			if c.sends && c.within == forward {
				peer := groups[c.comm].ranks[c.peer]
				if _, known := to[r.rank]; !known {
					to[r.rank], receives[peer] = peer, true
				}
			}
		}
	}
	if len(to) == 0 {
		return stages, nil
	}
	for r := range stages {
		stages[r] = -1
	}
	for _, r := range ranks {
		if receives[r.rank] {
			continue
		}
		at, more := r.rank, true
		for k := 0; more && k < world && int(at) < world; k++ {
			stages[at] = k
			at, more = to[at]
		}
	}
	for _, r := range ranks {
		if stages[r.rank] < 0 {
			return stagesNamed(ranks, world)
		}
	}
	return stages, nil
}

// stagesNamed returns the stage of each rank by the first stage of the model whose passes it names; the error is a *MissingError if these
// are not all from the first one on.
func stagesNamed(ranks []*ranked, world int) ([]int, error) {
	stages, has := slices.Repeat([]int{-1}, world), make(map[int]bool)
	for _, r := range ranks {
		if r.stage < uint32(world) {
			stages[r.rank], has[int(r.stage)] = int(r.stage), true
		}
	}
	for _, r := range ranks {
		if s := stages[r.rank]; s < 0 || s >= len(has) {
			return nil, &MissingError{"the order of pipeline stages: ranks send in a circle, no process group is described as that of a pipeline, " +
				"and passes are not named with their stage, as in PP:1F3; give the group a description, or update PyTorch"}
		}
	}
	return stages, nil
}

// shown describes the groups by what they are for.
func shown(groups []processGroup) (rows []training.ProcessGroups) {
	for i := range groups {
		g := &groups[i]
		if g.usage == (usage{}) {
			continue
		}
		row := training.ProcessGroups{Role: cmp.Or(g.role, training.RoleUnknown), By: g.by, Ranks: len(g.ranks), Example: g.name}
		if g.role == "" {
			row.By = ""
		}
		k := slices.IndexFunc(rows, func(r training.ProcessGroups) bool {
			return r.Role == row.Role && r.By == row.By && r.Ranks == row.Ranks
		})
		if k < 0 {
			k, rows = len(rows), append(rows, row)
		}
		rows[k].Groups++
	}
	return rows
}
