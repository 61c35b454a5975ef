package waits

import (
	"tracekit/spill"
	"tracekit/trace"
)

// SyncTables holds what the ideal replay needs of a trace: the calls that wait for others,
// with what they wait for. They are made on the way of the walk over all calls, so that
// the tables of calls and messages need not be read again.
type SyncTables struct {
	store *spill.Store
	Rows  []*spill.Table[SyncRow] // by location, in order of calls
	// by location: the sends whose messages the calls complete, and the collectives without blocking (no location)
	Needs  []*spill.Table[CallKey]
	Clocks []*spill.Table[int64] // by location and call: first the sequence number of its Enter
}

// A SyncRow is a call that completes a receive or takes part in a collective.
//
//	its needs end where those of the next row begin
type SyncRow struct {
	Call  uint32
	Needs uint32 // first row in needs
	Coll  uint32 // row of the collective; None
	Class trace.CallClass
}

// Arrives reports whether the call is the one with which its location begins its part in the
// collective.
func (c *SyncRow) Arrives() bool {
	return c.Coll != trace.None && c.Class != trace.ClassWait && c.Class != trace.ClassTest
}

// NewSyncTables returns empty tables for each location.
func NewSyncTables(t *trace.Trace) *SyncTables {
	n := len(t.Calls)
	return &SyncTables{store: t.Store, Rows: make([]*spill.Table[SyncRow], n), Needs: make([]*spill.Table[CallKey], n),
		Clocks: make([]*spill.Table[int64], n)}
}

// begin makes room for a location with so many calls.
func (s *SyncTables) begin(l trace.LocationID, calls int) {
	s.Rows[l], s.Needs[l] = spill.NewTable[SyncRow](s.store), spill.NewTable[CallKey](s.store)
	s.Clocks[l] = spill.NewZeros[int64](s.store, calls)
}

// seal ends the calls of a location.
func (s *SyncTables) seal(l trace.LocationID) {
	if s != nil {
		s.Rows[l], s.Needs[l] = s.Rows[l].Sealed(), s.Needs[l].Sealed()
	}
}

// Release gives the memory back.
func (s *SyncTables) Release() {
	for l := range s.Rows {
		s.Rows[l].Release()
		s.Needs[l].Release()
		s.Clocks[l].Release()
	}
}

// A CallKey names a call: its location, and its row there.
type CallKey struct {
	Location trace.LocationID
	Call     uint32
}
