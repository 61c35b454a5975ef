package measurement

import (
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestEffect states what the model says by hand: records of 10 bytes in buffers of 100, 1 s a flush, 0.1 s a record.
func TestEffect(t *testing.T) {
	c := Costs{Buffer: 100, Record: 10, Flush: 1e9, Event: 1e8}
	e := c.Effect([]uint64{9, 25, 0}, 9e9)
	if e.Records != 34 || e.Bytes != 340 || e.Flushes != 2 || e.Ns != 4.5e9 || *e.Share != 0.5 {
		t.Errorf("%+v, share %v", e, *e.Share)
	}
	c.Disk = 20 // 200 bytes are flushed: 10 s
	if e = c.Effect([]uint64{9, 25, 0}, 0); e.Ns != 10e9 || e.Share != nil {
		t.Errorf("%+v", e)
	}
	if c = (Costs{Record: 10}); c.Effect([]uint64{1 << 40}, 1).Flushes != 0 {
		t.Error("a buffer without a size is never full")
	}
}

// planted: rank 0 sends, rank 1 receives, both meet.
const planted = `
location 0 rank=0
  0 Enter main ; 10 Enter work ; 20 Leave work
  30 Enter MPI_Send ; 31 MpiSend to=1 tag=1 bytes=8 ; 32 Leave MPI_Send
  40 Enter MPI_Barrier ; 41 MpiCollectiveBegin ; 60 MpiCollectiveEnd op=0 ; 61 Leave MPI_Barrier
  99 Leave main
location 1 rank=1
  0 Enter main
  15 Enter MPI_Recv ; 25 MpiRecv from=0 tag=1 bytes=8 ; 26 Leave MPI_Recv
  40 Enter MPI_Barrier ; 41 MpiCollectiveBegin ; 60 MpiCollectiveEnd op=0 ; 61 Leave MPI_Barrier
  99 Leave main
`

// TestMake states where costs pass: those of records until a message leaves or a collective begins before the call, of the others in it or
// behind the last one; the first record is free. A buffer of four records is flushed with the fourth and the eighth one.
func TestMake(t *testing.T) {
	tr, err := merge.Merge(t.Context(), tracetest.MustParse(t, planted), merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		costs Costs
		want  [2]string // by location: before calls, in them, after the last
	}{
		{Costs{Event: 1}, [2]string{"[4 2] [1 2] 1", "[1 2] [2 2] 1"}},
		{Costs{Byte: 1, Record: 3}, [2]string{"[12 6] [3 6] 3", "[3 6] [6 6] 3"}},
		{Costs{Event: 1, Record: 5, Buffer: 20, Flush: 100}, [2]string{"[104 102] [1 2] 1", "[1 2] [102 102] 1"}},
		{Costs{Header: 7, Layer: 10}, [2]string{"[17 0] [0 0] 0", "[0 0] [0 0] 0"}},
		{Costs{Header: 7, Limit: 7}, [2]string{"[0 0] [0 0] 0", "[0 0] [0 0] 0"}},
	} {
		loads, err := Make(t.Context(), tr, &c.costs, 1)
		if err != nil {
			t.Fatal(err)
		}
		for l, x := range loads {
			var before, own []int64
			for i := range tr.Calls[l].Len() {
				before, own = append(before, x.Before.At(i)), append(own, x.Own.At(i))
			}
			if got := fmt.Sprint(before, own, x.After); got != c.want[l] {
				t.Errorf("%+v: location %d has %s, want %s", c.costs, l, got, c.want[l])
			}
		}
		loads.Release()
	}
}

// TestTicks: what is less than a tick is not lost.
func TestTicks(t *testing.T) {
	c := NewClock(&trace.Trace{Defs: &trace.Defs{Clock: trace.ClockProperties{Resolution: 1_000_000}}})
	sum := int64(0)
	for range 1000 {
		sum += c.Ticks(200)
	}
	if sum != 200 {
		t.Errorf("1,000 times 200 ns are %d µs", sum)
	}
}

// TestNamed: names have costs, or are those of recorders that document none.
func TestNamed(t *testing.T) {
	known, undocumented := Names()
	for _, name := range known {
		if c, documented, ok := Named(name); !ok || !documented || c.Model != name || !c.Messages() && !c.Records() {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, name := range undocumented {
		if c, documented, ok := Named(name); !ok || documented || c.Messages() || c.Records() {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, _, ok := Named("tape"); ok {
		t.Error("tape is no name")
	}
}
