package whatif

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/trace/tracetest"
)

// curvePoints are at how many points a curve is held against replays.
const curvePoints = 20

// checkCurves holds the curves of a model against the replays with the same network, all over them and where pieces meet: that of
// latency is what they say to the tick, that of bandwidth to its rounding. It says whether there are any.
func checkCurves(t *testing.T, m *Model, changes ...Change) bool {
	t.Helper()
	ctx := context.Background()
	latency, err := m.LatencyCurve(ctx, 0, changes...)
	if err != nil {
		if !strings.Contains(err.Error(), "no message shows") {
			t.Error(err)
		}
		return false
	}
	checkCurve(t, m, latency, func(x float64) Change { return m.Slower(x, 0) }, changes)
	bandwidth, err := m.BandwidthCurve(ctx, 0, changes...)
	if err != nil {
		t.Fatal(err)
	}
	checkCurve(t, m, bandwidth, func(x float64) Change { return m.Slower(0, x) }, changes)
	return true
}

func checkCurve(t *testing.T, m *Model, c *Curve, slower func(x float64) Change, changes []Change) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(len(c.Pieces))))
	if c.Gap != 0 || c.RunTime != predicted(t, m, changes...) {
		t.Errorf("curve %+v of a run of %d", c, predicted(t, m, changes...))
	}
	for k := range 2 * curvePoints {
		x := c.To * float64(k) / curvePoints
		if k > curvePoints {
			x = c.Pieces[r.IntN(len(c.Pieces))].From + float64(r.IntN(3)-1)
		}
		if x = max(0, min(x, c.To)); c.Unit == "ns" {
			x = math.Floor(x)
		}
		want := float64(predicted(t, m, append(slices.Clone(changes), slower(x))...))
		if got := c.At(x); math.Abs(got-want) > c.Rounding+0.5001 {
			t.Fatalf("at %v %s the run takes %v, on the curve %v, which is exact to %v", x, c.Unit, want, got, c.Rounding)
		}
	}
	for i := 1; i < len(c.Pieces); i++ {
		if a, b := c.Pieces[i-1], c.Pieces[i]; b.Slope < a.Slope || b.From != a.To || b.From >= b.To {
			t.Errorf("%+v follows %+v", b, a)
		}
	}
	if most := 3*len(c.Pieces) + 10; c.Replays > most {
		t.Errorf("%d pieces took %d replays, more than %d", len(c.Pieces), c.Replays, most)
	}
	for _, tolerance := range c.Tolerance {
		if at := tolerance.At; at != nil && math.Abs(c.At(*at)-float64(c.RunTime)*(1+tolerance.Share)) > 1 {
			t.Errorf("at %v the run is not %v longer", *at, tolerance.Share)
		}
	}
}

// TestCurves holds the curves of random programs against replays: with faults that make paths differ, and with other changes.
func TestCurves(t *testing.T) {
	curves := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := samples.Programs()[r.IntN(len(samples.Programs()))]
		o := samples.Options{Program: p.Name, Ranks: 2 + r.IntN(12), Iterations: 3 + r.IntN(20), Seed: seed, Bytes: int64(1) << (4 + r.IntN(14)),
			Plant: samples.Plant{LateSender: int64(r.IntN(20_000)), LateReceiver: int64(r.IntN(20_000)), Imbalance: int64(r.IntN(50_000))}}
		m := run(t, o)
		var changes []Change
		if r.IntN(3) == 0 {
			changes = append(changes, Scale(place(t, m, work...), 0.3, 0))
		}
		if recv, err := m.Place("MPI_Recv"); err == nil && r.IntN(3) == 0 {
			if _, err := m.Predict(context.Background(), Nonblocking(recv)); err == nil {
				changes = append(changes, Nonblocking(recv))
			}
		}
		if checkCurves(t, m, changes...) {
			curves++
		}
	}
	if curves < 30 {
		t.Errorf("only %d programs have curves", curves)
	}
}

// TestCurvesOfSamples does so with real traces.
func TestCurvesOfSamples(t *testing.T) {
	for _, name := range []string{"halo2d-8", "ring-4", "zoo-4", "sweep-6", "torus-6", "masterworker-4"} {
		src, err := readers.Open(t.Context(), "../../samples/archives/"+name, readers.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !checkCurves(t, modelled(t, src, merge.Options{})) {
			t.Errorf("%s has no curve", name)
		}
	}
}

// TestCurveOnOtherNetworks: on an ideal network the curve is the run time on networks of that latency; on one of a bandwidth, on those
// that have it too.
func TestCurveOnOtherNetworks(t *testing.T) {
	for _, program := range []string{"ring", "sweep", "multigrid", "requests"} {
		m := run(t, samples.Options{Program: program, Ranks: 6, Iterations: 10, Seed: 2, Bytes: 4096, Plant: samples.Plant{Imbalance: 9000}})
		for _, c := range []struct {
			base  Change
			whole func(x float64) Change
		}{{IdealNetwork(), func(x float64) Change { return m.Network(x, 0) }},
			{m.Network(0, 2e9), func(x float64) Change { return m.Network(x, 2e9) }}} {
			curve, err := m.LatencyCurve(t.Context(), 100_000, c.base)
			if err != nil {
				t.Fatal(err)
			}
			for k := range curvePoints {
				x := float64(k * 5000)
				if got, want := curve.At(x), float64(predicted(t, m, c.whole(x))); math.Abs(got-want) > curve.Rounding {
					t.Errorf("%s: with a latency of %v ns the run takes %v, on the curve %v, which is exact to %v", program, x, want, got, curve.Rounding)
				}
			}
		}
	}
}

// TestCurveByHand: rank 1 waits until 20 for what rank 0 sends at 10, and works until 400. Rank 0 works until 450. So messages may take
// 50 longer before the run does.
func TestCurveByHand(t *testing.T) {
	m := modelled(t, tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 10 Enter MPI_Send ; 10 MpiSend to=1 bytes=8 ; 11 Leave MPI_Send ; 450 Leave main
location 1 rank=1
  0 Enter main ; 0 Enter MPI_Recv ; 20 MpiRecv from=0 bytes=8 ; 20 Leave MPI_Recv ; 400 Leave main
`), merge.Options{Clock: merge.ClockNone})
	c, err := m.LatencyCurve(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []Piece{{To: 50, Base: 450}, {From: 50, To: 100, Base: 400, Slope: 1, Messages: 1}}
	if !slices.Equal(c.Pieces, want) || *c.Tolerance[0].At != 54.5 {
		t.Errorf("the curve is %+v, want pieces %+v", c, want)
	}
}
