package diagram

import (
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestCulprits: of a program in which the last rank computes longer, that rank is marked however many ranks there are; if all are
// alike, none is.
func TestCulprits(t *testing.T) {
	for _, c := range []struct {
		ranks     int
		imbalance int64
		want      string
	}{{16, 50_000, "Rank 15: others wait "}, {256, 50_000, "Rank 255: others wait "}, {16, 0, ""}} {
		tr := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: c.ranks, Iterations: 3,
			Plant: samples.Plant{Imbalance: c.imbalance}}),
			merge.Options{Clock: merge.ClockAuto})
		d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), Options{ColorBy: ByRegion})
		if err != nil {
			t.Fatal(err)
		}
		ranks, err := d.choose()
		if err != nil {
			t.Fatal(err)
		}
		length := d.ns(tr.Span[0].Last)
		rows, notes := d.culprits(ranks, 0, length)
		if c.want == "" {
			if len(rows) > 0 || len(notes) > 0 {
				t.Errorf("%d equal ranks: %v are marked, %q", c.ranks, rows, notes)
			}
			continue
		}
		if len(rows) != 1 || rows[0] != c.ranks-1 || !strings.HasPrefix(strings.Join(notes, " "), c.want) {
			t.Errorf("%d ranks: %v are marked, %q, want %q", c.ranks, rows, notes, c.want)
		}
	}
}

// TestCulpritOfChain: rank 3 waits for rank 2, that for rank 1, that for rank 0, which computes.
func TestCulpritOfChain(t *testing.T) {
	const run = `
location 0 r0 rank=0
  0 Enter f ; 100 Leave f ; 100 Enter MPI_Send ; 101 MpiSend to=1 tag=0 bytes=8 ; 102 Leave MPI_Send
location 1 r1 rank=1
  0 Enter MPI_Recv ; 103 MpiRecv from=0 tag=0 bytes=8 ; 104 Leave MPI_Recv
  105 Enter MPI_Send ; 106 MpiSend to=2 tag=0 bytes=8 ; 107 Leave MPI_Send
location 2 r2 rank=2
  0 Enter MPI_Recv ; 108 MpiRecv from=1 tag=0 bytes=8 ; 109 Leave MPI_Recv
  110 Enter MPI_Send ; 111 MpiSend to=3 tag=0 bytes=8 ; 112 Leave MPI_Send
location 3 r3 rank=3
  0 Enter MPI_Recv ; 113 MpiRecv from=2 tag=0 bytes=8 ; 114 Leave MPI_Recv
`
	tr := statstest.Merged(t, tracetest.MustParseSplit(t, run), merge.Options{Clock: merge.ClockNone})
	d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), Options{ColorBy: ByRegion})
	if err != nil {
		t.Fatal(err)
	}
	rows, notes := d.culprits([]uint32{0, 1, 2, 3}, 0, 114)
	if want := "Rank 0: others wait 100 ns for it; it waits 0 ns."; len(rows) != 1 || rows[0] != 0 || notes[0] != want {
		t.Errorf("%v are marked, %q, want %q", rows, notes, want)
	}
}
