package waits

import (
	"context"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Incomplete are the calls that may wait and of which the trace does not say for whom, since a record is missing.
type Incomplete []*spill.Table[Lack] // by location and call; nil: the location makes no calls, or none of which a record is missing

// A Lack is the record that a call lacks, the worst one if there are several.
type Lack uint8

// What a call may lack. Zero: no record of a message was met.
const (
	LacksNothing Lack = iota + 1
	LacksMessage      // which message it sends, receives or completes
	LacksGroup        // which ranks take part in the collective
	LacksMember       // some rank's part in the collective
	LacksSend         // the send of what it receives
	LacksReceive      // the receive of what it sends
)

// mayLack are the classes of calls that wait for messages or in collectives.
const mayLack = 1<<trace.ClassSend | 1<<trace.ClassRecv | 1<<trace.ClassSendrecv | 1<<trace.ClassWait | 1<<trace.ClassColl

// Incomplete returns the calls of threads of which a record is missing. Run has met all calls and messages: only where it has met one
// without its record, or some rank's part in a collective is missing, are they gone through again.
func (w *Finder) Incomplete(ctx context.Context) (Incomplete, error) {
	t := w.T
	for _, rows := range t.Collectives.Rows {
		for i := range rows {
			missing := rows[i].Count < rows[i].Size
			for k := uint32(0); missing && k < rows[i].Count; k++ {
				w.lacking[t.Members.Ptr(int(rows[i].First+k)).Location] = true
			}
		}
	}
	return engine.Map(ctx, w.Jobs, len(t.Calls), func(_ context.Context, l int) (*spill.Table[Lack], error) {
		if !w.lacking[l] || t.Defs.Locations[l].Kind != trace.LocationCPUThread {
			return nil, nil
		}
		return lacking(t, trace.LocationID(l)), nil
	})
}

// lacking returns what is missing of the calls of a location that may wait.
func lacking(t *trace.Trace, l trace.LocationID) *spill.Table[Lack] {
	x := spill.NewZeros[Lack](t.Store, t.Calls[l].Len())
	note := func(call uint32, state trace.MessageState, without Lack) {
		if call == trace.None {
			return
		}
		if state == trace.Matched || state == trace.Cancelled {
			without = LacksNothing
		}
		of := x.Ptr(int(call))
		*of = max(*of, without)
	}
	for _, rows := range t.Sends[l].Rows {
		for i := range rows {
			note(rows[i].Call, rows[i].State, LacksReceive)
			if rows[i].Done != rows[i].Call {
				note(rows[i].Done, rows[i].State, LacksReceive)
			}
		}
	}
	for _, rows := range t.Recvs[l].Rows {
		for i := range rows {
			note(rows[i].Call, rows[i].State, LacksSend)
		}
	}
	worst := LacksNothing
	for first, calls := range t.Calls[l].Rows {
		for i := range calls {
			c, of := &calls[i], x.Ptr(first+i)
			switch c.Class {
			case trace.ClassSend, trace.ClassRecv, trace.ClassSendrecv, trace.ClassWait, trace.ClassColl:
				switch {
				case c.Coll != trace.None:
					if coll := t.Collectives.Ptr(int(c.Coll)); coll.Count < coll.Size {
						*of = max(*of, LacksMember)
					}
				case *of == 0 && c.Class == trace.ClassColl:
					*of = LacksGroup
				case *of == 0:
					*of = LacksMessage
				}
			default: // it waits for nobody
				*of = LacksNothing
			}
			worst = max(worst, *of)
		}
	}
	if worst == LacksNothing {
		x.Release()
		return nil
	}
	return x
}

// Has reports whether a record is missing of a call.
func (x Incomplete) Has(l trace.LocationID, call uint32) bool {
	return int(l) < len(x) && x[l] != nil && x[l].At(int(call)) > LacksNothing
}
