package sampling

import (
	"math"
	"slices"
	"testing"

	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/measurement"
	"tracekit/trace"
)

// TestDecades: a latency is in the class whose bounds it lies between, whatever a tick is.
func TestDecades(t *testing.T) {
	for _, hz := range []uint64{1, 1000, 999_999_937, 1_000_000_000, 3_000_000_000, math.MaxUint64} {
		bounds, clock := decadeBounds(hz), trace.ClockProperties{Resolution: hz}
		for _, ticks := range []int64{math.MinInt64, -1, 0, 1, 2, 3, 9, 10, 11, 99, 999, 1000, 12345, 1e9, 3e9, 1e15, math.MaxInt64 - 1} {
			ns, class := clock.Nanoseconds(ticks), decadeOf(&bounds, ticks)
			if class == 0 != (ticks < 0) || class > 0 && (ns < *bound(class - 1) || class < decades-1 && ns >= *bound(class)) {
				t.Errorf("%d Hz: %d ticks, %d ns, are in class %d", hz, ticks, ns, class)
			}
		}
	}
}

// TestSendsOfARankInOrder: the sends of several locations of one rank are taken by their times, and
// those of one location in their order.
func TestSendsOfARankInOrder(t *testing.T) {
	store := spill.NewStore(1<<20, "")
	defer store.Close()
	times := [][]int64{{1, 5, 5, 9}, {2, 5, 7}, {}}
	var sends []*spill.Table[trace.Send]
	for _, of := range times {
		table := spill.NewTable[trace.Send](store)
		for _, at := range of {
			table.Append(trace.Send{Time: at})
		}
		sends = append(sends, table)
	}
	s := stream{locations: []trace.LocationID{0, 1, 2}, next: make([]int, 3)}
	var got []int64
	for _, end := range []int64{0, 5, 8, math.MaxInt64} {
		for {
			at, row := s.nextSend(sends, end)
			if row == nil {
				break
			}
			if row.Time >= end {
				t.Errorf("%d comes before %d", row.Time, end)
			}
			got = append(got, row.Time*10+int64(at))
			s.next[at]++
		}
	}
	if want := []int64{10, 21, 50, 50, 51, 71, 90}; !slices.Equal(got, want) {
		t.Errorf("times and locations are %v, want %v", got, want)
	}
}

// TestPooledCategories: what a rank has too many categories for shares one of its size class, and no
// message is lost.
func TestPooledCategories(t *testing.T) {
	tr := generated(t, samples.Options{Program: "multigrid", Ranks: 16, Iterations: 20, Seed: 1})
	all := made(t, tr, Options{}, "P-0.5-FREQ")
	r, err := newRun(tr, configs(t, "P-0.5-FREQ"), Options{MaxBytes: math.MaxUint64})
	if err != nil {
		t.Fatal(err)
	}
	r.most = 1
	if err := r.visitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	x := r.result(0)
	if x.Population.Pooled == 0 || x.Population.Messages != all.Population.Messages || x.Sampled.Messages != all.Sampled.Messages {
		t.Errorf("%+v, %+v; without pooling %+v, %+v", x.Population, x.Sampled, all.Population, all.Sampled)
	}
	var messages, pooledMessages uint64
	for _, c := range x.Categories {
		if messages += c.Population; c.Send == nil {
			pooledMessages += c.Population
			if c.Receive != nil || c.To != trace.None || c.Bytes&(c.Bytes-1) != 0 {
				t.Errorf("a pooled category is %s", text(t, c))
			}
		}
	}
	if messages != x.Population.Messages || pooledMessages != x.Population.Pooled {
		t.Errorf("%d messages, %d of them pooled, in categories; %+v", messages, pooledMessages, x.Population)
	}
}

// TestRandomSamplesAreNotBiased: random samples are called biased as seldom as the test promises:
// its p-values are uniform.
func TestRandomSamplesAreNotBiased(t *testing.T) {
	const seeds = 400
	tr := generated(t, samples.Options{Program: "multigrid", Ranks: 8, Iterations: 60, Seed: 1})
	for _, name := range []string{"P-0.05-STAT", "P-0.5-STAT"} {
		var list []Config
		for s := range uint64(seeds) {
			c := configs(t, name)[0]
			c.Seed = s
			list = append(list, c)
		}
		d, err := Make(t.Context(), tr, list, Options{Cost: measurement.Photon()})
		if err != nil {
			t.Fatal(err)
		}
		below := 0
		for _, x := range d.Results() {
			if *x.Bias.PValue < 0.1 {
				below++
			}
		}
		if below < seeds/20 || below > seeds*3/20 { // 40 ± 6 are expected
			t.Errorf("%s: p < 0.1 for %d of %d seeds", name, below, seeds)
		}
	}
}

// TestCosts: the model's figures of the paper's ping-pong, worked out by hand.
func TestCosts(t *testing.T) {
	c := measurement.Photon()
	want := map[string]float64{"C-2-STAT": 37.2 + 3 + 16.0/3, "C-256-STAT": 37.2 + 3 + 16.0/257, "T-0.001-STAT": 41.8, "T-0.3-STAT": 41.8,
		"P-0.01-STAT": 37.2 + 3 + 2.7 + 0.16, "P-0.9-STAT": 37.2 + 3 + 2.7 + 14.4}
	for _, row := range paper(&c) {
		if math.Abs(row.ModelUs-want[row.Configuration]) > 1e-9 {
			t.Errorf("%s: %g µs, want %g", row.Configuration, row.ModelUs, want[row.Configuration])
		}
	}
	// A rank with 300 sends pays 3 µs for each, and receives 100 that are sampled.
	tr := generated(t, samples.Options{Program: "ring", Ranks: 4, Iterations: 300, Seed: 1})
	d := made(t, tr, Options{Marks: true}, "C-2-WRITE", "C-2-STAT", "C-2-OFF", "NOPROF", "ORIG", "P-0-OFF")
	for i, want := range []struct{ before, own int64 }{{900_000, 3_350_000}, {900_000, 1_600_000}, {900_000, 0}, {0, 0}, {0, 0},
		{1_710_000, 0}} {
		x := d.Results()[i]
		loads, err := x.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for l := range loads {
			before, own := total(loads[l].Before), total(loads[l].Own)
			if before != want.before || own != want.own {
				t.Errorf("%s costs location %d %d ns before calls and %d in calls, want %+v", x.Configuration, l, before, own, want)
			}
		}
	}
	large := made(t, generated(t, samples.Options{Program: "ring", Ranks: 4, Iterations: 30, Bytes: 20_001, Seed: 1}), Options{Marks: true},
		"P-1-STAT")
	if loads, err := large.Load(t.Context()); err != nil || total(loads[0].Before)+total(loads[0].Own) != 0 {
		t.Errorf("large messages cost nothing: %v", err)
	}
}

func total(x *spill.Table[int64]) (sum int64) {
	for _, rows := range x.Rows {
		for _, v := range rows {
			sum += v
		}
	}
	return sum
}
