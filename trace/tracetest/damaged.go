package tracetest

import (
	"math/rand/v2"

	"tracekit/trace"
)

// Damaged returns a trace that lacks some events. Some peers and numbers of bytes are wrong, and each location's clock is off by another
// span; with disorder some times decrease as well. It has no metrics and no attributes.
func Damaged(src *trace.MemorySource, r *rand.Rand, disorder bool) *trace.MemorySource {
	out := &trace.MemorySource{About: src.About, Definitions: src.Definitions}
	skew := int64(0)
	for l, batches := range src.Batches {
		b := new(trace.Batch)
		b.Reset(trace.LocationID(l), 0)
		for _, old := range batches {
			for _, row := range old.Events {
				i, time := row.First, old.Time(row)+skew
				if r.IntN(20) == 0 {
					continue
				}
				if disorder && r.IntN(10) == 0 {
					time -= r.Int64N(5000)
				}
				switch row.Table {
				case trace.TableFlow:
					b.AddFlow(time, old.Flow.Kind[i], old.Flow.Region[i])
				case trace.TableP2P:
					p := &old.P2P
					peer, bytes := p.Peer[i], p.Bytes[i]
					if r.IntN(30) == 0 {
						peer, bytes = r.Uint32N(6), r.Uint64()
					}
					b.AddP2P(trace.P2PRow{Time: time, Kind: p.Kind[i], Peer: peer, Comm: p.Comm[i], Tag: p.Tag[i], Bytes: bytes,
						Request: p.Request[i]})
				case trace.TableColl:
					c := &old.Coll
					b.AddColl(trace.CollRow{Time: time, Kind: c.Kind[i], Op: c.Op[i], Comm: c.Comm[i], Root: c.Root[i], Sent: c.Sent[i],
						Received: c.Received[i], Request: c.Request[i]})
				case trace.TableOther:
					o := &old.Other
					b.AddOther(time, o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]]...)
				}
			}
		}
		out.Batches = append(out.Batches, []*trace.Batch{b})
		skew += r.Int64N(4000) - 2000
	}
	return out
}
