package reconstruct

import (
	"tracekit/spill"
	"tracekit/stats"
	"tracekit/trace"
)

// callRows reads the calls of a location in order, with what they wait, a chunk at a time
// under the diagram's lock.
type callRows struct {
	d     *diagram
	calls *spill.Table[trace.Call]
	waits *stats.WaitTable
	chunk []callRow
	at    int // of chunk: the next row
	next  int // row that follows the chunk
}

type callRow struct {
	call trace.Call
	wait stats.CallWait
}

// find returns the call that was entered by event seq, nil if it has no row. Sequence
// numbers ascend from one use to the next. The row is valid until then.
func (r *callRows) find(seq uint64) *callRow {
	for {
		for ; r.at < len(r.chunk); r.at++ {
			if row := &r.chunk[r.at]; row.call.Seq == seq {
				return row
			} else if row.call.Seq > seq {
				return nil
			}
		}
		if r.next >= r.calls.Len() {
			return nil
		}
		r.fill()
	}
}

func (r *callRows) fill() {
	const size = 1024
	r.d.lock.Lock()
	defer r.d.lock.Unlock()
	r.chunk, r.at = r.chunk[:0], 0
	for ; len(r.chunk) < size && r.next < r.calls.Len(); r.next++ {
		r.chunk = append(r.chunk, callRow{r.calls.At(r.next), r.waits.At(r.next)})
	}
}
