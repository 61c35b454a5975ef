package stats

import "tracekit/trace"

// inFlight holds sends of one location from the call that posts them to the call that
// completes them.
//
//	no call before next completes any
type inFlight struct {
	rows  map[uint32][]uint32 // of the sends, in order, by the call that completes them
	next  uint32
	spare [][]uint32 // memory for more
}

func newInFlight() inFlight { return inFlight{rows: make(map[uint32][]uint32), next: trace.None} }

// add keeps a send until the call that completes it.
func (f *inFlight) add(call, send uint32) {
	rows, ok := f.rows[call]
	if n := len(f.spare); !ok && n > 0 {
		rows, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	f.rows[call] = append(rows, send)
	f.next = min(f.next, call)
}

// take returns the sends that a call completes and forgets them; calls come in ascending
// order. What it returns is valid until the next add.
func (f *inFlight) take(call uint32) []uint32 {
	if call < f.next {
		return nil
	}
	rows, ok := f.rows[call]
	if ok {
		delete(f.rows, call)
		f.spare = append(f.spare, rows[:0])
	}
	if f.next = call + 1; len(f.rows) == 0 {
		f.next = trace.None
	}
	return rows
}
