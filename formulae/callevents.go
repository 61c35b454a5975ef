package formulae

import "tracekit/trace"

// Add adds the events of a batch.
func (t *CallTree) Add(b *trace.Batch) {
	t.shapes.attrs = attrCursor{attrs: &b.Attrs}
	for seq, r := range b.Events {
		t.event(b, seq, r)
	}
}

// event adds an event.
func (t *CallTree) event(b *trace.Batch, seq uint64, r trace.Row) {
	row := r.First
	attrs := t.shapes.attrs.at(seq)
	t.seq = seq
	switch r.Table {
	case trace.TableFlow:
		t.flow(&b.Flow, row, seq, attrs)
	case trace.TableP2P:
		p := &b.P2P
		i := t.item(itemKey{kind: p.Kind[row], ref: uint32(p.Comm[row]), shape: t.shapes.id(nil, attrs)}, p.Time[row])
		i.learn(uint64(p.Peer[row]), uint64(p.Tag[row]), p.Bytes[row], 0)
		i.learnValues(nil, attrs)
	case trace.TableColl:
		c := &b.Coll
		i := t.item(itemKey{kind: c.Kind[row], op: c.Op[row], ref: uint32(c.Comm[row]), shape: t.shapes.id(nil, attrs)}, c.Time[row])
		i.learn(uint64(c.Root[row]), 0, c.Sent[row], c.Received[row])
		i.learnValues(nil, attrs)
	case trace.TableMetric:
		t.metric(&b.Metric, r, attrs)
	default:
		o := &b.Other
		args := o.Args[o.Offset[row]:o.Offset[row+1]]
		i := t.item(itemKey{kind: o.Kind[row], shape: t.shapes.id(t.shapes.arguments(len(args)), attrs)}, o.Time[row])
		i.learnValues(args, attrs)
	}
}

// flow adds an enter or a leave; which node is left follows from the path, not from the
// calling context that the event names.
func (t *CallTree) flow(f *trace.Flow, row int, seq uint64, attrs attrRows) {
	if !f.Kind[row].Enters() {
		t.leave(f.Region[row], f.Time[row])
		t.droppedAttrs += uint64(attrs.len())
		return
	}
	key := itemKey{kind: trace.KindEnter, ref: uint32(f.Region[row]), site: trace.None}
	var unwind []uint64
	if len(f.Context) > 0 {
		key.site = uint32(f.Context[row])
	}
	if key.site != trace.None {
		t.unwind[0] = uint64(f.Unwind[row])
		unwind = t.unwind[:]
	}
	key.shape = t.shapes.id(t.shapes.arguments(len(unwind)), attrs)
	t.enter(key, seq, f.Time[row]).learnValues(unwind, attrs)
}

// metric adds a metric event.
func (t *CallTree) metric(m *trace.MetricValues, r trace.Row, attrs attrRows) {
	shape := t.shapes.id(t.shapes.members(m.Type[r.First:r.End]), attrs)
	i := t.item(itemKey{kind: trace.KindMetric, ref: uint32(m.Metric[r.First]), shape: shape}, m.Time[r.First])
	if i == nil {
		return
	}
	for k := range i.counters {
		typ := m.Type[r.First+k]
		i.counters[k].add(typ, t.meters.grow(i.ref, k, typ, m.Value[r.First+k]))
	}
	i.learnValues(nil, attrs)
}

// learn adds what an event says to the item's learners, if there is an item.
func (i *treeItem) learn(peer, tag, size, got uint64) {
	if i == nil || i.peer == nil {
		return
	}
	i.peer.Add(peer)
	i.tag.Add(tag)
	i.size.Add(size)
	i.got.Add(got)
}

// learnValues adds arguments and then attributes to the learners of the item's fields, if there
// is an item.
func (i *treeItem) learnValues(args []uint64, attrs attrRows) {
	if i == nil || len(i.values) == 0 {
		return
	}
	for k, v := range args {
		i.values[k].Add(v)
	}
	for k := range attrs.len() {
		i.values[len(args)+k].Add(attrs.value(k))
	}
}
