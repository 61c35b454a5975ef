package waits

import (
	"tracekit/document/waitstate"
	"tracekit/spill"
	"tracekit/trace"
)

// A Table says how long the calls of a location wait: its rows are those of
// trace.Trace.Calls. Few calls wait, so only those have a row of their own.
type Table struct {
	store *spill.Store
	Index *spill.Table[uint32] // by call: row in rows + 1; 0: the call does not wait
	Rows  *spill.Table[Wait]

	behind *spill.Table[behind] // of the few waits of that kind
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
		return t.Rows.At(int(row - 1))
	}
	return Wait{}
}

// Of returns the wait of call i, nil if it does not wait.
func (t *Table) Of(i int) *Wait {
	if k := *t.Index.Ptr(i); k > 0 {
		return t.Rows.Ptr(int(k - 1))
	}
	return nil
}

// Sender returns the part of a wait for a late receiver, or for progress, that is one for a late sender before: its ticks, from From on,
// and the row of that message in Recvs. Of other kinds it is 0.
func (t *Table) Sender(w *Wait) (time int64, message uint32) {
	if w.Kind != waitstate.LateReceiverBehindLateSender && w.Kind != waitstate.LateProgress || w.message == trace.None {
		return 0, trace.None
	}
	b := t.behind.Ptr(int(w.message))
	return b.time, b.sender
}

// Message returns the row of the single message that is waited for, None if there is none: in Recvs of the waiting location for a late
// sender, in its Sends for a late receiver.
func (t *Table) Message(w *Wait) uint32 {
	switch {
	case w.Time == 0 || w.Kind == waitstate.LateProgress:
		return trace.None
	case w.Kind == waitstate.LateReceiverBehindLateSender:
		return t.behind.Ptr(int(w.message)).receiver
	}
	return w.message
}

// addBehind adds what a wait is for a late receiver behind a late sender, and returns its row.
func (t *Table) addBehind(b behind) uint32 {
	return uint32(spill.Ensure(t.store, &t.behind).Append(b))
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
		event, path := row.event, row.Path
		*row = *wait
		row.event, row.Path = event, path
		return true
	}
	row := spill.Ensure(t.store, &t.Rows).Next()
	*row = *wait
	row.event, row.Path = call.Event, call.Path
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
