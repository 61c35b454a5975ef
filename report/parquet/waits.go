package parquet

import (
	"tracekit/document/waitstate"
	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// Waits has a row for each wait of a call: when, how long, and for which call on which rank.
func (m *Maker) Waits() arrowdir.Table {
	columns := append(integers("location", "call", "rank"), arrowdir.TableColumn{Name: "wait_state", Names: waitNames()})
	for _, side := range []string{"", "caused_by_"} {
		if side != "" {
			columns = append(columns, integers("start_ns", "time_ns", side+"location", side+"call", side+"rank")...)
		}
		columns = append(columns, m.names(side+"operation", "operation"), m.names(side+"region", "region"), m.names(side+"file", "file"))
		columns = append(columns, integers(side+"line")...)
	}
	return arrowdir.Table{Name: "waits", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for l, calls := range m.t.Calls {
			for i := range calls.Len() {
				w := m.a.Waits[l].At(i)
				late := w.SenderTime // of a late receiver behind a late sender
				if late > 0 && !m.wait(r, trace.LocationID(l), i, waitstate.LateSender, w.From, late, w.Location, trace.None) {
					return
				}
				if w.Time > late && !m.wait(r, trace.LocationID(l), i, w.Kind, w.From+late, w.Time-late, w.Location, w.Call) {
					return
				}
			}
		}
	}}
}

// wait writes a wait of call i of a location for a call of another one.
func (m *Maker) wait(r *arrowdir.Rows, l trace.LocationID, i int, kind waitstate.Kind, from, time int64, by trace.LocationID, call uint32) bool {
	path := func(l trace.LocationID, call uint32) lineNames {
		if int(l) >= len(m.t.Calls) || int(call) >= m.t.Calls[l].Len() {
			return noLine
		}
		return m.line(m.t.Calls[l].Ptr(int(call)).Path)
	}
	names := func(x lineNames) { r.Name(x.operation).Name(x.region).Name(x.file).ID(x.line) }
	r.Int(int64(l)).Int(int64(i)).ID(m.t.Rank[l]).Name(uint32(kind))
	names(path(l, uint32(i)))
	r.Int(m.instant(from)).Int(m.ns(time)).ID(uint32(by)).ID(call)
	if int(by) < len(m.t.Rank) {
		r.ID(m.t.Rank[by])
	} else {
		r.Missing()
	}
	names(path(by, call))
	return r.End()
}
