package symbols_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// random is n events of every kind of table, with numbers of few values and of many, attributes, requests that come and go.
func random(r *rand.Rand, l trace.LocationID, n int) *trace.Batch {
	b := &trace.Batch{}
	b.Reset(l, 0)
	number := func() uint64 {
		if r.IntN(3) > 0 {
			return r.Uint64N(3)
		}
		return r.Uint64() >> r.IntN(64)
	}
	for i := range int64(n) {
		for range r.IntN(3) / 2 {
			b.AddAttr(trace.AttributeID(r.IntN(3)), trace.TypeUint64, number())
		}
		switch r.IntN(9) {
		case 0, 1:
			b.AddFlow(i, trace.KindEnter, trace.RegionID(r.IntN(3)))
		case 2:
			b.AddContext(i, trace.KindCallingContextEnter, trace.RegionID(r.IntN(3)), trace.CallingContextID(r.IntN(2)), r.Uint32N(3))
		case 3:
			b.AddOther(i, trace.KindThreadFork, []uint64{number(), number(), number()}[:r.IntN(4)]...)
		case 4:
			types := []trace.ValueType{trace.TypeUint64, trace.TypeInt64}[:1+r.IntN(2)]
			b.AddMetric(i, trace.MetricID(r.IntN(2)), types, []uint64{number(), number()}[:len(types)])
		case 5:
			b.AddColl(trace.CollRow{Time: i, Kind: trace.KindCollectiveEnd, Op: trace.CollectiveOp(r.IntN(3)), Root: uint32(number()),
				Sent: number(), Received: number(), Request: number() / 2})
		case 6:
			kind := []trace.Kind{trace.KindMpiIsend, trace.KindMpiIrecv, trace.KindMpiSend, trace.KindMpiRecv}[r.IntN(4)]
			b.AddP2P(trace.P2PRow{Time: i, Kind: kind, Peer: uint32(number()), Tag: uint32(number()), Bytes: number(), Request: number()})
		default:
			kind := []trace.Kind{trace.KindMpiIrecvRequest, trace.KindMpiIsendComplete, trace.KindMpiRequestTest}[r.IntN(3)]
			b.AddRequest(i, kind, r.Uint64N(1+r.Uint64N(1<<20)))
		}
	}
	return b
}

// Events of no sense come back as well, of one location and of many that have something in common.
func TestRandomEventsComeBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		src := tracetest.MustParse(t, "attribute 0 a type=4\nattribute 1 b type=4\nattribute 2 c type=4\nregion f\nregion g\nregion h\n"+
			"context 0 region=0\ncontext 1 region=1\nmember 0 m\nmetric 0 members=0,0\nmetric 1 members=0\n"+
			"location 0 rank=0\nlocation 1 rank=1\nlocation 2 rank=2\n")
		src.Batches = nil
		for l := range trace.LocationID(3) {
			own := uint64(l) % 2 // the first and the last are alike
			src.Batches = append(src.Batches, []*trace.Batch{random(rand.New(rand.NewPCG(seed, own)), l, 300)})
		}
		rebuilt(t, src)
	}
}

// More requests at a time than are remembered come back.
func TestManyRequestsComeBack(t *testing.T) {
	t.Parallel()
	src := tracetest.MustParse(t, "location 0 rank=0")
	b, r := &trace.Batch{}, rand.New(rand.NewPCG(5, 6))
	b.Reset(0, 0)
	const n = 6000
	for i := range int64(n) {
		b.AddP2P(trace.P2PRow{Time: i, Kind: trace.KindMpiIsend, Bytes: 8, Request: uint64(i) + 1})
	}
	for i, id := range r.Perm(n) {
		b.AddRequest(n+int64(i), trace.KindMpiIsendComplete, uint64(id)+1)
	}
	src.Batches = [][]*trace.Batch{{b}}
	rebuilt(t, src)
}

// The ranks of a grid are three classes, corners, edges and interior, with the same few symbols, whatever its size.
func TestGridIsThreeClasses(t *testing.T) {
	t.Parallel()
	grid := func(side int) string {
		var b strings.Builder
		for at := range side * side {
			x, y := at%side, at/side
			fmt.Fprintf(&b, "location %d rank=%d\n", at, at)
			for i, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				if to := [2]int{x + d[0], y + d[1]}; min(to[0], to[1]) >= 0 && max(to[0], to[1]) < side {
					fmt.Fprintf(&b, " %d MpiSend to=%d bytes=8\n", i, to[0]+side*to[1])
				}
			}
		}
		return b.String()
	}
	small, symbolsOfSmall, classesOfSmall := rebuilt(t, tracetest.MustParse(t, grid(4)))
	large, symbolsOfLarge, classesOfLarge := rebuilt(t, tracetest.MustParse(t, grid(16)))
	if classesOfSmall != 3 || classesOfLarge != 3 || symbolsOfSmall != 4 || symbolsOfLarge != 4 || len(large) > 2*len(small) {
		t.Errorf("%d classes of %d symbols in %d bytes of 16 ranks, %d of %d in %d of 256", classesOfSmall, symbolsOfSmall, len(small),
			classesOfLarge, symbolsOfLarge, len(large))
	}
}

// Metrics whose values are left out come back as zeros, as long as there are not more than any have.
func TestUnmetered(t *testing.T) {
	t.Parallel()
	for members, sound := range map[int]bool{1: true, symbols.MostMembers: true, symbols.MostMembers + 1: false} {
		types, values := make([]trace.ValueType, members), make([]uint64, members)
		for i := range types {
			types[i], values[i] = trace.TypeUint64, 7
		}
		in, out := &trace.Batch{}, &trace.Batch{}
		in.AddMetric(1, 0, types, values)
		rows := symbols.Rows{Table: symbols.NewTable(), Unmetered: true}
		rows.Begin(in, 0)
		for seq, at := range in.Events {
			id, time := rows.Read(in, seq, at, 0, false)
			if rows.Count(id) != 0 || len(rows.Values) != 0 {
				t.Errorf("%d values of %d members are left", rows.Count(id), members)
			}
			if ok := rows.Write(out, id, time); ok != sound {
				t.Errorf("a metric of %d members is written: %v", members, ok)
			}
		}
		for i, v := range out.Metric.Value {
			if v != 0 || out.Metric.Type[i] != trace.TypeUint64 {
				t.Errorf("member %d is %d", i, v)
			}
		}
		if sound && len(out.Metric.Value) != members {
			t.Errorf("%d members come back as %d", members, len(out.Metric.Value))
		}
	}
}

// The symbols of a location are coded and read; what was read means the same.
func TestTablesComeBack(t *testing.T) {
	t.Parallel()
	src, form := tracetest.MustParse(t, tracetest.Everything), pack.Form{Tables: coder.NewTables()}
	for l := range src.Batches {
		c := read(t, src, l)
		out := pack.NewColumns(form)
		c.table.Code(out)
		in, back := pack.OpenColumns(form, out.Finish()), symbols.NewTable()
		if back.Code(in); in.Damaged || back.Len() != c.table.Len() {
			t.Fatalf("location %d: %d symbols come back as %d", l, c.table.Len(), back.Len())
		}
		alone := *src
		alone.Batches = make([][]*trace.Batch, len(src.Batches))
		alone.Batches[l] = src.Batches[l]
		again := alone
		again.Batches = make([][]*trace.Batch, len(src.Batches))
		again.Batches[l] = c.write(t, back, l)
		if got, want := tracetest.MustFormat(t, &again), tracetest.MustFormat(t, &alone); got != want {
			t.Errorf("location %d comes back as\n%s\nwant\n%s", l, got, want)
		}
	}
}
