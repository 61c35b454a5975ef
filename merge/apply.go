package merge

import (
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// apply gives all rows and spans the times of the trace's clock maps, and the calls their
// collectives and their paths in the common tree, and keeps of the parts in collectives
// which they are.
func apply(ctx context.Context, t *trace.Trace, scanned []*located, jobs int) error {
	t.Parts = make([]*spill.Table[trace.Part], len(scanned))
	_, err := engine.Map(ctx, jobs, len(scanned), func(_ context.Context, l int) (struct{}, error) {
		s, m := scanned[l], &t.Clock.Maps[l]
		t.Parts[l] = claim(t, l, s.parts)
		s.parts.Release()
		if !identity(s.paths) {
			applyPaths(t.Calls[l], s.paths)
		}
		if !m.Identity() {
			applyClock(t, l, m)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	return applyMembers(ctx, t, jobs)
}

// memberChunk is the number of members that are an item of work.
const memberChunk = 1 << 16

// applyMembers gives the members of collectives the times of the clock maps.
func applyMembers(ctx context.Context, t *trace.Trace, jobs int) error {
	if !slices.ContainsFunc(t.Clock.Maps, func(m trace.ClockMap) bool { return !m.Identity() }) {
		return nil
	}
	n := t.Members.Len()
	_, err := engine.Map(ctx, jobs, (n+memberChunk-1)/memberChunk, func(ctx context.Context, k int) (struct{}, error) {
		clocks := make([]trace.ClockCursor, len(t.Clock.Maps))
		for l := range clocks {
			clocks[l] = t.Clock.Maps[l].Cursor()
		}
		for i := k * memberChunk; i < min((k+1)*memberChunk, n); i++ {
			m := t.Members.Ptr(i)
			m.Begin, m.End = clocks[m.Location].At(m.Begin), clocks[m.Location].At(m.End)
		}
		return struct{}{}, ctx.Err()
	})
	return err
}

// claim notes collectives in the calls that begin and complete their parts, of several in
// one call the first, and returns which they are.
func claim(t *trace.Trace, l int, parts *spill.Table[part]) *spill.Table[trace.Part] {
	calls, out := t.Calls[l], spill.NewTable[trace.Part](t.Store)
	calls.Change(true)
	defer calls.Change(false)
	for _, rows := range parts.Rows {
		for i := range rows {
			p := &rows[i]
			if p.collective == trace.None {
				continue
			}
			out.Append(trace.Part{Collective: p.collective, Member: p.member})
			for _, call := range [2]uint32{p.call, p.done} {
				if call != trace.None {
					row := calls.Ptr(int(call))
					row.Coll = min(row.Coll, p.collective)
				}
			}
		}
	}
	return out.Sealed()
}

func applyPaths(calls *spill.Table[trace.Call], paths []trace.PathID) {
	for _, rows := range calls.Rows {
		for i := range rows {
			rows[i].Path = paths[rows[i].Path]
		}
	}
}

func applyClock(t *trace.Trace, l int, m *trace.ClockMap) {
	if s := &t.Span[l]; s.Events > 0 {
		s.First, s.Last = m.At(s.First), m.At(s.Last)
	}
	enter, leave, c := m.Cursor(), m.Cursor(), m.Cursor()
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			rows[i].Enter, rows[i].Leave = enter.At(rows[i].Enter), leave.At(rows[i].Leave)
		}
	}
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
