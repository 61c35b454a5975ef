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
	return arrowdir.Table{Name: "waits", Columns: columns, Parts: m.byLocation(m.waitsOf)}
}

// Columns of waits.
const (
	waitLocation = 0
	waitRank     = 2
	waitStart    = 8
)

// waitsOf are the waits of one location.
func (m *Maker) waitsOf(l trace.LocationID) arrowdir.Part {
	calls, span := m.t.Calls[l], m.t.Span[l]
	within := func(column int, least, greatest int64) (first, end int, ok bool) {
		b := bounds{least, greatest, calls.Len()}
		switch column {
		case waitLocation:
			return b.here(uint32(l))
		case waitRank:
			return b.here(m.t.Rank[l])
		case waitStart:
			return b.during(m.instant(span.First), m.instant(span.Last))
		}
		return 0, 0, false
	}
	return arrowdir.Part{Rows: calls.Len(), Within: within, Append: func(r *arrowdir.Rows) {
		least, greatest := r.Within(waitStart)
		wait := func(i int, kind waitstate.Kind, from, time int64, by trace.LocationID, call uint32) bool {
			if at := m.instant(from); at < least || at > greatest {
				r.Skip()
				return true
			}
			return m.wait(r, l, i, kind, from, time, by, call)
		}
		for i := range calls.Len() {
			w := m.a.Waits[l].At(i)
			late, _ := m.a.Waits[l].Sender(&w) // of what is waited for behind a late sender
			if late > 0 && !wait(i, waitstate.LateSender, w.From, late, w.Location, trace.None) {
				return
			}
			if w.Time > late && !wait(i, w.Kind, w.From+late, w.Time-late, w.Location, w.Call) {
				return
			}
		}
	}}
}

// wait writes a wait of call i of a location for a call of another one.
func (m *Maker) wait(r *arrowdir.Rows, l trace.LocationID, i int, kind waitstate.Kind, from, time int64, by trace.LocationID,
	call uint32) bool {
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
