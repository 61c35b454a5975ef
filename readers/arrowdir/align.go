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
// read group by group; a batch reaches as far as every table has been read. Records share
// memory and nobody counts who uses them: Go's allocator gives it back.
type aligner struct {
	location trace.LocationID
	tables   [trace.Tables]tableRows
}

// tableRows are the rows of one table that were read and not yet given on.
type tableRows struct {
	file  *rowFile
	parts []part // that were not read
	open  bool   // there may be more
	rows  arrow.Record
	seq   []uint64 // of rows
}

// next returns the next batch, nil at the end.
func (a *aligner) next() (*trace.Batch, error) {
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
			t.rows, t.seq = nil, nil
			if err := t.extend(a.location); err != nil {
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
			if err := t.extend(a.location); err != nil {
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

// extend appends the next part to the rows.
func (t *tableRows) extend(l trace.LocationID) error {
	return guard(t.file.name, func() error {
		r, err := t.file.read(t.parts[0])
		if err != nil {
			return err
		}
		t.parts = t.parts[1:]
		t.open = len(t.parts) > 0
		for _, other := range r.Column(0).(*array.Uint32).Uint32Values() {
			if other != uint32(l) {
				return fmt.Errorf("a row of location %d among those of location %d", other, l)
			}
		}
		if t.rows != nil {
			r = joined([]arrow.Record{t.rows, r})
		}
		t.rows, t.seq = r, r.Column(1).(*array.Uint64).Uint64Values()
		for i := 1; i < len(t.seq); i++ {
			if t.seq[i] < t.seq[i-1] {
				return fmt.Errorf("seq runs backwards from %d to %d", t.seq[i-1], t.seq[i])
			}
		}
		return nil
	})
}

// take makes a batch of the rows before end.
func (a *aligner) take(end uint64) (*trace.Batch, error) {
	var records [trace.Tables]arrow.Record
	for i := range a.tables {
		t := &a.tables[i]
		n := sort.Search(len(t.seq), func(j int) bool { return t.seq[j] >= end })
		if end == math.MaxUint64 {
			n = len(t.seq)
		}
		if n == 0 {
			continue
		}
		if n == len(t.seq) {
			records[i], t.rows, t.seq = t.rows, nil, nil
			continue
		}
		records[i] = t.rows.NewSlice(0, int64(n))
		t.rows, t.seq = t.rows.NewSlice(int64(n), t.rows.NumRows()), t.seq[n:]
	}
	return batchOf(a.location, records)
}

// joined makes one record of several with the same schema, nil of none.
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
	return array.NewRecord(parts[0].Schema(), columns, rows)
}
