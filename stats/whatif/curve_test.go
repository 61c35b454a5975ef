package whatif

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/samples"
)

// checkCurve holds a curve of a model against replays at some points, and returns the largest difference in ns.
func checkCurve(t *testing.T, m *Model, c *Curve, points int, slower func(x float64) Change, changes ...Change) (off float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for k := range points {
		x := c.To * float64(k) / float64(points-1)
		if c.Unit == "ns" {
			x = math.Floor(x)
		}
		if k > 0 && k < points-1 && r.IntN(3) == 0 { // where pieces meet
			x = math.Floor(c.Pieces[r.IntN(len(c.Pieces))].From)
		}
		got, want := c.At(x), float64(predicted(t, m, append(changes, slower(x))...))
		off = max(off, math.Abs(got-want))
	}
	return off
}

func TestCurve(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, bytes := range []int64{64, 8000, 20_000, 200_000} {
			t.Run(fmt.Sprintf("%s/bytes=%d", p.Name, bytes), func(t *testing.T) {
				m := run(t, samples.Options{Program: p.Name, Ranks: 8, Iterations: 15, Seed: 3, Bytes: bytes})
				c, err := m.LatencyCurve(context.Background(), 0)
				if err != nil {
					t.Skip(err)
				}
				off := checkCurve(t, m, c, 20, func(x float64) Change { return m.Slower(x, 0) })
				t.Logf("%d pieces, %d replays, to %v, rounding %v, gap %v, off %v", len(c.Pieces), c.Replays, c.To, c.Rounding, c.Gap, off)
				c, err = m.BandwidthCurve(context.Background(), 0)
				if err != nil {
					t.Fatal(err)
				}
				off = checkCurve(t, m, c, 20, func(x float64) Change { return m.Slower(0, x) })
				t.Logf("%d pieces, %d replays, to %v, rounding %v, gap %v, off %v", len(c.Pieces), c.Replays, c.To, c.Rounding, c.Gap, off)
			})
		}
	}
}
