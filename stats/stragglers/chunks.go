package stragglers

// Interleaved schedules give each stage several chunks of the model, so the last stage sends forward to the first one. A profile does not
// record chunks. The c-th forward computation of a micro-batch on a stage is that of chunk c; backward it is the other way round.

// interleaved finds out whether stages have several chunks of the model, and how many. The error is a *MissingError if they have, and
// micro-batches are not recorded.
func (b *assembly) interleaved(ranks []*ranked) error {
	if b.stages < 2 {
		return nil
	}
	around, back := 0, 0 // forward from the last stage to the first, backward the other way
	for _, r := range ranks {
		at, placed := b.at[r.rank]
		for i := range r.calls {
			c := &r.calls[i]
			other, known := b.end(c)
			if !placed || !known || c.tail || !c.sends {
				continue
			}
			switch {
			case at.stage == b.stages-1 && other.stage == 0 && (b.stages > 2 || c.within == forward):
				around++
			case at.stage == 0 && other.stage == b.stages-1 && (b.stages > 2 || c.within == backward):
				back++
			}
		}
	}
	if around == 0 || back == 0 {
		return nil
	}
	for _, r := range ranks {
		if _, placed := b.at[r.rank]; !placed {
			continue
		}
		named, unnamed := 0, 0 // steps
		for _, p := range r.parts {
			times, some := make(map[uint32]int), false // by micro-batch
			for _, c := range r.computations[p.computations[0]:p.computations[1]] {
				if c.phase == forward {
					some = some || c.batch == none
					times[c.batch]++
				}
			}
			if named++; some {
				named, unnamed = named-1, unnamed+1
				continue
			}
			for _, n := range times {
				b.chunks = max(b.chunks, n)
			}
		}
		if unnamed > named { // fewer are cut off, and left out as they do other than most
			return &MissingError{"micro-batches of an interleaved schedule, in which the last stage sends forward to the first one; " +
				"annotate passes, as in Forward 3"}
		}
	}
	if b.both = b.chunks > 1 && b.stages == 2; b.both {
		return b.ways(ranks)
	}
	return nil
}

// ways finds in which way messages between two stages go: a send in that of the pass behind which it was launched, a receive in that of
// its send, which is the one of the same number. The error is a *MissingError if a kernel sends several.
func (b *assembly) ways(ranks []*ranked) error {
	for _, r := range ranks {
		sends := make(map[[2]int64]bool)
		for i := range r.calls {
			c := &r.calls[i]
			if _, known := b.end(c); !known || !c.sends {
				continue
			}
			kernel := [2]int64{c.start, c.end}
			if sends[kernel] {
				return &MissingError{"which way messages go: of an interleaved schedule of two stages, a kernel sends several to one stage"}
			}
			sends[kernel] = true
		}
	}
	type pair struct {
		step     uint64
		comm     uint32
		from, to uint32
	}
	sent := make(map[pair][]phase)
	each := func(sends bool, take func(p pair, c *call)) {
		for _, r := range ranks {
			for i := range r.calls {
				c := &r.calls[i]
				if _, known := b.end(c); !known || c.sends != sends || c.tail {
					continue
				}
				p := pair{c.step, uint32(c.comm), r.rank, b.groups[c.comm].ranks[c.peer]}
				if !sends {
					p.from, p.to = p.to, p.from
				}
				take(p, c)
			}
		}
	}
	each(true, func(p pair, c *call) {
		if c.way = backward; c.within == forward {
			c.way = forward
		}
		sent[p] = append(sent[p], c.way)
	})
	each(false, func(p pair, c *call) {
		if list := sent[p]; len(list) > 0 {
			c.way, sent[p] = list[0], list[1:]
		}
	})
	return nil
}

// chunked gives the last n operations, the computations of a step, their chunks. It adds the messages of the step: a receive and a send of
// each computation, which take no time at the ends of the model, where there are none.
func (b *maker) chunked(r *ranked, at coordinate, n int, calls []call, seq *[kinds]uint64) {
	base := len(b.ops) - n
	var messages [kinds][]*call
	for i := range calls {
		if c := &calls[i]; c.peer != none {
			if k := b.message(c, at); k < kinds {
				messages[k] = append(messages[k], c)
			}
		}
	}
	times := make(map[[2]uint32]int) // by type and micro-batch
	var last [kinds]int64            // start of a message
	add := func(k kind, o *op, there bool, otherwise int64) {
		m := *o
		m.kind, m.seq, m.batch, m.chunk, m.model = k, seq[k], none, none, none
		m.start = max(otherwise, last[k])
		m.end, m.bytes, m.sized = m.start, 0, false
		if list := messages[k]; there && len(list) > 0 {
			c := list[0]
			m.start, m.end, m.bytes, m.sized, messages[k] = b.asked(r, c), c.end, c.bytes, c.bytes > 0, list[1:]
		}
		last[k] = m.start
		seq[k]++
		b.ops = append(b.ops, m)
	}
	ends := [weightCompute]int64{b.ops[base].start, b.ops[base].start} // of the computation of the way before
	for i := range n {
		o := b.ops[base+i]
		if o.kind > backwardCompute {
			continue
		}
		key := [2]uint32{uint32(o.kind), o.batch}
		chunk := min(times[key], b.chunks-1)
		times[key]++
		receive, send, ahead := forwardRecv, forwardSend, 1
		if o.kind == backwardCompute {
			receive, send, ahead, chunk = backwardRecv, backwardSend, -1, b.chunks-1-chunk
		}
		model := chunk*b.stages + at.stage
		b.ops[base+i].chunk, b.ops[base+i].model = uint32(chunk), uint32(model)
		has := func(m int) bool { return m >= 0 && m < b.chunks*b.stages }
		add(receive, &o, has(model-ahead), ends[o.kind])
		add(send, &o, has(model+ahead), o.end)
		ends[o.kind] = o.end
	}
}
