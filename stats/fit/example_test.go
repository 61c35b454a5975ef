package fit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"

	"tracekit/stats/fit"
)

// calls makes n durations in ns that follow an exponential law of mean 2000 ns above
// 5000 ns exactly, as its evenly spaced quantiles.
func calls(n int) *fit.Sample {
	s := &fit.Sample{}
	for j := range n {
		s.Add(5000 - int64(2000*math.Log(1-(float64(j)+0.5)/float64(n))))
	}
	return s
}

func ExampleFit() {
	s := calls(1000)
	for range 30 {
		s.Add(40000) // thirty calls that something slowed
	}
	r := fit.Fit(s, fit.Options{Quantile: 0.99})
	m := r.Models[r.Chosen]
	fmt.Println(m.Family, m.Params[0].Name, m.Test.Accepted)
	fmt.Println("t_min", r.TMin, "t_max within a class:", math.Abs(float64(r.TMax-5000)-9210) < float64(r.Histogram.Window))
	fmt.Println("above the cut", r.Tail, "overhead of a slowed call", fit.Overhead(40000, r.TMax) > 25000)
	fmt.Println("anomalous:", fit.Anomalous([]float64{r.PValue(s)}, 0.05)[0])
	// Output:
	// exponential lambda_per_ns true
	// t_min 5001 t_max within a class: true
	// above the cut 37 overhead of a slowed call true
	// anomalous: true
}

func ExampleSample() {
	var rank0, rank1 fit.Sample
	rank0.Add(1200)
	rank0.Add(1300)
	rank1.Add(1250)
	rank0.Combine(&rank1)
	fmt.Println(rank0.Len(), rank0.Sum(), rank0.Min(), rank0.Quantile(0.5), rank0.Error())
	// Output: 3 3750 1200 1250 0
}

func ExampleSample_Histogram() {
	var s fit.Sample
	for _, us := range []int64{3, 3, 4, 3, 5, 3, 4} { // a timer of 1 us
		s.Add(1000 * us)
	}
	h := s.Histogram(0, 1000)
	fmt.Println(h.Origin, h.Window, h.Classes)
	// Output: 3000 1000 [{0 4} {1 2} {2 1}]
}

func ExampleAnomalous() {
	p := []float64{0.001, 0.04, 0.5, 0.012}
	fmt.Println(fit.Anomalous(p, 0.05))
	// Output: [true false false true]
}

func ExampleProfile() {
	groups := fit.Groups(map[fit.Key]*fit.Sample{
		{Operation: "MPI_Send", Processes: 2, Bytes: 1000}: calls(200),
	})
	for i, g := range groups {
		groups[i] = g.Fit(fit.Options{}) // each could have a core of its own
	}
	p := fit.ProfileOf(groups, fit.Options{})
	p.Machine, p.Library, p.Processes = "laptop", "Open MPI 4.1", 4
	e := p.Entries[0]
	fmt.Println(e.Operation, e.Bytes, e.Calls, e.From, e.TMin)
	at, _ := p.Limit(fit.Key{Operation: "MPI_Send", Processes: 2, Bytes: 2000})
	fmt.Println(at.TMax == e.TMax, at.Extrapolated)
	p.Entries = nil
	json.NewEncoder(os.Stdout).Encode(p)
	// Output:
	// MPI_Send 1000 200 law 5005
	// true true
	// {"schema":"tracekit.profile/2","machine":"laptop","library":"Open MPI 4.1","processes":4,"quantile":0.99,"entries":null}
}

func ExampleStability() {
	var durations []int64
	for j := range 300 {
		u := math.Mod(0.5+float64(j)*math.Phi, 1) // evenly spread, in mixed order
		durations = append(durations, 5000-int64(2000*math.Log(1-u)))
	}
	for _, row := range fit.Stability(durations, []int{50, 200, 300}, fit.Options{}) {
		fmt.Println(row.N, row.From, row.Within)
	}
	// Output:
	// 50 law false
	// 200 law true
	// 300 law true
}
