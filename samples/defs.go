package samples

import (
	"fmt"
	"strings"

	"tracekit/trace"
)

// A definer makes definitions; it keeps the number of each string.
type definer struct {
	*trace.Defs
	strings map[string]trace.StringID
}

func (d *definer) text(s string) trace.StringID {
	if id, ok := d.strings[s]; ok {
		return id
	}
	id := trace.StringID(len(d.Strings))
	d.Strings = append(d.Strings, s)
	d.strings[s] = id
	return id
}

// makeDefs returns the definitions of a generated trace.
func makeDefs(o Options, p *plan, clocks []localClock) *trace.Defs {
	d := &definer{&trace.Defs{}, make(map[string]trace.StringID)}
	d.text("")
	d.Clock = trace.ClockProperties{Resolution: 1e9, GlobalOffset: startTime, Realtime: 1<<64 - 1}
	d.machine(o, clocks)
	d.regions(o.Program+".c", p.regions)
	d.communicators(o, p.comms)
	return d.Defs
}

// machine defines one node with all processes and threads; a node for each process if they have
// clocks of their own.
func (d *definer) machine(o Options, clocks []localClock) {
	d.SystemTree = []trace.SystemTreeNode{{Name: d.text("simulated"), Class: d.text("machine"), Parent: trace.None}}
	nodes := 1
	if o.Plant.Skew != 0 || o.Plant.Drift != 0 {
		nodes = o.Ranks
	}
	for n := range nodes {
		d.SystemTree = append(d.SystemTree, trace.SystemTreeNode{Ref: uint64(n + 1), Name: d.text(fmt.Sprintf("node %d", n)),
			Class: d.text("node"), Parent: 0})
	}
	for r := range o.Ranks {
		d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(r),
			Name: d.text(fmt.Sprintf("MPI Rank %d", r)), Kind: 1, Node: trace.SystemTreeNodeID(1 + r%nodes), Creator: trace.None})
		for t := range o.Threads {
			name := "Master thread"
			if t > 0 {
				name = fmt.Sprintf("Thread %d", t)
			}
			d.Locations = append(d.Locations, trace.Location{Ref: uint64(r*o.Threads + t), Name: d.text(name),
				Kind: trace.LocationCPUThread, Group: trace.LocationGroupID(r),
				ClockOffsets: recordedOffsets(o.Plant.Offsets, clocks, r)})
		}
	}
}

// regions defines regions in the order of their constants.
func (d *definer) regions(file string, user []userRegion) {
	d.user(file, "main", 10, trace.ParadigmUser)
	d.user(file, "compute", 20, trace.ParadigmUser)
	d.user(file, "parallel", 30, trace.ParadigmOpenMP)
	d.user(file, "episode", 40, trace.ParadigmUser)
	for _, name := range mpiNames {
		d.mpi(name)
	}
	for op := trace.CollBarrier; op <= trace.CollReduceScatterBlock; op++ {
		d.mpi("MPI_" + op.String())
	}
	for op := trace.CollBarrier; op <= trace.CollReduceScatterBlock; op++ {
		d.mpi("MPI_I" + strings.ToLower(op.String()))
	}
	for _, u := range user {
		d.user(file, u.name, u.line, trace.ParadigmUser)
	}
}

func (d *definer) region(name string, r trace.Region) {
	r.Ref = uint64(len(d.Regions))
	r.Name, r.Description = d.text(name), d.text("")
	r.Canonical = r.Name
	d.Regions = append(d.Regions, r)
}

func (d *definer) user(file, name string, line uint32, p trace.Paradigm) {
	d.region(name, trace.Region{Role: trace.RoleFunction, Paradigm: p, File: d.text(file), BeginLine: line, EndLine: line + 9})
}

// mpi defines an MPI function with the role that Score-P gives it.
func (d *definer) mpi(name string) {
	d.region(name, trace.Region{Role: trace.MPIFunctionOf(name).Role(), Paradigm: trace.ParadigmMPI, File: d.text("MPI")})
}

// communicators defines those of the program, and a team of threads for each process.
func (d *definer) communicators(o Options, comms []namedComm) {
	masters := make([]uint32, o.Ranks)
	for r := range masters {
		masters[r] = uint32(r * o.Threads)
	}
	d.group(trace.GroupCommLocations, trace.ParadigmMPI, masters)
	for _, c := range comms {
		comm := trace.Comm{Ref: uint64(len(d.Comms)), Name: d.text(c.name), Remote: trace.None, Parent: 0}
		switch {
		case c.self:
			comm.Group, comm.Parent = d.group(trace.GroupCommSelf, trace.ParadigmMPI, nil), trace.None
		default:
			comm.Group = d.group(trace.GroupComm, trace.ParadigmMPI, members(c.world))
		}
		if c.other != nil {
			comm.Remote, comm.Inter = d.group(trace.GroupComm, trace.ParadigmMPI, members(c.other)), true
		}
		if len(d.Comms) == 0 {
			comm.Parent = trace.None
		}
		d.Comms = append(d.Comms, comm)
	}
	if o.Threads > 1 {
		d.teams(o)
	}
}

// teams defines an OpenMP communicator for each process; thread events name it.
func (d *definer) teams(o Options) {
	all := make([]uint32, len(d.Locations))
	for i := range all {
		all[i] = uint32(i)
	}
	d.group(trace.GroupCommLocations, trace.ParadigmOpenMP, all)
	for r := range o.Ranks {
		g := d.group(trace.GroupComm, trace.ParadigmOpenMP, all[r*o.Threads:(r+1)*o.Threads])
		d.Comms = append(d.Comms, trace.Comm{Ref: uint64(len(d.Comms)), Name: d.text("OpenMP team"), Group: g,
			Remote: trace.None, Parent: trace.None})
	}
}

func (d *definer) group(kind trace.GroupKind, p trace.Paradigm, members []uint32) trace.GroupID {
	id := trace.GroupID(len(d.Groups))
	d.Groups = append(d.Groups, trace.Group{Ref: uint64(id), Name: d.text(""), Kind: kind, Paradigm: p, Members: members})
	return id
}

func members(world []int) []uint32 {
	m := make([]uint32, len(world))
	for i, w := range world {
		m[i] = uint32(w)
	}
	return m
}
