package sampling

import (
	"fmt"
	"math"
	"os"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestBoundStudy says how near to the truth the latency of all messages can be estimated from messages drawn at random, for estimators that
// know more and more of the messages that were not drawn: nothing (Horvitz–Thompson), the number by rank, by call path, by category, and
// the size class of the latency itself, which no recorder knows without timing each message. The spread is exact: that of stratified
// sampling with the counts drawn in the mean, Σ N²(1-T)/(NT) S². It is the study of docs/internals/SAMPLING.md:
// TRACEKIT_STUDY=1 go test ./stats/studies/sampling -run BoundStudy -v
func TestBoundStudy(t *testing.T) {
	if os.Getenv("TRACEKIT_STUDY") == "" {
		t.Skip("a study: set TRACEKIT_STUDY")
	}
	for _, name := range []string{"npb-cg-W-8-run1", "npb-lu-S-4", "npb-bt-S-16", "npb-mg-W-8"} {
		tr := opened(t, tracetest.Shared(t, "otf2/"+name))
		c, _ := Parse("P-1-STAT", Defaults{Seed: 1})
		r, err := pass(t.Context(), tr, []Config{c}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		type stratum struct{ n, sum, sq float64 }
		strata := make([]map[any]*stratum, 5)
		for k := range strata {
			strata[k] = map[any]*stratum{}
		}
		total := 0.0
		for _, s := range r.streams {
			for _, l := range s.locations {
				for i := range tr.Sends[l].Len() {
					m := [1]sending{{location: l, index: i, row: tr.Sends[l].Ptr(i)}}
					r.lookUp(m[:])
					x := &m[0]
					if x.recv == nil || x.call == nil {
						continue
					}
					y, receive := float64(x.leave-x.call.Enter), trace.PathID(trace.None)
					if x.taker != nil {
						receive = x.taker.Path
					}
					total += y
					for k, key := range []any{0, s.rank, [2]any{s.rank, x.call.Path},
						[5]any{s.rank, tr.Rank[x.row.RecvLoc], x.call.Path, receive, x.row.Bytes}, math.Floor(math.Log2(max(y, 1)))} {
						z := strata[k][key]
						if z == nil {
							z = &stratum{}
							strata[k][key] = z
						}
						z.n, z.sum, z.sq = z.n+1, z.sum+y, z.sq+y*y
					}
				}
			}
		}
		for _, share := range []float64{0.05, 0.1, 0.2, 0.5} {
			line := fmt.Sprintf("%-16s P-%-5g", name, share)
			ht, n := 0.0, 0.0
			for _, z := range strata[0] {
				ht, n = ht+z.sq*(1-share)/share, n+z.n
			}
			spread := []float64{math.Sqrt(ht) / total}
			for _, by := range strata {
				v := 0.0
				for _, z := range by {
					if z.n > 1 {
						v += (1 - share) / share * z.n * (z.sq - z.sum*z.sum/z.n) / (z.n - 1)
					}
				}
				spread = append(spread, math.Sqrt(max(0, v))/total)
			}
			for k, s := range spread {
				line += fmt.Sprintf("  %s %.1f %% (%.0f)", []string{"HT", "all", "rank", "path", "category", "latency"}[k], 100*s,
					100*math.Erf(0.05/s/math.Sqrt2))
			}
			t.Logf("%s  of %g messages, %d categories", line, n, len(strata[3]))
		}
	}
}
