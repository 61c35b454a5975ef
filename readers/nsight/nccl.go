package nsight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// ncclRanges finds what a kernel of NCCL communicates: the range of the library's function encloses the
// call that launches it, and its payload has the sizes.
type ncclRanges struct {
	spans    map[*thread][]ncclSpan // ascending in begin
	launches map[ncclLaunch]ncclSpan
	held     int
	lost     uint64 // ranges that come too late or are too many, launches that are too many
	bare     uint64 // ranges that communicate, without a payload
	unread   uint64 // those whose payload cannot be read
}

type ncclLaunch struct {
	process     *process
	correlation int64
}

// An ncclSpan is a call of NCCL with its payload.
type ncclSpan struct {
	begin, end int64
	op         nest.Operation
	bytes      uint64
	peer       uint32 // or the root
	comm       uint64 // 0: not known
	ranks      uint32
}

const (
	ncclLimit = 1 << 20 // bounds the number of ranges and that of launches
	ncclDelay = 64      // how many later ranges may come before one
)

func newNcclRanges() ncclRanges {
	return ncclRanges{spans: make(map[*thread][]ncclSpan), launches: make(map[ncclLaunch]ncclSpan)}
}

// span takes a range of NCCL, with the numbers of its payload; known tells whether all that it has could be read.
func (n *ncclRanges) span(t *thread, name string, begin, dur int64, fields map[string]uint64, known bool) {
	op := nest.OperationByName(strings.TrimPrefix(name, "nccl"))
	if len(fields) == 0 && op != nest.OpNone {
		if known {
			n.bare++
		} else {
			n.unread++
		}
	}
	if len(fields) == 0 || dur == openEnd {
		return
	}
	s := ncclSpan{begin: begin, end: nest.AddTime(begin, dur), op: op, bytes: fields["Message size [bytes]"] + fields["Bytes"],
		peer: trace.RootNone, comm: fields["NCCL communicator ID"], ranks: uint32(min(fields["No. of ranks"], trace.None-1))}
	for _, key := range []string{"Root", "Peer rank", "Peer"} {
		if v, ok := fields[key]; ok && v < trace.None {
			s.peer = uint32(v)
		}
	}
	if rank, ok := fields["Rank"]; ok && strings.HasPrefix(name, "ncclCommInit") && s.comm != 0 && rank < trace.None {
		f := t.process.Process
		f.Join(ncclKey(s.comm), func() recording.Comm { return s.describe() }, uint32(rank))
	}
	if s.op == nest.OpNone {
		return
	}
	spans := n.spans[t]
	i := len(spans) // nearly always the last
	for i > 0 && len(spans)-i < ncclDelay && spans[i-1].begin > begin {
		i--
	}
	if n.held == ncclLimit || i > 0 && spans[i-1].begin > begin {
		n.lost++
		return
	}
	n.held++
	n.spans[t] = slices.Insert(spans, i, s)
}

func ncclKey(comm uint64) string { return fmt.Sprintf("nccl %x", comm) }

func (s *ncclSpan) describe() recording.Comm {
	return recording.Comm{Name: fmt.Sprintf("NCCL communicator %x", s.comm), Size: s.ranks}
}

// launch takes a call of the runtime.
func (n *ncclRanges) launch(t *thread, begin, correlation int64) {
	spans := n.spans[t]
	if len(spans) == 0 {
		return
	}
	i, found := slices.BinarySearchFunc(spans, begin, func(s ncclSpan, b int64) int { return cmp.Compare(s.begin, b) })
	if !found {
		i--
	}
	if i < 0 || begin > spans[i].end {
		return
	}
	if len(n.launches) == ncclLimit {
		n.lost++
		return
	}
	n.launches[ncclLaunch{t.process, correlation}] = spans[i]
}

// call returns what a kernel communicates: by its launch, else by its name, on the group of all ranks.
func (n *ncclRanges) call(f *recording.File, p *process, region trace.RegionID, correlation int64) nest.Call {
	c := nest.Call{Operation: f.Operation(region), Peer: trace.RootNone}
	if c.Operation == nest.OpNone {
		return nest.Call{}
	}
	if s, ok := n.launches[ncclLaunch{p, correlation}]; ok {
		c.Operation, c.Peer, c.Sent = s.op, s.peer, s.bytes
		if s.comm != 0 {
			c.Comm = f.Comm(ncclKey(s.comm), s.describe)
		}
		switch {
		case c.Operation == nest.OpRecv:
			c.Sent, c.Received = 0, s.bytes
		case c.Operation == nest.OpSend:
		case c.Collective() == trace.CollAllreduce, c.Collective() == trace.CollAlltoall:
			c.Received = s.bytes
		}
	}
	if c.Operation == nest.OpUnnamed {
		return nest.Call{}
	}
	return c
}

// note tells of what was more than is kept, and what sizes are not known.
func (n *ncclRanges) note(f *recording.File) {
	f.Ledger.AddN(trace.CodeDanglingReference, n.unread, f.Place(-1),
		"the payload of a call of NCCL, whose layout no table of the export tells, or several differently")
	f.Ledger.AddN(trace.CodeIncompleteByWriter, n.bare, f.Place(-1),
		"calls of NCCL have no payload, so that bytes and peers are not known; nsys export --include-blobs true keeps it")
	f.Ledger.AddN(trace.CodeLimitExceeded, n.lost, f.Place(-1),
		"calls of NCCL, or calls out of order; the sizes of their kernels are not known")
}
