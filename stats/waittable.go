package stats

import (
	"tracekit/spill"
	"tracekit/trace"
)

// A WaitTable says how long the calls of a location wait: its rows are those of
// trace.Trace.Calls. Few calls wait, so only those have a row of their own.
type WaitTable struct {
	store *spill.Store
	index *spill.Table[uint32] // by call: row in rows + 1; 0: the call does not wait
	rows  *spill.Table[waitingCall]
}

// A waitingCall is a call that waits, with what its Call row says of it.
type waitingCall struct {
	CallWait
	seq    uint64
	path   trace.PathID
	region trace.RegionID
}

func newWaitTable(store *spill.Store, calls int) *WaitTable {
	return &WaitTable{store: store, index: spill.NewZeros[uint32](store, calls)}
}

// Len returns the number of calls.
func (t *WaitTable) Len() int { return t.index.Len() }

// At returns the wait of call i, the zero value if it does not wait.
func (t *WaitTable) At(i int) CallWait {
	if row := t.index.At(i); row > 0 {
		return t.rows.At(int(row - 1)).CallWait
	}
	return CallWait{}
}

// Of returns the wait of call i, nil if it does not wait.
func (t *WaitTable) Of(i int) *CallWait {
	if row := t.row(i); row != nil {
		return &row.CallWait
	}
	return nil
}

// row returns the row of call i, nil if it does not wait.
func (t *WaitTable) row(i int) *waitingCall {
	if k := *t.index.Ptr(i); k > 0 {
		return t.rows.Ptr(int(k - 1))
	}
	return nil
}

// note stores the wait of call i unless a longer one is known, or an equal one of a kind
// that comes first; it reports whether it did.
func (t *WaitTable) note(i uint32, call *trace.Call, wait *CallWait) bool {
	k := t.index.Ptr(int(i))
	if *k > 0 {
		row := t.rows.Ptr(int(*k - 1))
		if wait.Time < row.Time || wait.Time == row.Time && wait.Kind >= row.Kind {
			return false
		}
		row.CallWait = *wait
		return true
	}
	row := spill.Ensure(t.store, &t.rows).Next()
	row.CallWait, row.seq, row.path, row.region = *wait, call.Seq, call.Path, call.Region
	*k = uint32(t.rows.Len())
	return true
}
