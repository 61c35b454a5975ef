package topology

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// An Average is how far the bytes that a rank sends go: Σ hops·bytes / Σ bytes over its
// messages, in hops (docs/DEFINITIONS.md 1.3). Messages of which a place is not known are
// left out; without any bytes there is no average.
type Average struct {
	Rank    uint32   `json:"rank"`
	Average *float64 `json:"average"` // as on a mesh: no way leads over an edge
	Torus   *float64 `json:"torus"`   // all dimensions closed to rings
	Bytes   uint64   `json:"bytes"`   // that count
	Unknown uint64   `json:"unknown"` // messages that do not
}

// Averages returns the average of every rank, from its sends.
func Averages(ctx context.Context, t *trace.Trace, top *Topology, jobs int) ([]Average, error) {
	ways := [2]*Topology{top.Wrapped(false), top.Wrapped(true)}
	type sum struct {
		hops           [2]float64
		bytes, unknown uint64
	}
	sums, err := engine.Map(ctx, jobs, len(t.Sends), func(_ context.Context, l int) (s sum, err error) {
		for _, rows := range t.Sends[l].Rows {
			for i := range rows {
				x := &rows[i]
				if x.State == trace.Cancelled {
					continue
				}
				if ways[0].Hops(t.Rank[l], x.To(t.Rank)) < 0 {
					s.unknown++
					continue
				}
				s.bytes += x.Bytes
				for w, way := range ways {
					s.hops[w] += float64(way.Hops(t.Rank[l], x.To(t.Rank))) * float64(x.Bytes)
				}
			}
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Average, len(t.World))
	hops := make([][2]float64, len(t.World))
	for l, rank := range t.Rank { // in order: floats are added
		if int(rank) >= len(out) {
			continue
		}
		out[rank].Bytes += sums[l].bytes
		out[rank].Unknown += sums[l].unknown
		for w := range hops[rank] {
			hops[rank][w] += sums[l].hops[w]
		}
	}
	for r := range out {
		out[r].Rank = uint32(r)
		if out[r].Bytes > 0 {
			mesh, torus := hops[r][0]/float64(out[r].Bytes), hops[r][1]/float64(out[r].Bytes)
			out[r].Average, out[r].Torus = &mesh, &torus
		}
	}
	return out, t.Store.Err()
}
