package arrowdir

import (
	"fmt"
	"math"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/trace"
)

// An aligner joins the rows of one location from several tables into batches. Tables are
// read record by record; a batch reaches as far as every table has been read.
type aligner struct {
	location trace.LocationID
	tables   [trace.Tables]tableRows
	files    []tableFile
}

// tableRows are the rows of one table that were read and not yet given on.
type tableRows struct {
	records recordIterator
	open    bool // there may be more
	rows    arrow.Record
	seq     []uint64 // of rows
}

func (a *aligner) close() {
	for i := range a.tables {
		t := &a.tables[i]
		if t.rows != nil {
			t.rows.Release()
		}
		if t.records.stop != nil {
			t.records.stop()
		}
	}
	for _, f := range a.files {
		_ = f.close() // it was only read
	}
}

// next returns the next batch, nil at the end.
func (a *aligner) next() (*joinedBatch, error) {
	end, any, err := a.fill()
	if err != nil || !any {
		return nil, err
	}
	return a.take(end)
}

// fill reads tables that have run empty, and returns the sequence number before which all
// tables are complete; any is false if nothing is left.
func (a *aligner) fill() (end uint64, any bool, err error) {
	end = math.MaxUint64
	for i := range a.tables {
		t := &a.tables[i]
		for t.open && len(t.seq) == 0 {
			if err := t.next(); err != nil {
				return 0, false, err
			}
		}
		if len(t.seq) == 0 {
			continue
		}
		any = true
		if t.open {
			// The last event may go on in the next record: a metric has several rows.
			end = min(end, t.seq[len(t.seq)-1])
		}
	}
	return end, any, a.widen(&end)
}

// widen makes sure that a batch is not empty: a table whose rows are all of one event is
// read until the event ends.
func (a *aligner) widen(end *uint64) error {
	for a.emptyBefore(*end) {
		*end = math.MaxUint64
		for i := range a.tables {
			t := &a.tables[i]
			if !t.open || len(t.seq) == 0 {
				continue
			}
			if err := t.extend(); err != nil {
				return err
			}
			if t.open {
				*end = min(*end, t.seq[len(t.seq)-1])
			}
		}
	}
	return nil
}

// emptyBefore reports whether rows are left but none lies before end.
func (a *aligner) emptyBefore(end uint64) bool {
	left := false
	for i := range a.tables {
		if s := a.tables[i].seq; len(s) > 0 {
			if left = true; s[0] < end {
				return false
			}
		}
	}
	return left && end != math.MaxUint64
}

// next replaces the rows by those of the next record.
func (t *tableRows) next() error {
	if t.rows != nil {
		t.rows.Release()
		t.rows, t.seq = nil, nil
	}
	return t.extend()
}

// extend appends the next record to the rows.
func (t *tableRows) extend() error {
	r, err := t.records.next()
	if err != nil {
		return err
	}
	if r == nil {
		t.open = false
		return nil
	}
	r.Retain()
	if t.rows != nil {
		r = joined([]arrow.Record{t.rows, r})
	}
	return t.set(r)
}

func (t *tableRows) set(r arrow.Record) error {
	i := r.Schema().FieldIndices("seq")
	if len(i) != 1 {
		return fmt.Errorf("there is no column seq")
	}
	seq, ok := r.Column(i[0]).(*array.Uint64)
	if !ok {
		return fmt.Errorf("column seq is of type %s", r.Column(i[0]).DataType())
	}
	t.rows, t.seq = r, seq.Uint64Values()
	for j := 1; j < len(t.seq); j++ {
		if t.seq[j] < t.seq[j-1] {
			return fmt.Errorf("seq runs backwards from %d to %d", t.seq[j-1], t.seq[j])
		}
	}
	return nil
}

// joinedBatch is a batch and the records whose memory it shares.
type joinedBatch struct {
	*trace.Batch
	records [trace.Tables]arrow.Record
}

func (b *joinedBatch) release() {
	for _, r := range b.records {
		if r != nil {
			r.Release()
		}
	}
}

// take makes a batch of the rows before end.
func (a *aligner) take(end uint64) (*joinedBatch, error) {
	b := &joinedBatch{}
	for i := range a.tables {
		t := &a.tables[i]
		n := sort.Search(len(t.seq), func(j int) bool { return t.seq[j] >= end })
		if end == math.MaxUint64 {
			n = len(t.seq)
		}
		if n == 0 {
			continue
		}
		b.records[i] = t.rows.NewSlice(0, int64(n))
		rest := t.rows.NewSlice(int64(n), t.rows.NumRows())
		t.rows.Release()
		t.rows, t.seq = rest, t.seq[n:]
	}
	batch, err := batchOf(a.location, b.records)
	if err != nil {
		b.release()
		return nil, err
	}
	b.Batch = batch
	return b, nil
}

// joined makes one record of several with the same schema, and takes them over; nil of none.
func joined(parts []arrow.Record) arrow.Record {
	if len(parts) <= 1 {
		if len(parts) == 0 {
			return nil
		}
		return parts[0]
	}
	var columns []arrow.Array
	rows := int64(0)
	for _, p := range parts {
		rows += p.NumRows()
	}
	for c := range parts[0].Columns() {
		var pieces []arrow.Array
		for _, p := range parts {
			pieces = append(pieces, p.Column(c))
		}
		whole, err := array.Concatenate(pieces, memory.NewGoAllocator())
		if err != nil {
			panic(err) // the parts have one schema
		}
		columns = append(columns, whole)
	}
	r := array.NewRecord(parts[0].Schema(), columns, rows)
	for _, c := range columns {
		c.Release()
	}
	for _, p := range parts {
		p.Release()
	}
	return r
}
