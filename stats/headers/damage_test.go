package headers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/headers"
	"tracekit/trace"
)

// TestDamagedTraces: where events are missing, peers wrong and clocks off, times still add up.
func TestDamagedTraces(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, _ := samples.Random(seed)
		src := damaged(m, r)
		for _, clock := range []merge.ClockMode{merge.ClockNone, merge.ClockCLC} {
			tr, a, p := made(t, src, merge.Options{Clock: clock}, analysis.Options{}, headers.Options{Exact: true})
			if balanced(t, fmt.Sprint("seed ", seed, " clock ", clock), tr, a, p, true); t.Failed() {
				return
			}
		}
	}
}

// damaged returns a trace that lacks some events, with some wrong peers and clocks that differ.
func damaged(m *samples.Memory, r *rand.Rand) *trace.MemorySource {
	out := &trace.MemorySource{About: m.About, Definitions: m.Definitions}
	skew := int64(0)
	for l, batches := range m.Batches {
		var b trace.Batch
		b.Reset(trace.LocationID(l), 0)
		for _, old := range batches {
			var at [5]int
			for _, table := range old.Order {
				i := at[table]
				at[table]++
				if r.IntN(20) == 0 {
					continue
				}
				switch table {
				case trace.TableFlow:
					b.AddFlow(old.Flow.Time[i]+skew, old.Flow.Kind[i], old.Flow.Region[i])
				case trace.TableP2P:
					p := &old.P2P
					peer, bytes := p.Peer[i], p.Bytes[i]
					if r.IntN(30) == 0 {
						peer, bytes = r.Uint32N(6), r.Uint64()
					}
					b.AddP2P(trace.P2PRow{Time: p.Time[i] + skew, Kind: p.Kind[i], Peer: peer, Comm: p.Comm[i], Tag: p.Tag[i], Bytes: bytes, Request: p.Request[i]})
				case trace.TableColl:
					c := &old.Coll
					b.AddColl(trace.CollRow{Time: c.Time[i] + skew, Kind: c.Kind[i], Op: c.Op[i], Comm: c.Comm[i], Root: c.Root[i], Sent: c.Sent[i], Received: c.Received[i], Request: c.Request[i]})
				case trace.TableOther:
					o := &old.Other
					b.AddOther(o.Time[i]+skew, o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]]...)
				}
			}
		}
		out.Batches = append(out.Batches, []*trace.Batch{&b})
		skew += r.Int64N(4000) - 2000
	}
	return out
}
