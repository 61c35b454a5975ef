package merge

import (
	"context"

	"tracekit/spill"
	"tracekit/trace"
)

// apply gives all rows and spans the times of the trace's clock maps, and the calls their
// collectives and their paths in the common tree: one location after the other, so that
// the calls of each are read and written once. It lets the parts go.
func apply(ctx context.Context, t *trace.Trace, scanned []*located) error {
	for l, s := range scanned {
		if err := ctx.Err(); err != nil {
			return err
		}
		claim(t.Calls[l], s.parts)
		s.parts.Release()
		m := &t.Clock.Maps[l]
		if !m.Identity() || !identity(s.paths) {
			applyCalls(t, l, m, s.paths)
		}
		if !m.Identity() {
			applyClock(t, l, m)
		}
	}
	return nil
}

// claim notes collectives in the calls that begin and complete their parts: of several in
// one call the first.
func claim(calls *spill.Table[trace.Call], parts *spill.Table[part]) {
	for i := range parts.Len() {
		p := parts.At(i)
		if p.collective == trace.None {
			continue
		}
		for _, call := range [2]uint32{p.call, p.done} {
			if call != trace.None {
				row := calls.Ptr(int(call))
				row.Coll = min(row.Coll, p.collective)
			}
		}
	}
}

func applyCalls(t *trace.Trace, l int, m *trace.ClockMap, paths []trace.PathID) {
	enter, leave := m.Cursor(), m.Cursor()
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			c := &rows[i]
			c.Enter, c.Leave, c.Path = enter.At(c.Enter), leave.At(c.Leave), paths[c.Path]
		}
	}
}

func applyClock(t *trace.Trace, l int, m *trace.ClockMap) {
	if s := &t.Span[l]; s.Events > 0 {
		s.First, s.Last = m.At(s.First), m.At(s.Last)
	}
	c := m.Cursor()
	for _, rows := range t.Sends[l].Rows {
		for i := range rows {
			rows[i].Time = c.At(rows[i].Time)
		}
	}
	for _, rows := range t.Recvs[l].Rows {
		for i := range rows {
			rows[i].Time = c.At(rows[i].Time)
		}
	}
}

func identity(paths []trace.PathID) bool {
	for i, p := range paths {
		if int(p) != i {
			return false
		}
	}
	return true
}
