package diagram

import (
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
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
