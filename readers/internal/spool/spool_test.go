package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/spill"
	"tracekit/trace"
)

// An item is an event of the model that the spool is compared with.
type item struct {
	time, tie int64
	id        uint64
}

// storeOf returns a store of that budget.
func storeOf(t testing.TB, budget int64) *spill.Store {
	s := spill.NewStore(budget, t.TempDir())
	t.Cleanup(func() { s.Close() })
	return s
}

// arguments is the number of arguments of an event; some need a page of their own.
func arguments(id uint64) uint64 {
	if id%64 == 7 {
		return id % 3000
	}
	return id % 5
}

// put adds an event whose table depends on its id, so that all forms of record occur.
func put(s *Stream, it item) {
	s.Tie = it.tie
	if it.id%5 == 0 {
		s.AddAttr(trace.AttributeID(it.id%7), trace.TypeUint64, it.id)
	}
	r := trace.RegionID(it.id)
	switch it.id % 8 {
	case 0:
		s.AddFlow(it.time, trace.KindEnter, r)
	case 1:
		s.AddContext(it.time, trace.KindCallingContextEnter, r, trace.CallingContextID(it.id+1), 3)
	case 2:
		s.AddP2P(trace.P2PRow{Time: it.time, Kind: trace.KindMpiSend, Peer: 1, Comm: 2, Tag: 3, Bytes: it.id, Request: 5})
	case 3:
		s.AddRequest(it.time, trace.KindMpiIsendComplete, it.id)
	case 4:
		s.AddColl(trace.CollRow{Time: it.time, Kind: trace.KindCollectiveEnd, Op: trace.CollAllreduce, Comm: 1, Root: 2, Sent: it.id,
			Received: 4, Request: 5})
	case 5:
		s.AddMetric(it.time, 3, []trace.ValueType{trace.TypeUint64, trace.TypeDouble}, []uint64{it.id, 9})
	case 6:
		s.AddOther(it.time, trace.KindInstant, it.id)
	default:
		s.AddOther(it.time, trace.KindThreadJoin, make([]uint64, arguments(it.id))...)
	}
}

// want is the batch that the model makes of sorted items.
func want(loc trace.LocationID, items []item) *trace.Batch {
	b := &trace.Batch{}
	b.Reset(loc, 0)
	for _, it := range items {
		if it.id%5 == 0 {
			b.AddAttr(trace.AttributeID(it.id%7), trace.TypeUint64, it.id)
		}
		r := trace.RegionID(it.id)
		switch it.id % 8 {
		case 0:
			b.AddFlow(it.time, trace.KindEnter, r)
		case 1:
			b.AddContext(it.time, trace.KindCallingContextEnter, r, trace.CallingContextID(it.id+1), 3)
		case 2:
			b.AddP2P(trace.P2PRow{Time: it.time, Kind: trace.KindMpiSend, Peer: 1, Comm: 2, Tag: 3, Bytes: it.id, Request: 5})
		case 3:
			b.AddRequest(it.time, trace.KindMpiIsendComplete, it.id)
		case 4:
			b.AddColl(trace.CollRow{Time: it.time, Kind: trace.KindCollectiveEnd, Op: trace.CollAllreduce, Comm: 1, Root: 2, Sent: it.id,
				Received: 4, Request: 5})
		case 5:
			b.AddMetric(it.time, 3, []trace.ValueType{trace.TypeUint64, trace.TypeDouble}, []uint64{it.id, 9})
		case 6:
			b.AddOther(it.time, trace.KindInstant, it.id)
		default:
			b.AddOther(it.time, trace.KindThreadJoin, make([]uint64, arguments(it.id))...)
		}
	}
	return b
}

// Whatever the order of adding and the budget, a location's events come out as a stable
// sort by (time, tie) says, and repeatedly and concurrently so.
func TestEventsAreSorted(t *testing.T) {
	sizes := []int{0, 1, 1500, 4096, 4097, 12000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for _, events := range sizes {
		for _, spread := range []int64{0, 1, 40, 1 << 40, 1 << 62} {
			t.Run(fmt.Sprintf("events=%d/spread=%d", events, spread), func(t *testing.T) {
				check(t, events, spread, false)
				check(t, events, spread, true)
			})
		}
	}
}

// check compares a spool with a model; by way of sheets if so wanted.
func check(t *testing.T, events int, spread int64, sheets bool) {
	const locations = 3
	var sheet Sheet
	var parts [locations]*Stream
	stream := func(s *Spool, l int) *Stream {
		if !sheets {
			return s.Stream(trace.LocationID(l))
		}
		if parts[l] == nil {
			parts[l] = sheet.Stream()
		}
		return parts[l]
	}
	bringIn := func(s *Spool) {
		for l, p := range parts {
			if p != nil {
				s.Stream(trace.LocationID(l)).Append(p)
				parts[l] = nil
			}
		}
		sheet.Reset()
	}
	rnd := rand.New(rand.NewPCG(1, uint64(events)))
	s := New(storeOf(t, 0))
	s.portion = 1 + rnd.IntN(10_000)
	model := make([][]item, locations)
	for i := range events {
		it := item{time: int64(i), tie: rnd.Int64N(3) - 1, id: uint64(i)}
		if spread > 0 {
			it.time += rnd.Int64N(spread) - spread/2
		}
		l := rnd.IntN(locations)
		put(stream(s, l), it)
		model[l] = append(model[l], it)
		if rnd.IntN(300) == 0 {
			bringIn(s)
		}
	}
	bringIn(s)
	if err := s.Finish(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for l := range 2 * locations { // each location twice at once
		wait.Go(func() {
			id := trace.LocationID(l % locations)
			items := slices.Clone(model[id])
			slices.SortStableFunc(items, func(a, b item) int {
				return slices.Compare([]int64{a.time, a.tie}, []int64{b.time, b.tie})
			})
			if d := cmp.Diff(rows(want(id, items)), collect(t, s, id)); d != "" {
				t.Errorf("location %d (-want +got):\n%.3000s", id, d)
			}
		})
	}
	wait.Wait()
}

// collect renders all events of a location, one by one, and checks the numbering.
func collect(t *testing.T, s *Spool, id trace.LocationID) []string {
	out := []string{}
	for b, err := range s.Events(context.Background(), id) {
		if err != nil {
			t.Error(err)
			return nil
		}
		if b.Location != id || b.First != uint64(len(out)) {
			t.Errorf("batch of location %d starts at %d, want %d, %d", b.Location, b.First, id, len(out))
		}
		out = append(out, rows(b)...)
	}
	return out
}

// rows renders the events of a batch so that batches cut differently can be compared.
func rows(b *trace.Batch) []string {
	out := make([]string, b.Len())
	at := func(seq uint64) *string { return &out[seq-b.First] }
	for i, s := range b.Flow.Seq {
		*at(s) += fmt.Sprint("flow ", b.Flow.Time[i], b.Flow.Kind[i], b.Flow.Region[i])
		if len(b.Flow.Context) > 0 && b.Flow.Context[i] != trace.None {
			*at(s) += fmt.Sprint(" context ", b.Flow.Context[i], b.Flow.Unwind[i])
		}
	}
	p, c, m, o, a := &b.P2P, &b.Coll, &b.Metric, &b.Other, &b.Attrs
	for i, s := range p.Seq {
		*at(s) += fmt.Sprint("p2p ", p.Time[i], p.Kind[i], p.Peer[i], p.Comm[i], p.Tag[i], p.Bytes[i], p.Request[i])
	}
	for i, s := range c.Seq {
		*at(s) += fmt.Sprint("coll ", c.Time[i], c.Kind[i], c.Op[i], c.Comm[i], c.Root[i], c.Sent[i], c.Received[i], c.Request[i])
	}
	for i, s := range m.Seq {
		*at(s) += fmt.Sprint("metric ", m.Time[i], m.Metric[i], m.Member[i], m.Type[i], m.Value[i])
	}
	for i, s := range o.Seq {
		*at(s) += fmt.Sprint("other ", o.Time[i], o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]])
	}
	for i, s := range a.Seq {
		*at(s) += fmt.Sprint(" attr ", a.Attribute[i], a.Type[i], a.Value[i])
	}
	return out
}

// Late counts what came too late, and Span is that of all events.
func TestStreamAccounts(t *testing.T) {
	s := New(storeOf(t, 1<<20))
	st := s.Stream(4)
	for _, time := range []int64{5, 3, 9, 9, 4} {
		st.AddFlow(time, trace.KindEnter, 0)
	}
	first, last, ok := st.Span()
	if st.Len() != 5 || st.Late() != 2 || first != 3 || last != 9 || !ok {
		t.Errorf("len %d late %d span %d..%d %v, want 5, 2, 3..9 true", st.Len(), st.Late(), first, last, ok)
	}
}

// Streams that were brought in by sheets have the accounts of one to which events were added.
func TestSheetAccounts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	s := New(storeOf(t, 1<<20))
	var sheet Sheet
	for l := range trace.LocationID(20) {
		want, got, part := s.Stream(2*l), s.Stream(2*l+1), sheet.Stream()
		for i := range 200 {
			time := int64(i) + rnd.Int64N(int64(l)+1)
			want.AddFlow(time, trace.KindEnter, 0)
			part.AddFlow(time, trace.KindEnter, 0)
			if rnd.IntN(10) == 0 || i == 199 {
				got.Append(part)
				sheet.Reset()
				part = sheet.Stream()
			}
		}
		a, b, _ := want.Span()
		c, d, ok := got.Span()
		if want.Len() != got.Len() || want.Late() != got.Late() || a != c || b != d || !ok {
			t.Errorf("len %d late %d span %d..%d, want %d, %d, %d..%d", got.Len(), got.Late(), c, d, want.Len(), want.Late(), a, b)
		}
	}
}

// A directory that cannot be written is an error of Finish, not a panic.
func TestNoPlaceForTheFile(t *testing.T) {
	s := New(spill.NewStore(0, t.TempDir()+"/missing"))
	for i := range 1_000_000 {
		s.Stream(0).AddFlow(int64(i), trace.KindEnter, 0)
	}
	if s.Finish(t.Context(), 1) == nil {
		t.Error("no error although the temporary file cannot be made")
	}
	if n := s.Stream(0).words.Len(); n > 2*portionWords {
		t.Errorf("%d words are kept although there is no place for them", n)
	}
}

// Cancelling ends the sorting.
func TestFinishIsCancelled(t *testing.T) {
	s := New(storeOf(t, 1<<20))
	defer s.Close()
	s.Stream(0).AddFlow(1, trace.KindEnter, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Finish(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

func BenchmarkSpool(b *testing.B) {
	for _, name := range []string{"sorted", "unsorted"} {
		b.Run("order="+name, func(b *testing.B) {
			for b.Loop() {
				spoolMillion(b, name == "sorted")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/event")
		})
	}
}

// spoolMillion adds a million events and reads them.
func spoolMillion(b *testing.B, sorted bool) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := New(storeOf(b, 8<<20))
	for i := range 1_000_000 {
		time := int64(i)
		if !sorted {
			time = rnd.Int64N(1_000_000)
		}
		s.Stream(trace.LocationID(i%8)).AddFlow(time, trace.KindEnter, 1)
	}
	if err := s.Finish(b.Context(), 1); err != nil {
		b.Fatal(err)
	}
	n := 0
	for l := range 8 {
		for batch, err := range s.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				b.Fatal(err)
			}
			n += batch.Len()
		}
	}
	if n != 1_000_000 {
		b.Fatal("events are missing")
	}
	s.Close()
}

// TestMergeParts: the parts of several streams, one after the other, hold all of them in order
// of time, tie, stream and adding, whatever the size of the parts; and so do streams that
// were filled and sorted by several goroutines.
func TestMergeParts(t *testing.T) {
	type row struct{ time, tie, stream, number int64 }
	const streams, events = 5, 6000
	s := New(storeOf(t, 1<<20))
	s.portion = 20_000
	var all [streams][]row
	var wait sync.WaitGroup
	for l := range all {
		wait.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(l)))
			st := s.Stream(trace.LocationID(l))
			for i := range int64(events) {
				r := row{i/3 + rnd.Int64N(40), rnd.Int64N(2), int64(l), i}
				st.Tie = r.tie
				st.AddOther(r.time, trace.KindInstant, uint64(r.stream), uint64(r.number), make([]uint64, 9)[rnd.IntN(9)])
				all[l] = append(all[l], r)
				if rnd.IntN(1000) == 0 {
					st.Rest()
				}
			}
		})
	}
	wait.Wait()
	if err := s.Finish(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(all[:]...)
	slices.SortStableFunc(want, func(a, b row) int {
		return slices.Compare([]int64{a.time, a.tie, a.stream, a.number}, []int64{b.time, b.tie, b.stream, b.number})
	})
	for _, words := range []int{1, 5000, 1 << 30} {
		parts := Parts(s.Streams(), words)
		if few := words == 1<<30; few != (len(parts) == 1) {
			t.Errorf("%d parts of %d words", len(parts), words)
		}
		var got []row
		for _, p := range parts {
			m := Merge(s.Streams(), p)
			for r := m.Next(); r != nil; r = m.Next() {
				if r.Time() < p.First || r.Time() > p.Last {
					t.Fatalf("an event at %d in part %v", r.Time(), p)
				}
				got = append(got, row{r.Time(), int64(r[2]), int64(r.Args()[0]), int64(r.Args()[1])})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("parts of %d words: %d events in another order, want %d", words, len(got), len(want))
		}
	}
}
