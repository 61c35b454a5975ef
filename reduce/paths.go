package reduce

import "tracekit/trace"

// A PathTime is the time, in ticks, of the calls of a call path that communicate, and of those that are kept.
type PathTime struct{ All, Kept int64 }

// ByPath returns what is kept of the calls of each call path of the trace.
func (r *Reduction) ByPath(t *trace.Trace) []PathTime {
	out := make([]PathTime, len(t.Tree.Nodes))
	for l := range t.Calls {
		at := r.Cuts.cursor(trace.LocationID(l))
		for _, rows := range t.Calls[l].Rows {
			for i := range rows {
				c := &rows[i]
				if c.Path == trace.None {
					continue
				}
				out[c.Path].All += c.Leave - c.Enter
				if !at.cuts(c.Seq()) {
					out[c.Path].Kept += c.Leave - c.Enter
				}
			}
		}
	}
	return out
}
