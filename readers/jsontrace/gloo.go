package jsontrace

import (
	"strconv"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// PyTorch records what hosts communicate by gloo as slices gloo:all_reduce, gloo:send and so on, with the shapes of tensors. A
// message's other end stands among the inputs of the call that asks for it, c10d::send or c10d::recv_, which encloses its begin. The
// process group is not recorded: it is that of the file's groups which uses gloo, and has other ranks; of several see glooGroups.

// glooCall reads a collective or a message of gloo.
func (f *file) glooCall(l *track, r *region, ev *event) nest.Call {
	c := nest.Call{Operation: r.op, Peer: trace.RootNone, Sent: tensorBytes(ev.args)}
	if !r.op.IsMessage() {
		c.Comm = f.comms.find(func() group { return group{name: "gloo", gloo: true, thread: &glooThread{tid: l.tid}} }, []byte("gloo"),
			strconv.AppendUint(nil, uint64(l.Number), 10))
		if t := f.comms.list[c.Comm].thread; t != nil {
			t.add(r.op, ev)
		}
	}
	switch {
	case r.op.IsMessage():
		asked := f.launches.around(l, ev.time)
		if asked == nil || asked.peer == trace.None {
			return nest.Call{}
		}
		if c.Peer, c.Tag = asked.peer, asked.tag; c.Sent == 0 {
			c.Sent = asked.bytes
		}
		c.Received = c.Sent
		c.Comm = f.comms.find(func() group { return group{name: "gloo", gloo: true} }, []byte("gloo"))
		f.comms.list[c.Comm].message(c.Peer, r.op == nest.OpSend)
	case r.op.Collective() == trace.CollAllreduce:
		c.Received = c.Sent
	}
	return c
}

// message counts a message.
func (g *group) message(peer uint32, sends bool) {
	n := &g.messages[boolInt(sends)]
	if *n == nil {
		*n = make(map[uint32]int)
	}
	if _, known := (*n)[peer]; known || len(*n) < worldLimit {
		(*n)[peer]++
	}
}

// messageTrack returns the track of the messages that a thread asks for, nil if there are too many tracks: a message lasts until the thread
// asks for its end, and encloses nothing of what the thread does meanwhile.
func (f *file) messageTrack(l *track) *track {
	if l = f.tracks.get(trackKey{pid: l.pid, tid: ident{true, int64(f.names.raw([]byte("gloo")))}, async: true}); l != nil {
		l.trivial, l.Flat = false, true
	}
	return l
}

// messageInputs returns the other end of a message and its tag, which follow the tensors and the group among the inputs of the call.
func messageInputs(args []byte) (peer, tag uint32) {
	peer = trace.None
	i := 0
	elements(member(args, "Concrete Inputs"), func(v []byte) bool {
		switch i++; i {
		case 3:
			peer = rankNumber(text(v))
		case 4:
			tag = uint32(number(text(v)))
		}
		return i < 4
	})
	return peer, tag
}
