package stats

// inFlight holds sends of one location from the call that posts them to the call that
// completes them.
type inFlight struct {
	rows  map[uint32][]uint32 // of the sends, in order, by the call that completes them
	spare [][]uint32          // memory for more
}

func newInFlight() inFlight { return inFlight{rows: make(map[uint32][]uint32)} }

// add keeps a send until the call that completes it.
func (f *inFlight) add(call, send uint32) {
	rows, ok := f.rows[call]
	if n := len(f.spare); !ok && n > 0 {
		rows, f.spare = f.spare[n-1], f.spare[:n-1]
	}
	f.rows[call] = append(rows, send)
}

// take returns the sends that a call completes and forgets them. They are valid until the
// next add.
func (f *inFlight) take(call uint32) []uint32 {
	if len(f.rows) == 0 {
		return nil
	}
	rows, ok := f.rows[call]
	if ok {
		delete(f.rows, call)
		f.spare = append(f.spare, rows[:0])
	}
	return rows
}
