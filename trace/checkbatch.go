package trace

import "fmt"

// Check reports the first breach of what a batch promises: columns of one length, rows in
// order of Seq, every event in the table that Order names, kinds in their tables. It does
// not look at times, which may run backwards in a bad trace, nor at references.
func (b *Batch) Check() error {
	if err := b.checkColumns(); err != nil {
		return err
	}
	for _, check := range []func(*Batch) error{checkOrder, checkKinds, checkMetricRows, checkOtherRows, checkAttrRows} {
		if err := check(b); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) checkColumns() error {
	f, p, c, m, o, a := &b.Flow, &b.P2P, &b.Coll, &b.Metric, &b.Other, &b.Attrs
	n := func(lengths ...int) []int { return lengths }
	for _, t := range []struct {
		name    string
		lengths []int
	}{
		{"flow", n(len(f.Seq), len(f.Time), len(f.Kind), len(f.Region))},
		{"p2p", n(len(p.Seq), len(p.Time), len(p.Kind), len(p.Peer), len(p.Comm), len(p.Tag), len(p.Bytes), len(p.Request))},
		{"coll", n(len(c.Seq), len(c.Time), len(c.Kind), len(c.Op), len(c.Comm), len(c.Root), len(c.Sent), len(c.Received), len(c.Request))},
		{"metric", n(len(m.Seq), len(m.Time), len(m.Metric), len(m.Member), len(m.Type), len(m.Value))},
		{"other", n(len(o.Seq), len(o.Time), len(o.Kind))},
		{"attrs", n(len(a.Seq), len(a.Attribute), len(a.Type), len(a.Value))},
	} {
		for i, l := range t.lengths {
			if l != t.lengths[0] {
				return fmt.Errorf("table %s: column %d has %d rows, column 0 has %d", t.name, i, l, t.lengths[0])
			}
		}
	}
	if n := len(f.Context); n != len(f.Unwind) || n != 0 && n != len(f.Seq) {
		return fmt.Errorf("table flow: %d contexts, %d unwind distances, %d rows", n, len(f.Unwind), len(f.Seq))
	}
	return nil
}

// checkOrder walks through Order and the tables together.
func checkOrder(b *Batch) error {
	seqs := [TableAttrs][]uint64{b.Flow.Seq, b.P2P.Seq, b.Coll.Seq, b.Metric.Seq, b.Other.Seq}
	var next [TableAttrs]int
	for i, t := range b.Order {
		if t >= TableAttrs {
			return fmt.Errorf("event %d is in table %d, which does not exist", i, t)
		}
		seq, n := b.First+uint64(i), next[t]
		if n == len(seqs[t]) || seqs[t][n] != seq {
			return fmt.Errorf("event %d is not in table %d", seq, t)
		}
		next[t]++
		for t == TableMetric && next[t] < len(seqs[t]) && seqs[t][next[t]] == seq {
			next[t]++
		}
	}
	for t, n := range next {
		if n != len(seqs[t]) {
			return fmt.Errorf("table %d has %d rows that are not in the order", t, len(seqs[t])-n)
		}
	}
	return nil
}

// checkKinds: a row's kind must be one that Kind.Table puts into its table.
func checkKinds(b *Batch) error {
	for t, kinds := range map[TableID][]Kind{TableFlow: b.Flow.Kind, TableP2P: b.P2P.Kind, TableColl: b.Coll.Kind, TableOther: b.Other.Kind} {
		for i, k := range kinds {
			if k.Table() != t {
				return fmt.Errorf("row %d of table %d is a %s", i, t, k)
			}
		}
	}
	return nil
}

// checkMetricRows: the rows of one event are its values 0, 1, 2 … at one time.
func checkMetricRows(b *Batch) error {
	m := &b.Metric
	for i := range m.Seq {
		first := i == 0 || m.Seq[i] != m.Seq[i-1]
		switch {
		case first && m.Member[i] != 0:
			return fmt.Errorf("metric event %d begins with member %d", m.Seq[i], m.Member[i])
		case !first && (m.Member[i] != m.Member[i-1]+1 || m.Time[i] != m.Time[i-1] || m.Metric[i] != m.Metric[i-1]):
			return fmt.Errorf("the rows of metric event %d do not fit together", m.Seq[i])
		}
	}
	return nil
}

func checkOtherRows(b *Batch) error {
	o := &b.Other
	if len(o.Seq) == 0 {
		if len(o.Offset) != 0 || len(o.Args) != 0 {
			return fmt.Errorf("table other: arguments without events")
		}
		return nil
	}
	if len(o.Offset) != len(o.Seq)+1 || o.Offset[0] != 0 || int(o.Offset[len(o.Seq)]) != len(o.Args) {
		return fmt.Errorf("table other: offsets do not span the arguments")
	}
	for i := range o.Seq {
		if o.Offset[i] > o.Offset[i+1] {
			return fmt.Errorf("table other: offsets decrease at row %d", i)
		}
	}
	return nil
}

// checkAttrRows: attributes belong to events of this batch, in their order.
func checkAttrRows(b *Batch) error {
	for i, seq := range b.Attrs.Seq {
		if seq < b.First || seq-b.First >= uint64(len(b.Order)) || i > 0 && seq < b.Attrs.Seq[i-1] {
			return fmt.Errorf("attribute %d belongs to event %d, out of order or of range", i, seq)
		}
	}
	return nil
}
