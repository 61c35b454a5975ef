package difference

import "tracekit/trace"

// reach is how many records ahead, on both sides together, a partner is looked for after
// a difference.
const reach = 256

// pairing is the comparison of one location.
type pairing struct {
	*Differences
	a, b     *records
	previous bool // the last records of both sides were a pair, at the times ta and tb
	ta, tb   int64
}

// run pairs all records. Its error is that of reading either side.
func (p *pairing) run() error {
	for {
		x, y := p.a.peek(0), p.b.peek(0)
		switch {
		case x == nil && y == nil:
			if p.a.err != nil {
				return p.a.err
			}
			return p.b.err
		case x != nil && y != nil && x.content == y.content:
			p.pair(x, y)
		default:
			p.skip()
		}
	}
}

func (p *pairing) pair(x, y *record) {
	p.Paired++
	p.Position.Add(y.time - x.time)
	if p.previous {
		p.Block.Add((y.time - p.tb) - (x.time - p.ta))
	}
	p.ta, p.tb, p.previous = x.time, y.time, true
	p.a.drop(1)
	p.b.drop(1)
}

// skip passes over the records before the next pair.
func (p *pairing) skip() {
	na, nb := p.nearest()
	miss(p.a, na, &p.OnlyA, &p.FirstA)
	miss(p.b, nb, &p.OnlyB, &p.FirstB)
	p.previous = false
}

// nearest returns how many records of each side have no partner before the next pair: the
// fewest of both together. If there is no pair within reach, half the reach of either side
// goes, so that a record costs bounded time however little the traces have in common.
func (p *pairing) nearest() (na, nb int) {
	if p.a.peek(0) == nil || p.b.peek(0) == nil {
		return reach, reach // of the side that has not ended
	}
	for total := 1; total <= reach; total++ {
		for i := range total + 1 {
			x := p.a.peek(i)
			if x == nil {
				break
			}
			if y := p.b.peek(total - i); y != nil && x.content == y.content {
				return i, total - i
			}
		}
	}
	p.b.peek(reach / 2)
	return reach / 2, reach / 2
}

// miss counts n records of one side that have no partner.
func miss(r *records, n int, count *uint64, first **trace.Place) {
	if x := r.peek(0); x != nil && n > 0 && *first == nil {
		*first = &trace.Place{Location: r.l, Seq: x.seq, Offset: -1}
	}
	*count += uint64(r.drop(n))
}
