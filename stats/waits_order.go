package stats

// orderReach is the number of late senders that are remembered at a receiver, as in
// Scalasca.
const orderReach = 100

// A lateInstance is a call that waited for a late sender.
type lateInstance struct {
	wait   int64  // of the call
	sent   int64  // time of the send record of the message that it waited for
	source uint32 // rank of its sender
	call   uint32 // row of the call
}

// An orderWindow holds the last late senders of one receiver. An instance leaves it when
// it is pushed out or when it is found to be in wrong order, so that it counts once.
type orderWindow struct {
	held   []lateInstance
	newest int64 // the largest sent of held; 0 if there are none
}

// push remembers a late sender.
func (o *orderWindow) push(i lateInstance) {
	if len(o.held) == orderReach {
		o.held = o.held[1:]
	}
	if len(o.held) == 0 || i.sent > o.newest {
		o.newest = i.sent
	}
	o.held = append(o.held, i)
}

// arrive takes note of a message from rank source that was sent at sent: all held instances
// whose message was sent later waited in the wrong order.
func (o *orderWindow) arrive(p *p2pWalk, source uint32, sent int64) {
	held, kept, newest := o.held, 0, int64(0)
	for k := range held {
		i := &held[k]
		if i.sent <= sent {
			if kept == 0 || i.sent > newest {
				newest = i.sent
			}
			if kept < k {
				held[kept] = *i
			}
			kept++
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
	o.held, o.newest = held[:kept], newest
}
