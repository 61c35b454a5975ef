package stats

// orderReach is the number of late senders that are remembered at a receiver, as in
// Scalasca.
const orderReach = 100

// A lateInstance is a call that waited for a late sender.
type lateInstance struct {
	wait   int64  // of the call
	sent   int64  // time of the send record of the message that it waited for
	newest int64  // the largest sent of it and of those that came before it
	source uint32 // rank of its sender
	call   uint32 // row of the call
}

// An orderWindow holds the last late senders of one receiver. An instance leaves it when
// it is pushed out or when it is found to be in wrong order, so that it counts once.
type orderWindow struct{ held []lateInstance }

// newest returns the largest sent of what is held, or of what was pushed out; 0 if nothing is held.
func (o *orderWindow) newest() int64 {
	if n := len(o.held); n > 0 {
		return o.held[n-1].newest
	}
	return 0
}

// push remembers a late sender.
func (o *orderWindow) push(i lateInstance) {
	i.newest = max(i.sent, o.newest())
	if len(o.held) == orderReach {
		o.held = o.held[1:]
	}
	o.held = append(o.held, i)
}

// arrive takes note of a message from rank source that was sent at sent: all held instances
// whose message was sent later waited in the wrong order.
func (o *orderWindow) arrive(p *p2pWalk, source uint32, sent int64) {
	held := o.held
	first := len(held)
	for first > 0 && held[first-1].newest > sent {
		first--
	}
	o.held = o.held[:first]
	for k := range held[first:] {
		i := &held[first+k]
		if i.sent <= sent {
			o.push(*i)
			continue
		}
		call := p.rows.Ptr(int(i.call))
		charged := p.sums.charge(p.scope, LateSenderWrongOrder, p.l, call, call.Enter, i.wait)
		if source == i.source {
			p.sums.same = Plus(p.sums.same, charged)
		} else {
			p.sums.different = Plus(p.sums.different, charged)
		}
	}
}
