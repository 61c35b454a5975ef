package jsontrace

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// An origin says which rank of which job wrote a file.
type origin struct {
	rank      uint32
	hasRank   bool
	worldSize uint64              // as announced
	groups    map[string][]uint32 // ranks of the process groups by name
	about     map[string]string   // what they are for, by name
	gloo      []glooGroup         // those that use gloo
	kineto    bool
	alone     bool // all processes of the file belong to one rank
}

// readDistributedInfo reads the member of that name of a PyTorch trace.
func (o *origin) readDistributedInfo(value []byte) {
	o.kineto = true
	o.worldSize = number(text(member(value, "world_size")))
	if r, ok := integer(text(member(value, "rank"))); ok && r >= 0 && r < 1<<24 {
		o.rank, o.hasRank = uint32(r), true
	}
	o.groups, o.about = make(map[string][]uint32), make(map[string]string)
	elements(member(value, "pg_config"), func(pg []byte) bool {
		if about := text(member(pg, "pg_desc")); len(about) > 0 && string(about) != "undefined" {
			o.about[unescape(text(member(pg, "pg_name")))] = unescape(about)
		}
		if ranks, whole := rankList(member(pg, "ranks")); whole {
			o.groups[unescape(text(member(pg, "pg_name")))] = ranks
			if bytes.Contains(member(pg, "backend_config"), []byte("gloo")) {
				o.gloo = append(o.gloo, glooGroup{unescape(text(member(pg, "pg_name"))), ranks})
			}
		}
		return true
	})
}

// soleRanks returns the ranks that communicate, by gloo or otherwise, if nothing says which do: those of the rank's groups, if these are
// the same, nil for all ranks if no group is known. ok is false if groups differ.
func (o *origin) soleRanks(gloo bool) (ranks []uint32, ok bool) {
	groups := slices.Collect(maps.Values(o.groups))
	if gloo {
		groups = groups[:0]
		for _, g := range o.gloo {
			groups = append(groups, g.ranks)
		}
	}
	for _, g := range groups {
		switch {
		case len(g) < 2 || o.hasRank && !slices.Contains(g, o.rank):
		case ranks == nil:
			ranks = g
		case !slices.Equal(g, ranks):
			return nil, false
		}
	}
	return ranks, true
}

// rankFromName finds the rank in the name of a file: rank3, rank-3, rank[3], worker3.
func (o *origin) rankFromName(path string) {
	if !o.hasRank {
		o.rank, o.hasRank = rankInName(filepath.Base(path))
	}
}

var namedRank = trace.Expression(`(?i)(?:rank|worker)[-_ \[]{0,2}(\d{1,7})`)

// rankInName returns the rank that a name names.
func rankInName(name string) (rank uint32, ok bool) {
	m := namedRank().FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, _ := integer([]byte(m[1]))
	return uint32(n), true
}

// rankList reads a list of ranks, which may be a string; whole is false if the writer has
// cut it short.
func rankList(raw []byte) (ranks []uint32, whole bool) {
	s := bytes.Trim(text(raw), "[]")
	for part := range bytes.SplitSeq(s, []byte(",")) {
		part = bytes.TrimSpace(part)
		if len(part) == 0 {
			continue
		}
		r := rankNumber(part)
		if r == trace.None {
			return ranks, false
		}
		ranks = append(ranks, r)
	}
	return ranks, len(ranks) > 0
}

// kernelArgs are what PyTorch notes on the kernels of a collective operation, raw.
type kernelArgs struct {
	op, in, out, dtype, size, group, about, ranks, start, stride, src, dst []byte
}

func readKernelArgs(args []byte) (a kernelArgs) {
	members(args, func(key, value []byte) bool {
		switch string(key) {
		case "Collective name":
			a.op = text(value)
		case "In msg nelems":
			a.in = text(value)
		case "Out msg nelems":
			a.out = text(value)
		case "dtype":
			a.dtype = text(value)
		case "Group size":
			a.size = text(value)
		case "Process Group Name":
			a.group = text(value)
		case "Process Group Description":
			a.about = text(value)
		case "Process Group Ranks":
			a.ranks = value
		case "Global rank start":
			a.start = text(value)
		case "Global rank stride":
			a.stride = text(value)
		case "Src Rank":
			a.src = text(value)
		case "Dst Rank":
			a.dst = text(value)
		}
		return true
	})
	return a
}

// kernelCall reads the communication of a kernel: from its arguments, or, in traces that
// have none, from its name, on the only group that there is.
func (f *file) kernelCall(r *region, ev *event) nest.Call {
	a := readKernelArgs(ev.args)
	c := nest.Call{Operation: r.op, Peer: trace.RootNone}
	if op := nest.OperationByName(string(a.op)); op != nest.OpNone {
		c.Operation = op
		r.op = op // generic kernels do what their arguments say
	}
	if c.Operation == nest.OpUnnamed {
		return nest.Call{}
	}
	bytes := nest.ElementBytes(string(a.dtype))
	c.Sent, c.Received = number(a.in)*bytes, number(a.out)*bytes
	if a.in == nil {
		postpone(&c, ev.args)
	}
	switch c.Operation {
	case nest.OpSend:
		c.Peer = rankNumber(a.dst)
	case nest.OpRecv:
		c.Peer = rankNumber(a.src)
	}
	if a.group != nil || a.ranks != nil {
		c.Comm = f.comms.find(a.describe, a.group, a.ranks, a.start, a.stride, a.size)
	} else {
		c.Comm = f.unnamed(r.peers)
	}
	return c
}

// unnamed returns the group of collectives that name none.
func (f *file) unnamed(peers bool) uint32 {
	return f.comms.find(func() group { return group{sole: true, peers: peers} }, []byte("sole"), strconv.AppendBool(nil, peers))
}

// recorded reads the message that is called for, with what kernels of messages have as arguments; it is none if it is a collective.
func (f *file) recorded(ev *event) nest.Call {
	a := readKernelArgs(ev.args)
	if op := nest.OperationByName(string(a.op)); !op.IsMessage() {
		return nest.Call{}
	}
	return f.kernelCall(&region{op: nest.OpUnnamed}, ev)
}

// describe makes a group of the arguments.
func (a *kernelArgs) describe() group {
	g := group{name: unescape(a.group), about: unescape(a.about)}
	if ranks, whole := rankList(a.ranks); whole {
		g.ranks = ranks
		return g
	}
	g.size = uint32(min(number(a.size), 1<<24))
	g.start = uint32(number(a.start))
	g.stride = uint32(number(a.stride))
	return g
}
