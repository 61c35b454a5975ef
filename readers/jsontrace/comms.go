package jsontrace

import (
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// A group says which ranks communicate: a process group of PyTorch, a communicator of MPI.
type group struct {
	name    string
	about   string   // what the writer says that it is for, such as DATA_PARALLEL_GROUP
	ranks   []uint32 // nil: not recorded, all ranks
	gloo    bool     // a group that uses gloo, whose name is not recorded
	devices bool     // ranks are numbers of devices
	sole    bool     // the only group that there is, as none is recorded
	peers   bool     // of collectives that reach into the memory of peers, if sole
	// A list of ranks that the writer has cut short is recorded as the first rank, their
	// number and the distance between neighbours.
	start, size, stride uint32

	thread   *glooThread       // of collectives of gloo
	messages [2]map[uint32]int // of gloo: how many are received and sent, by peer
}

// comms finds groups by the raw text that describes them. Number 0 is the world.
type comms struct {
	list    []group
	byRaw   map[string]uint32
	scratch []byte
	bytes   int    // of memory
	lost    uint64 // calls on groups beyond the limits
}

func newComms() *comms {
	return &comms{list: []group{{name: "MPI_COMM_WORLD"}}, byRaw: map[string]uint32{"": 0}}
}

// The groups of a file are bounded in number and in memory; further ones are taken for the
// world.
const (
	commLimit      = 1 << 16
	commBytesLimit = 64 << 20
)

// find returns the group of that description, made by describe if it is new.
func (c *comms) find(describe func() group, raw ...[]byte) uint32 {
	c.scratch = c.scratch[:0]
	for _, r := range raw {
		c.scratch = append(append(c.scratch, r...), 0)
	}
	if id, ok := c.byRaw[string(c.scratch)]; ok {
		return id
	}
	if len(c.list) >= commLimit || c.bytes > commBytesLimit {
		c.lost++
		return 0
	}
	id := uint32(len(c.list))
	c.list = append(c.list, describe())
	c.bytes += len(c.scratch) + 4*len(c.list[id].ranks)
	c.byRaw[string(c.scratch)] = id
	return id
}

// call reads what the arguments of a slice say about its communication.
func (f *file) call(l *track, r *region, ev *event) nest.Call {
	switch {
	case r.gpu:
		return f.kernelCall(r, ev)
	case r.peers:
		bytes := tensorBytes(ev.args)
		return nest.Call{Operation: r.op, Comm: f.unnamed(true), Peer: trace.RootNone, Sent: bytes, Received: bytes}
	case r.gloo:
		return f.glooCall(l, r, ev)
	}
	return f.functionCall(r, ev)
}

// commArgs are the arguments of MPI calls under their usual names, raw.
type commArgs struct {
	op, comm, root, tag, bytes, in, out, src, dst []byte
}

func readCommArgs(args []byte) (a commArgs) {
	members(args, func(key, value []byte) bool {
		switch strings.ToLower(string(key)) {
		case "op":
			a.op = text(value)
		case "comm", "communicator":
			a.comm = text(value)
		case "root":
			a.root = text(value)
		case "tag":
			a.tag = text(value)
		case "bytes", "size", "nbytes", "length", "message-size":
			a.bytes = text(value)
		case "bytes_in":
			a.in = text(value)
		case "bytes_out":
			a.out = text(value)
		case "src", "source", "from":
			a.src = text(value)
		case "dst", "dest", "destination", "to", "peer":
			a.dst = text(value)
		}
		return true
	})
	return a
}

// functionCall reads the arguments of an MPI function: those of a collective one if they
// name the operation or the communicator, those of a blocking message if they name the
// peer.
func (f *file) functionCall(r *region, ev *event) nest.Call {
	a := readCommArgs(ev.args)
	c := nest.Call{Comm: f.commByName(a.comm), Tag: uint32(number(a.tag)), Peer: trace.RootNone}
	switch {
	case r.mpi.Class == trace.ClassColl && (a.op != nil || a.comm != nil):
		c.Operation = nest.Collective(r.mpi.Op)
		c.Sent, c.Received = number(a.in), number(a.out)
		if root, ok := integer(a.root); ok {
			c.Peer = uint32(root)
		}
	case (r.mpi.Class == trace.ClassSend || r.mpi.Class == trace.ClassBsend) && a.dst != nil:
		c.Operation, c.Peer, c.Sent = nest.OpSend, rankNumber(a.dst), number(a.bytes)
	case r.mpi.Class == trace.ClassRecv && a.src != nil:
		c.Operation, c.Peer, c.Received = nest.OpRecv, rankNumber(a.src), number(a.bytes)
	}
	return c
}

// commByName returns the group that a file calls by a number or name.
func (f *file) commByName(name []byte) uint32 {
	switch string(name) {
	case "", "0", "world", "MPI_COMM_WORLD":
		return 0
	}
	return f.comms.find(func() group { return group{name: unescape(name)} }, name)
}

// number returns an unsigned integer, 0 if it is none.
func number(s []byte) uint64 {
	u, neg, ok := unsigned(s)
	if !ok || neg {
		return 0
	}
	return u
}

// rankNumber returns a rank, None if it is none.
func rankNumber(s []byte) uint32 {
	if n, ok := integer(s); ok && n >= 0 && n < trace.None {
		return uint32(n)
	}
	return trace.None
}
