package trace

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, text string) *MemorySource {
	t.Helper()
	m, err := ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustWrite(t testing.TB, s Source) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const pingText = `
# The receiver waits 30 ticks.
location 0 rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 comm=WORLD tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 rank=1 name=worker
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`

func TestParseTextMakesTheWorld(t *testing.T) {
	d := mustParse(t, pingText).Definitions
	if got := d.World(); !cmp.Equal(got, []LocationID{0, 1}) {
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
	if d.String(r.Name) != "MPI_Send" || r.Paradigm != ParadigmMPI || r.Role != RolePoint2Point {
		t.Errorf("region 0 is %+v", r)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

func TestParseTextEvents(t *testing.T) {
	b := mustParse(t, pingText).Batches[1][0]
	want := &Batch{Location: 1}
	want.AddFlow(10, KindEnter, 1)
	want.AddP2P(P2PRow{Time: 46, Kind: KindMpiRecv, Peer: 0, Comm: 0, Tag: 7, Bytes: 8})
	want.AddFlow(47, KindLeave, 1)
	if d := diffBatches(b, want); d != "" {
		t.Error(d)
	}
}

func diffBatches(a, b *Batch) string {
	return cmp.Diff(a, b, cmp.Comparer(func(x, y []RegionID) bool { return equalOrEmpty(x, y) }),
		cmp.Comparer(func(x, y []CallingContextID) bool { return equalOrEmpty(x, y) }),
		cmp.Comparer(func(x, y []uint64) bool { return equalOrEmpty(x, y) }),
		cmp.Comparer(func(x, y []uint32) bool { return equalOrEmpty(x, y) }),
		cmp.Comparer(func(x, y []int64) bool { return equalOrEmpty(x, y) }))
}

func equalOrEmpty[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestParseTextShortForms(t *testing.T) {
	m := mustParse(t, `
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
	if len(d.Comms) != 4 || !d.Comms[2].Inter || d.Groups[d.Comms[3].Group].Kind != GroupCommSelf {
		t.Errorf("Comms = %+v", d.Comms)
	}
	if got := d.Locations[0].ClockOffsets; !cmp.Equal(got, []ClockOffset{{0, 5, 0}, {100, 7, 0.5}}) {
		t.Errorf("ClockOffsets = %v", got)
	}
	f := m.Batches[3][0].Flow
	if !cmp.Equal(f.Context, []CallingContextID{None, 0, 0, 0, 0}) || f.Kind[2] != KindCallingContextLeave {
		t.Errorf("Context = %v, Kind = %v", f.Context, f.Kind)
	}
	if s := d.SourceLocations[0]; d.String(s.File) != "main.c" || s.Line != 12 {
		t.Errorf("site = %+v", s)
	}
}

// everything is a trace with each kind of definition and event, and odd values.
const everything = `
info format=otf2 version="3.0" creator="a b" machine=m description="line\n" path=x traceid=7 bytes=9
property "k 1" value="v"
clock resolution=1000 offset=-5 length=10 realtime=12
string 0 "" ref=4
string 1 "dup"
string 2 "dup"
node 0 root class=machine
node 1 n1 class=node parent=0 ref=17
process 0 "MPI Rank 0" node=1 ref=3
process 1 gpu kind=2 node=1 creator=0
region 0 MPI_Bcast
region 1 MPI_Bcast
region 2 "a b" role=40 paradigm=21 file=f.c line=1 end=2 description=d canonical=c
region 3 $2 canonical=none flags=1
group 0 kind=4 members=0,none
group 1 kind=5 members=0,1 flags=1
group 2 kind=6
comm 0 MPI_COMM_WORLD group=1
comm 1 MPI_COMM_SELF group=2 parent=0 flags=1
comm 2 "none" group=1 remote=2 inter=1
comm 3 "3" group=1
site 0 file=f.c line=12
context 0 region=0 site=0
context 1 region=2 parent=0
member 0 PAPI_TOT_CYC description=cycles type=1 mode=16 value=4 base=1 exponent=-3 unit=Hz
metric 0 members=0,0 occurrence=1 kind=2
metric 1 class=0 recorder=0 scope=3 scoperef=1
attribute 0 colour type=11
opaque 0 format=otf2 kind=99 bigendian=1 payload=00ff
location 0 "Master thread" process=0 events=3 offsets=-1:5,100:7:0.5
  1 ProgramBegin 3 18446744073709551615 -1
  1 Leave 0
  2 Enter 0 ; 3 CallingContextEnter "a b" context=1 unwind=2 attr=0:string:1 attr=0:double:2.5
  4 Enter 3 context=1 ; 5 Leave 3 ; 6 CallingContextLeave 2 context=1
  7 MpiIsend to=1 comm="none" tag=3 bytes=10 req=4 ; 8 MpiIsendComplete req=4 ; 9 MpiRecv from=none comm="3"
  9 MpiIrecv from=0 comm=SELF req=5 ; 9 MpiRequestCancelled req=6 comm=WORLD
  10 MpiCollectiveBegin ; 11 MpiCollectiveEnd Scatterv root=self sent=8 received=9
  12 MpiCollectiveEnd op=77 comm=none root=thisgroup
  13 NonBlockingCollectiveRequest req=8 ; 14 NonBlockingCollectiveComplete Allreduce root=3 req=8
  15 Metric 0 int64:-7 double:0.1 double:0x7ff8000000000001 uint64:18446744073709551615 99:5
  -3 Kind(250) 1 attr=none:uint8:1
  16 Enter 12345
location 1 stream process=1 kind=2
`

func TestTextRoundTrip(t *testing.T) {
	for _, text := range []string{pingText, everything, "", "location 0\n", "location 0 rank=3\n  5 Enter f\n"} {
		m := mustParse(t, text)
		written := mustWrite(t, m)
		again := mustParse(t, written)
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
		if got := mustWrite(t, again); got != written {
			t.Errorf("second text differs:\n%s", cmp.Diff(written, got))
		}
	}
}

func TestWriteTextIsShort(t *testing.T) {
	want := `region 0 MPI_Send
region 1 MPI_Recv
location 0 "Master thread" rank=0
  40 Enter MPI_Send ; 41 MpiSend to=1 tag=7 bytes=8 ; 45 Leave MPI_Send
location 1 worker rank=1
  10 Enter MPI_Recv ; 46 MpiRecv from=0 tag=7 bytes=8 ; 47 Leave MPI_Recv
`
	for _, text := range []string{pingText, want} {
		if got := mustWrite(t, mustParse(t, text)); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
}

func TestParseTextErrors(t *testing.T) {
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
		{"location 0\n  1 ThreadFork x", `text:2: column 16: "x" is no number`},
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
		_, err := ParseText(strings.NewReader(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// FuzzParseText: what is read can be written, and is read as the same again.
func FuzzParseText(f *testing.F) {
	f.Add(pingText)
	f.Add(everything)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseText(strings.NewReader(text))
		if err != nil {
			return
		}
		written := mustWrite(t, m)
		again, err := ParseText(strings.NewReader(written))
		if err != nil {
			t.Fatalf("%v in\n%s", err, written)
		}
		if got := mustWrite(t, again); got != written {
			t.Fatalf("first:\n%s\nsecond:\n%s", written, got)
		}
		for l := range m.Batches {
			for b := range again.Events(context.Background(), LocationID(l)) {
				if d := diffBatches(m.Batches[l][0], b); d != "" {
					t.Fatal(d)
				}
			}
		}
	})
}
