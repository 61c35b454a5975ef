package tkf_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/trace"
)

// strange returns a trace in which nothing follows a rule: times run backwards, values are
// extreme or all different, requests are unknown, references name nothing.
func strange(seed uint64, n int) *trace.MemorySource {
	r := rand.New(rand.NewPCG(seed, 9))
	extreme := func() uint64 {
		return []uint64{0, 1, math.MaxUint64, math.MaxInt64, 1 << 63, r.Uint64(), uint64(r.IntN(9))}[r.IntN(7)]
	}
	small := func() uint32 { return []uint32{trace.None, 0, 1, 2, r.Uint32()}[r.IntN(5)] }
	src := &trace.MemorySource{Definitions: worldDefs(3, "a", "b")}
	for l := range 3 {
		b := &trace.Batch{}
		b.Reset(trace.LocationID(l), 0)
		for range n {
			time := int64(extreme()) / 4 // a run of more ticks than an int64 holds is refused
			if r.IntN(4) == 0 {
				b.AddAttr(trace.AttributeID(small()), trace.ValueType(r.IntN(12)), extreme())
			}
			switch r.IntN(7) {
			case 0:
				b.AddFlow(time, trace.KindEnter, trace.RegionID(small()))
			case 1:
				b.AddContext(time, trace.KindCallingContextEnter, 0, trace.CallingContextID(small()), small())
			case 2:
				kind := trace.KindMpiSend + trace.Kind(r.IntN(8))
				b.AddP2P(trace.P2PRow{Time: time, Kind: kind, Peer: small(), Comm: trace.CommID(small()), Tag: small(), Bytes: extreme(),
					Request: extreme()})
			case 3:
				b.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveEnd, Op: trace.CollectiveOp(r.IntN(256)), Comm: 0, Root: small(),
					Sent: extreme(), Received: extreme()})
			case 4:
				types, values, n := []trace.ValueType{1, trace.ValueType(r.IntN(256))}, []uint64{extreme(), extreme()}, r.IntN(3)
				b.AddMetric(time, trace.MetricID(small()), types[:n], values[:n])
			case 5:
				args := make([]uint64, r.IntN(5))
				for i := range args {
					args[i] = extreme()
				}
				b.AddOther(time, trace.KindThreadFork, args...)
			default:
				b.AddColl(trace.CollRow{Time: time, Kind: trace.KindNonBlockingCollectiveRequest, Comm: trace.None, Root: trace.None,
					Request: extreme()})
			}
		}
		src.Batches = append(src.Batches, []*trace.Batch{b})
	}
	return src
}

func TestRoundTripOfStrangeTraces(t *testing.T) {
	for seed, n := range []int{5_000, 2_000, 2_000, 2_000, 2_000} {
		src := strange(uint64(seed), n)
		name, _ := compress(t, src, tkf.Options{})
		checkSame(t, src, openTKF(t, name))
		name, _ = compress(t, src, tkf.Options{Mode: tkf.Statistics})
		kinds(t, openTKF(t, name))
	}
}

// More events than a block has, and locations without any.
func TestRoundTripOfLongAndEmptyLocations(t *testing.T) {
	src := strange(1, 70_000)
	src.Batches[1] = nil
	name, _ := compress(t, src, tkf.Options{})
	checkSame(t, src, openTKF(t, name))
	empty := &trace.MemorySource{Definitions: worldDefs(2)}
	for _, mode := range []tkf.Mode{tkf.Lossless, tkf.Statistics} {
		name, _ = compress(t, empty, tkf.Options{Mode: mode})
		checkSame(t, empty, openTKF(t, name))
	}
	none := &trace.MemorySource{Definitions: &trace.Defs{Clock: trace.ClockProperties{Resolution: 1}}}
	name, _ = compress(t, none, tkf.Options{})
	checkSame(t, none, openTKF(t, name))
}

// Where a clock is granular, the leader goes on from what the others learn from, in the middle
// of a batch of events of all kinds; and it can be read again.
func TestRoundTripOfGranularClock(t *testing.T) {
	src := strange(3, 20_000)
	for _, batches := range src.Batches {
		b := batches[0]
		for _, table := range []struct {
			seq  []uint64
			time []int64
		}{{b.Flow.Seq, b.Flow.Time}, {b.P2P.Seq, b.P2P.Time}, {b.Coll.Seq, b.Coll.Time}, {b.Metric.Seq, b.Metric.Time},
			{b.Other.Seq, b.Other.Time}} {
			for i, s := range table.seq {
				table.time[i] = 64 * int64(s*13+s*s%11)
			}
		}
	}
	name, _ := compress(t, src, tkf.Options{})
	got := openTKF(t, name)
	checkSame(t, src, got)
	checkSame(t, src, got)
}
