package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBasePoints states that the base points of a surface that bends at known places are these places and its corners.
func TestBasePoints(t *testing.T) {
	// Along bytes it bends at 1,000 and 65,536; along processes at 8.
	along := func(b int64) int64 { return 1000 + b + 9*max(b-1000, 0) + 40*max(b-65_536, 0) }
	byProcesses := func(p int) int64 { return int64(p) + 20*int64(max(p-8, 0)) }
	var all Profile
	for _, operation := range []string{"MPI_Allreduce", "MPI_Bcast"} {
		for _, p := range []int{2, 4, 6, 8, 12, 16, 32} {
			for _, b := range []int64{1, 10, 100, 500, 1000, 4000, 16_384, 65_536, 131_072, 1_000_000} {
				e := Entry{Key: Key{Operation: operation, Processes: p, Bytes: b}, Calls: 200, TMin: 1, TMax: along(b) * byProcesses(p)}
				if operation == "MPI_Bcast" {
					e.TMax = 7000 // a plane has its corners only
				}
				all.Entries = append(all.Entries, e)
			}
		}
	}
	base := all.Thinned(0.001)
	var got []Key
	for _, e := range base.Entries {
		got = append(got, e.Key)
	}
	var want []Key
	for _, p := range []int{2, 8, 32} {
		for _, b := range []int64{1, 1000, 65_536, 1_000_000} {
			want = append(want, Key{Operation: "MPI_Allreduce", Processes: p, Bytes: b})
		}
	}
	for _, p := range []int{2, 32} {
		for _, b := range []int64{1, 1_000_000} {
			want = append(want, Key{Operation: "MPI_Bcast", Processes: p, Bytes: b})
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("base points are %v, want %v", got, want)
	}
	if base.Base.Measured != 140 || base.Base.Error > 0.001 {
		t.Errorf("%+v", base.Base)
	}
}

// TestBasePointsHoldTheirBound states of random surfaces that no measured point is missed by more than the error that is said, which is no
// more than what was asked for; and that less tolerance needs no fewer points.
func TestBasePointsHoldTheirBound(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 5))
		var all Profile
		for p := 2; p < 20; p += 1 + r.IntN(4) {
			for b := int64(0); b < 3000; b += 1 + r.Int64N(400) {
				all.Entries = append(all.Entries, Entry{Key: Key{Operation: "MPI_Send", Processes: p, Bytes: b},
					TMax: 500 + b*int64(p)/3 + r.Int64N(200)})
			}
		}
		points := len(all.Entries) + 1
		for _, tolerance := range []float64{0, 0.01, 0.05, 0.2} {
			base := all.Thinned(tolerance)
			worst := 0.0
			for _, e := range all.Entries {
				worst = max(worst, base.off(e))
			}
			if worst != base.Base.Error || worst > tolerance {
				t.Errorf("seed %d: missed by %g, said %g, allowed %g", seed, worst, base.Base.Error, tolerance)
			}
			if n := len(base.Entries); n > points {
				t.Errorf("seed %d: %d points with tolerance %g, %d with less", seed, n, tolerance, points)
			} else {
				points = n
			}
		}
	}
}
