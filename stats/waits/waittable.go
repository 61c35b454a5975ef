package waits

import (
	"tracekit/spill"
	"tracekit/trace"
)

// A Table says how long the calls of a location wait: its rows are those of
// trace.Trace.Calls. Few calls wait, so only those have a row of their own.
type Table struct {
	store *spill.Store
	Index *spill.Table[uint32] // by call: row in rows + 1; 0: the call does not wait
	Rows  *spill.Table[WaitingCall]
}

// A WaitingCall is a call that waits, with what its Call row says of it.
type WaitingCall struct {
	Wait
	seq    uint64
	Path   trace.PathID
	region trace.RegionID
}

// NewTable returns the waits of so many calls, none of which waits.
func NewTable(store *spill.Store, calls int) *Table {
	return &Table{store: store, Index: spill.NewZeros[uint32](store, calls)}
}

// Len returns the number of calls.
func (t *Table) Len() int { return t.Index.Len() }

// At returns the wait of call i, the zero value if it does not wait.
func (t *Table) At(i int) Wait {
	if row := t.Index.At(i); row > 0 {
		return t.Rows.At(int(row - 1)).Wait
	}
	return Wait{}
}

// Of returns the wait of call i, nil if it does not wait.
func (t *Table) Of(i int) *Wait {
	if row := t.Row(i); row != nil {
		return &row.Wait
	}
	return nil
}

// Row returns the row of call i, nil if it does not wait.
func (t *Table) Row(i int) *WaitingCall {
	if k := *t.Index.Ptr(i); k > 0 {
		return t.Rows.Ptr(int(k - 1))
	}
	return nil
}

// Note stores the wait of call i unless a longer one is known, or an equal one of a kind
// that comes first; it reports whether it did.
func (t *Table) Note(i uint32, call *trace.Call, wait *Wait) bool {
	k := t.Index.Ptr(int(i))
	if *k > 0 {
		row := t.Rows.Ptr(int(*k - 1))
		if wait.Time < row.Time || wait.Time == row.Time && wait.Kind >= row.Kind {
			return false
		}
		row.Wait = *wait
		return true
	}
	row := spill.Ensure(t.store, &t.Rows).Next()
	row.Wait, row.seq, row.Path, row.region = *wait, call.Seq, call.Path, call.Region
	*k = uint32(t.Rows.Len())
	return true
}

// A KnownWait is a call that waits.
type KnownWait struct {
	Call       uint32
	From, Time int64
}

// Known returns the calls that wait, in order.
func (t *Table) Known() *spill.Table[KnownWait] {
	out := spill.NewTable[KnownWait](t.store)
	for first, rows := range t.Index.Rows {
		for i, row := range rows {
			if row > 0 {
				w := t.Rows.Ptr(int(row - 1))
				out.Append(KnownWait{uint32(first + i), w.From, w.Time})
			}
		}
	}
	return out
}
