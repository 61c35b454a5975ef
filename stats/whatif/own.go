package whatif

import (
	"math"

	"tracekit/spill"
	"tracekit/trace"
)

// Within has changes of time act on what passes within a window of corrected ticks alone: on calls that are entered then, and on what
// follows them until the next ones.
func (m *Model) Within(from, to int64) { m.from, m.to = from, to }

// walk visits the time that a location spends between calls, and the own times of calls. It calls piece for each time above 0 in the call
// paths of slots, and end behind the pieces of each visit: of a call, or of what passes between two (None), when so many calls were
// entered. The time from the Enter of a call until its part in a collective begins is left out, and so is what follows a call that is
// entered outside the time that changes are of.
func (m *Model) walk(l trace.LocationID, slots []bool, piece func(p passed), end func(call uint32, entered int)) {
	own := m.ownTimes(l, 0)
	window := m.from > math.MinInt64 || m.to < math.MaxInt64
	inside := m.from <= m.first
	segments := m.segments[l]
	entered, calls, ownRow := 0, segments.Calls.Cursor(), -1 // of the last call that was entered
	visit, some := 0, false                                  // the call that follows the present visit
	for first, rows := range segments.Rows.Rows {
		for i := range rows {
			s := segments.Of(rows[i])
			slot := m.slot(s.Path)
			if !slots[slot] {
				continue
			}
			for entered < segments.Calls.Len() {
				row := int(*calls.Ptr(entered))
				if row > first+i {
					break
				}
				ownRow = row
				entered++
			}
			if some && visit != entered {
				end(trace.None, visit)
				some = false
			}
			if visit = entered; window && entered > 0 {
				enter := m.t.Calls[l].Ptr(entered - 1).Enter
				inside = enter >= m.from && enter < m.to
			}
			if !inside {
				continue
			}
			if ownRow == first+i {
				if time := own.of(uint32(entered - 1)); time > 0 {
					piece(passed{slot, max(1, int(s.Visits)), time})
					end(uint32(entered-1), entered)
				}
			} else if s.Time > 0 {
				piece(passed{slot, max(1, int(s.Visits)), s.Time})
				some = true
			}
		}
	}
	if some {
		end(trace.None, visit)
	}
}

// ownTimes finds the own times of calls of a location in ascending order.
type ownTimes struct {
	*location
	calls callTable
	row   int // the next one

	call  spill.Cursor[trace.Call]
	rowAt spill.Cursor[row]
	part  spill.Cursor[part]
}

// ownTimes begins with the calls that have a row from one on.
func (m *Model) ownTimes(l trace.LocationID, row int) ownTimes {
	x, calls := &m.locations[l], m.t.Calls[l]
	return ownTimes{location: x, calls: calls, row: row, call: calls.Cursor(), rowAt: x.rows.Cursor(), part: x.parts.Cursor()}
}

// of returns the own time of a call until it is left or calls another one.
func (x *ownTimes) of(call uint32) int64 {
	c := x.call.Ptr(int(call))
	own := c.Leave - c.Enter
	if int(call)+1 < x.calls.Len() {
		own = min(own, x.call.Ptr(int(call)+1).Enter-c.Enter)
	}
	r := x.at(call)
	if r == nil {
		return own
	}
	head, end := int64(0), x.parts.Len()
	if x.row+1 < x.rows.Len() {
		end = int(x.rowAt.Ptr(x.row + 1).parts)
	}
	for k := int(r.parts); k < end; k++ {
		head = max(head, x.part.Ptr(k).head)
	}
	return own - r.wait - head
}

// at returns the row of a call, nil if there is none.
func (x *ownTimes) at(call uint32) *row {
	for ; x.row < x.rows.Len(); x.row++ {
		if r := x.rowAt.Ptr(x.row); r.call == call {
			return r
		} else if r.call > call {
			break
		}
	}
	return nil
}

// wait returns how long a call waits.
func (x *ownTimes) wait(call uint32) int64 {
	if r := x.at(call); r != nil {
		return r.wait
	}
	return 0
}
