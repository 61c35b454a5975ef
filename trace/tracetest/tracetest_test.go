package tracetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/trace"
)

const pingText = `
# The receiver waits 30 ticks.
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 comm=WORLD tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 rank=1 name=worker
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`

func TestParseMakesTheWorld(t *testing.T) {
	d := MustParse(t, pingText).Definitions
	if got := d.World(); !cmp.Equal(got, []trace.LocationID{0, 1}) {
		t.Errorf("World = %v", got)
	}
	if got := d.String(d.Comms[0].Name); got != "MPI_COMM_WORLD" {
		t.Errorf("communicator 0 is %q", got)
	}
	if got := d.Groups[d.Comms[0].Group].Members; !cmp.Equal(got, []uint32{0, 1}) {
		t.Errorf("its members are %v", got)
	}
	if got := d.String(d.Locations[1].Name); got != "worker" {
		t.Errorf("location 1 is %q", got)
	}
	r := d.Regions[0]
	if d.String(r.Name) != "MPI_Send" || r.Paradigm != trace.ParadigmMPI || r.Role != trace.RolePoint2Point {
		t.Errorf("region 0 is %+v", r)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

func TestParseEvents(t *testing.T) {
	b := MustParse(t, pingText).Batches[1][0]
	want := &trace.Batch{Location: 1}
	want.AddFlow(10, trace.KindEnter, 1)
	want.AddP2P(trace.P2PRow{Time: 46, Kind: trace.KindMpiRecv, Peer: 0, Comm: 0, Tag: 7, Bytes: 8})
	want.AddFlow(47, trace.KindLeave, 1)
	if d := diffBatches(b, want); d != "" {
		t.Error(d)
	}
}

func diffBatches(a, b *trace.Batch) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }

func TestParseShortForms(t *testing.T) {
	m := MustParse(t, `
region main file=main.c line=3 end=99
comm EVEN ranks=0,2
comm PAIRS ranks=0 others=1,2
comm SELF self
location 0 rank=0 offsets=0:5,100:7:0.5
location rank=0
location rank=2
location rank=1
  1 Enter main ; 2 Enter MPI_Send @main.c:12 ; 3 Leave MPI_Send ; 4 Enter MPI_Send @main.c:12 ; 5 Leave MPI_Send
`)
	d := m.Definitions
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	if got := d.Ranks(); !cmp.Equal(got, []uint32{0, 0, 2, 1}) {
		t.Errorf("Ranks = %v", got)
	}
	if got := d.String(d.Locations[1].Name); got != "Thread 1" {
		t.Errorf("second location of rank 0 is %q", got)
	}
	if len(d.Comms) != 4 || !d.Comms[2].Inter || d.Groups[d.Comms[3].Group].Kind != trace.GroupCommSelf {
		t.Errorf("Comms = %+v", d.Comms)
	}
	if got := d.Locations[0].ClockOffsets; !cmp.Equal(got, []trace.ClockOffset{{Time: 0, Offset: 5}, {Time: 100, Offset: 7, Deviation: 0.5}}) {
		t.Errorf("ClockOffsets = %v", got)
	}
	f := m.Batches[3][0].Flow
	if !cmp.Equal(f.Context, []trace.CallingContextID{trace.None, 0, 0, 0, 0}) || f.Kind[2] != trace.KindCallingContextLeave {
		t.Errorf("Context = %v, Kind = %v", f.Context, f.Kind)
	}
	if s := d.SourceLocations[0]; d.String(s.File) != "main.c" || s.Line != 12 {
		t.Errorf("site = %+v", s)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{pingText, Everything, "", "location 0\n", "location 0 rank=3\n  5 Enter f\n"} {
		m := MustParse(t, text)
		written := MustFormat(t, m)
		again := MustParse(t, written)
		if d := cmp.Diff(m.Definitions, again.Definitions); d != "" {
			t.Errorf("definitions changed (-first +again):\n%s\ntext:\n%s", d, written)
		}
		if d := cmp.Diff(m.About, again.About); d != "" {
			t.Errorf("info changed:\n%s", d)
		}
		for l := range m.Batches {
			if d := diffBatches(m.Batches[l][0], again.Batches[l][0]); d != "" {
				t.Errorf("events of location %d changed:\n%s", l, d)
			}
		}
		if got := MustFormat(t, again); got != written {
			t.Errorf("second text differs:\n%s", cmp.Diff(written, got))
		}
	}
}

func TestFormatIsShort(t *testing.T) {
	want := `region 0 MPI_Send
region 1 MPI_Recv
location 0 "Master thread" rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 worker rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`
	for _, text := range []string{pingText, want} {
		if got := MustFormat(t, MustParse(t, text)); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"locaton 0", `text:1: column 1: unknown definition "locaton"`},
		{"  1 Enter f", `text:1: column 3: events before the first location`},
		{"location 1", `text:1: column 10: number 1 where 0 is next`},
		{"location 0\n  1 Entr f", `text:2: column 5: unknown event "Entr"`},
		{"location 0\n  x Enter f", `text:2: column 3: "x" is no integer`},
		{"location 0\n  1 Enter", `text:2: column 5: Enter needs a region`},
		{"location 0\n  1", `text:2: column 3: an event has a time and a kind`},
		{"location 0\n  1 MpiSend too=1", `text:2: column 13: unknown key "too"`},
		{"location 0\n  1 MpiSend to=5000000000", `text:2: column 13: "5000000000" is no number of 32 bits`},
		{"location 0\n  1 MpiSend to=1 comm=X", `text:2: column 18: unknown communicator "X"`},
		{"location 0\n  1 MpiCollectiveEnd Foo", `text:2: column 22: unknown operation "Foo"`},
		{"location 0\n  1 Metric 0", `text:2: column 5: a metric event has a metric and 1 to 255 values`},
		{"location 0\n  1 Metric 0 foo:1", `text:2: column 14: "foo:1" is not TYPE:VALUE`},
		{"location 0\n  1 Enter f @x", `text:2: column 13: "@x" is not @FILE:LINE`},
		{"location 0\n  1 ThreadFork x", `text:2: column 16: "x" is not a number`},
		{"location 0\n  1 Enter f attr=1", `text:2: column 13: "1" is not ID:TYPE:VALUE`},
		{"location 0 offsets=1", `text:1: column 12: "1" is not TIME:OFFSET[:DEVIATION]`},
		{"location 0 rank=9999999", `text:1: column 12: rank 9999999 is not below 65536`},
		{"region f\nregion f\nlocation 0\n  1 Enter f", `text:4: column 11: there are several regions "f"`},
		{`region "f`, `text:1: column 8: a quoted text does not end`},
		{"opaque payload=0", `text:1: column 8: encoding/hex: odd length hex string`},
		{`property x`, `text:1: column 1: a property is a name and value=…`},
		{`string`, `text:1: column 1: a string has a text`},
		{"\na=b", `text:2: column 1: a line begins with a keyword`},
	} {
		_, err := Parse(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// FuzzParse: what is read can be written, and is read as the same again.
func FuzzParse(f *testing.F) {
	f.Add(pingText)
	f.Add(Everything)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		written := MustFormat(t, m)
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if got := MustFormat(t, again); got != written {
			t.Fatalf("first:\n%s\nsecond:\n%s", written, got)
		}
		for l := range m.Batches {
			for b := range again.Events(context.Background(), trace.LocationID(l)) {
				if d := diffBatches(m.Batches[l][0], b); d != "" {
					t.Fatal(d)
				}
			}
		}
	})
}
