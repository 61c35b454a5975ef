package sampling

import (
	"context"

	"tracekit/document/sample"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A PathRow is the messages that are sent in a call path. Latency is the sum of theirs, in ns; it has an interval where messages are
// sampled at random.
type PathRow struct {
	Path              trace.PathID
	Messages, Sampled uint64
	Latency           sample.Estimate
}

// ByPath tries a configuration and returns what it says of each call path from which messages are sent, in order of paths.
func ByPath(ctx context.Context, t *trace.Trace, c Config, jobs int) ([]PathRow, error) {
	r, err := pass(ctx, t, []Config{c}, Options{Jobs: jobs, Marks: true, totals: true})
	if err != nil {
		return nil, err
	}
	defer r.release()
	x, w := &Result{run: r}, weigh(r, 0)
	all, hits := make([]Sums, len(t.Tree.Nodes)), make([]Sums, len(t.Tree.Nodes))
	values := make([]float64, len(t.Tree.Nodes))
	for k, s := range r.streams {
		for _, l := range s.locations {
			for i := range t.Sends[l].Len() {
				m := [1]sending{{location: l, index: i, row: t.Sends[l].Ptr(i)}}
				r.lookUp(m[:])
				if m[0].recv == nil || m[0].call == nil || m[0].call.Path == trace.None {
					continue
				}
				path, latency := m[0].call.Path, m[0].leave-m[0].call.Enter
				all[path].Messages++
				all[path].Latency.add(latency)
				if x.wrote(l, i) {
					hits[path].Messages++
					hits[path].Latency.add(latency)
					values[path] += w.weights[k] * float64(latency)
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	var rows []PathRow
	for p := range all {
		if all[p].Messages == 0 {
			continue
		}
		row := PathRow{Path: trace.PathID(p), Messages: all[p].Messages, Sampled: hits[p].Messages}
		truth := r.ns(all[p].Latency.sum)
		row.Latency = sample.Estimate{True: truth, Estimate: numbers.Known(r.nsOf(values[p]))}
		row.Latency.Error = numbers.Known(relative(r.nsOf(values[p]), float64(truth)))
		if w.random() && hits[p].Messages > 0 {
			low, high := drawnBounds(values[p], hits[p].Latency, c.Threshold)
			row.Latency.Low, row.Latency.High = numbers.Known(r.nsOf(low)), numbers.Known(r.nsOf(high))
		}
		rows = append(rows, row)
	}
	return rows, nil
}
