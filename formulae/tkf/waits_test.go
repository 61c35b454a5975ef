package tkf_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// exchanging makes a program of two ranks that compute as long as told, step by step, then each sends to the other and receives.
func exchanging(steps [2][]int64) string {
	var text [2]strings.Builder
	at := [2]int64{}
	for rank := range text {
		fmt.Fprintf(&text[rank], "location %d rank=%d\n  0 Enter main ; ", rank, rank)
	}
	for i := range steps[0] {
		for rank := range at {
			at[rank] += steps[rank][i]
		}
		sent := at
		for rank := range at {
			done := max(sent[0], sent[1]) + 10
			fmt.Fprintf(&text[rank], "%[1]d Enter MPI_Send ; %[1]d MpiSend to=%[2]d ; %[3]d Leave MPI_Send ; ", sent[rank], 1-rank, sent[rank]+2)
			fmt.Fprintf(&text[rank], "%d Enter MPI_Recv ; %[2]d MpiRecv from=%[3]d ; %[2]d Leave MPI_Recv ; ", sent[rank]+2, done, 1-rank)
			at[rank] = done
		}
	}
	for rank := range text {
		fmt.Fprintf(&text[rank], "%d Leave main\n", at[rank])
	}
	return text[0].String() + text[1].String()
}

// waited returns how long receives take, in ticks.
func waited(t *testing.T, src trace.Source) (sum int64) {
	var enter int64
	for l := range trace.LocationID(2) {
		for b := range tracetest.Batches(t, src, l) {
			for i, kind := range b.Flow.Kind {
				switch {
				case src.Defs().RegionName(b.Flow.Region[i]) != "MPI_Recv":
				case kind == trace.KindEnter:
					enter = b.Flow.Time[i]
				default:
					sum += b.Flow.Time[i] - enter
				}
			}
		}
	}
	return sum
}

// TestRebuiltWaits states that receives of a rebuilt run take as long as those of the run, within a tenth: where waits are a ten
// thousandth of what is computed between them; and where ranks are late together, so that with any laws drawn apart they wait too long.
func TestRebuiltWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var short, together [2][]int64
	for range 6 {
		d := 100_000_000 + r.Int64N(300_000_000)
		short[0], short[1] = append(short[0], d), append(short[1], d+d/10000)
	}
	for range 4000 {
		d := int64(1e5 * math.Exp(2*r.NormFloat64()))
		for rank := range together {
			together[rank] = append(together[rank], d+r.Int64N(1000))
		}
	}
	for name, steps := range map[string][2][]int64{"short": short, "together": together} {
		t.Run(name, func(t *testing.T) {
			src := tracetest.MustParse(t, exchanging(steps))
			file, report := compress(t, src, tkf.Options{Mode: tkf.Statistics})
			run, rebuilt := waited(t, src), waited(t, openTKF(t, file))
			t.Logf("%d ticks, rebuilt %d; %d bytes of at most %d", run, rebuilt, report.Sizes.File, *report.Sizes.Bound)
			if off := float64(rebuilt-run) / float64(run); math.Abs(off) > 0.1 {
				t.Errorf("receives take %d ticks, rebuilt %d", run, rebuilt)
			}
		})
	}
}
