package jsontrace

import (
	"fmt"

	"tracekit/trace"
)

// ncclArgs are what NCCL's profiler notes on collectives and messages, raw.
type ncclArgs struct {
	hash, rank, peer, root, count, datatype []byte
}

func readNcclArgs(args []byte) (a ncclArgs) {
	members(args, func(key, value []byte) bool {
		switch string(key) {
		case "CommHash":
			a.hash = text(value)
		case "Rank":
			a.rank = text(value)
		case "Peer":
			a.peer = text(value)
		case "Root":
			a.root = text(value)
		case "Count":
			a.count = text(value)
		case "Datatype":
			a.datatype = text(value)
		}
		return true
	})
	return a
}

// ncclCall reads the begin of a collective or message of NCCL's profiler, where threads of
// one process may be different ranks: each rank has a lane of its own. The communicator
// that is named first is taken for that of all ranks; of others the profiler does not say
// who is in them, so that nothing is returned for them.
func (f *file) ncclCall(r *region, ev *event) (call, *lane) {
	a := readNcclArgs(ev.args)
	rank := rankNumber(a.rank)
	if a.hash == nil || rank >= worldLimit {
		return call{}, nil
	}
	if f.ncclWorld == "" {
		f.ncclWorld = string(a.hash)
	}
	if f.ncclWorld != string(a.hash) {
		return call{}, nil
	}
	process := f.names.text(fmt.Sprintf("NCCL rank %d", rank))
	l := f.lanes.get(laneKey{pid: ident{true, int64(process)}, tid: ident{true, int64(r.cat)}, async: true})
	if l == nil {
		return call{}, nil
	}
	l.rank, l.hasRank = rank, true
	f.meta.processes[l.pid] = f.names.list[process]
	bytes := number(a.count) * elementBytes(string(a.datatype))
	c := call{operation: r.op, peer: trace.RootNone, sent: bytes, received: bytes}
	switch {
	case r.op.isMessage():
		c.peer = rankNumber(a.peer)
	case a.root != nil:
		c.peer = rankNumber(a.root)
	}
	return c, l
}
