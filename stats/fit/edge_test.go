package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// finiteEverywhere fails if any number inside v is NaN or infinite, at any depth.
func finiteEverywhere(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	case reflect.Struct:
		for j := range v.NumField() {
			if v.Type().Field(j).IsExported() {
				finiteEverywhere(t, v.Field(j), path+"."+v.Type().Field(j).Name)
			}
		}
	case reflect.Slice:
		for j := range v.Len() {
			finiteEverywhere(t, v.Index(j), fmt.Sprintf("%s[%d]", path, j))
		}
	}
}

// checkResult states what holds of every result whatever the sample.
func checkResult(t *testing.T, s *Sample, r Result, o Options) {
	t.Helper()
	finiteEverywhere(t, reflect.ValueOf(r), "result")
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("result does not encode: %v", err)
	}
	var classes int64
	for _, c := range r.Histogram.Classes {
		classes += c.N
	}
	calls, excess := s.Above(r.TMax)
	p := r.PValue(s)
	threshold := r.Threshold(r.Calls)
	switch {
	case r.Histogram.Window < max(o.Resolution, 1):
		t.Errorf("window %d is below the resolution", r.Histogram.Window)
	case classes != r.Calls || r.Calls != s.Len() || r.Tail < 0 || r.Tail > r.Calls:
		t.Errorf("%d calls, %d in classes, %d in the tail", r.Calls, classes, r.Tail)
	case r.TMax < r.TMin || threshold < r.TMin:
		t.Errorf("t_max %d or threshold %d lies below t_min %d", r.TMax, threshold, r.TMin)
	case r.Over != calls || r.Overhead != excess:
		t.Errorf("over %d, overhead %d, want %d, %d", r.Over, r.Overhead, calls, excess)
	case !(p >= 0 && p <= 1):
		t.Errorf("p-value %v", p)
	case (r.Chosen >= 0) != (r.From == FromLaw) && r.From != FromEqual:
		t.Errorf("chosen %d but t_max from %q", r.Chosen, r.From)
	case r.Chosen >= 0 && !r.Models[r.Chosen].Estimates[r.Estimate].Test.Accepted && o.SmallestChi2:
		t.Errorf("the chosen law is not accepted")
	}
	for _, m := range r.Models {
		last := 0.0
		for _, q := range []float64{1e-9, 0.5, 0.8, 0.99, 1 - 1e-12} {
			x := m.Quantile(q)
			if c := m.CDF(x); x < r.Histogram.Origin || !(c >= last && c <= 1) {
				t.Errorf("%s: quantile %g is %d, CDF there %v after %v", m.Family, q, x, c, last)
			} else {
				last = c
			}
		}
	}
}

// many returns n calls made by f.
func many(n int, f func(j int) int64) *Sample {
	s := &Sample{}
	for j := range n {
		s.Add(f(j))
	}
	return s
}

func TestEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	tests := []struct {
		name string
		s    *Sample
		from string // "" where several are right
		tMax int64  // -1 where it is not the point
	}{
		{"no call", sampleOf(), FromNothing, 0},
		{"one call", sampleOf(700), FromEqual, 700},
		{"one call of no time", sampleOf(0), FromEqual, 0},
		{"negative", sampleOf(-5), FromEqual, 0},
		{"two equal", sampleOf(5, 5), FromEqual, 5},
		{"two different", sampleOf(5, 900), "", -1},
		{"three", sampleOf(5, 6, 900), "", -1},
		{"all equal", many(1000, func(int) int64 { return 42 }), FromEqual, 42},
		{"equal but one", many(1000, func(j int) int64 { return 42 + int64(j/999)*5000 }), FromEmpirical, 42},
		{"two values", many(1000, func(j int) int64 { return int64(j%2) * 1000 }), "", -1},
		{"all different, evenly", many(1000, func(j int) int64 { return int64(j) * 7 }), "", -1},
		{"mostly zero at 1 us", many(5000, func(j int) int64 { return int64(r.ExpFloat64()*0.6) * 1000 }), FromLaw, -1},
		{"nearly all zero", many(5000, func(j int) int64 { return int64(j%1000/999) * 1000 }), "", -1},
		{"huge", many(300, func(j int) int64 { return 1<<60 + int64(j)<<40 }), "", -1},
		{"one of 100 s", many(300, func(j int) int64 { return int64(j%17) + int64(j/299)*100e9 }), "", -1},
		{"two clusters", many(600, func(j int) int64 { return int64(j%2)*1e6 + int64(j%13) }), "", -1},
		{"powers of two", many(600, func(j int) int64 { return 1 << (j % 50) }), "", -1},
	}
	options := []Options{
		{}, {Paper: true}, {SmallestChi2: true, Paper: true}, {Quantile: 1}, {Quantile: 0.8, Alpha: 0.5},
		{Resolution: 1000}, {Window: 1}, {Window: 1 << 50}, {Window: -3, Resolution: -1, Quantile: math.NaN(), Alpha: 2},
		{Families: []Family{"unknown"}}, {Families: []Family{Mixture}}, {Families: []Family{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for j, o := range options {
				res := Fit(tt.s, o)
				checkResult(t, tt.s, res, o)
				if j == 0 && tt.from != "" && res.From != tt.from || j == 0 && tt.tMax >= 0 && res.TMax != tt.tMax {
					t.Errorf("t_max %d from %s, want %d from %s", res.TMax, res.From, tt.tMax, tt.from)
				}
				if t.Failed() {
					t.Fatalf("options %d: %+v", j, o)
				}
			}
		})
	}
}

// Any short list of durations and any options give a sound result, and the order
// of the durations does not matter.
func FuzzFit(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 200, 0, 0, 9}, uint8(0), int64(0), int64(1))
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 2, 3, 255}, uint8(40), int64(5), int64(100))
	f.Fuzz(func(t *testing.T, data []byte, scale uint8, window, resolution int64) {
		if len(data) > 400 {
			return
		}
		forth, back := &Sample{}, &Sample{}
		for j := range data {
			forth.Add(int64(data[j]) << (scale % 50))
			back.Add(int64(data[len(data)-1-j]) << (scale % 50))
		}
		o := Options{Window: window % (1 << 55), Resolution: resolution % (1 << 55), Paper: scale%2 == 1, SmallestChi2: scale%3 == 1}
		a, b := Fit(forth, o), Fit(back, o)
		checkResult(t, forth, a, o)
		ja, _ := json.Marshal(a)
		jb, _ := json.Marshal(b)
		if string(ja) != string(jb) {
			t.Fatal("the order of calls matters")
		}
	})
}
