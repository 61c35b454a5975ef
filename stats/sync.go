package stats

import (
	"tracekit/spill"
	"tracekit/trace"
)

// syncTables holds what the ideal replay needs of a trace: the calls that wait for others,
// with what they wait for. They are made on the way of the walk over all calls, so that
// the tables of calls and messages need not be read again.
type syncTables struct {
	store  *spill.Store
	rows   []*spill.Table[syncRow] // by location, in order of calls
	needs  []*spill.Table[callKey] // by location: the sends whose messages the calls complete, and the collectives without blocking (no location)
	clocks []*spill.Table[int64]   // by location and call: first the sequence number of its Enter
}

// A syncRow is a call that completes a receive or takes part in a collective.
//
//	its needs end where those of the next row begin
type syncRow struct {
	call  uint32
	needs uint32 // first row in needs
	coll  uint32 // row of the collective; None
	class trace.CallClass
}

// arrives reports whether the call is the one with which its location begins its part in the
// collective.
func (c *syncRow) arrives() bool {
	return c.coll != trace.None && c.class != trace.ClassWait && c.class != trace.ClassTest
}

func newSyncTables(t *trace.Trace) *syncTables {
	n := len(t.Calls)
	return &syncTables{store: t.Store, rows: make([]*spill.Table[syncRow], n), needs: make([]*spill.Table[callKey], n),
		clocks: make([]*spill.Table[int64], n)}
}

// begin makes room for a location with so many calls.
func (s *syncTables) begin(l trace.LocationID, calls int) {
	s.rows[l], s.needs[l] = spill.NewTable[syncRow](s.store), spill.NewTable[callKey](s.store)
	s.clocks[l] = spill.NewZeros[int64](s.store, calls)
}

// seal ends the calls of a location.
func (s *syncTables) seal(l trace.LocationID) {
	if s != nil {
		s.rows[l], s.needs[l] = s.rows[l].Sealed(), s.needs[l].Sealed()
	}
}

// release gives the memory back.
func (s *syncTables) release() {
	for l := range s.rows {
		s.rows[l].Release()
		s.needs[l].Release()
		s.clocks[l].Release()
	}
}
