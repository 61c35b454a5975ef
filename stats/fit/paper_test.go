package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// strict is the paper's way: all calls, two families, the smallest χ².
var strict = Options{Paper: true, SmallestChi2: true, Families: []Family{Exponential, Poisson, LocatedPoisson}}

// An exponential sample comes out exponential, a Poisson one above t_min as located Poisson, or as nothing in the few
// per cent of samples that any test rejects; never as the other.
func TestPaperTellsItsFamilies(t *testing.T) {
	draws := map[Family]func(r *rand.Rand) int64{
		Exponential: func(r *rand.Rand) int64 { return 5000 + int64(700*r.ExpFloat64()) },
		LocatedPoisson: func(r *rand.Rand) int64 { // of 20, by counting arrivals
			k, at := int64(0), r.ExpFloat64()
			for ; at < 20; at += r.ExpFloat64() {
				k++
			}
			return 5000 + k
		},
	}
	for family, draw := range draws {
		for _, n := range []int{200, 1000, 5000} {
			r, right := rand.New(rand.NewPCG(9, uint64(n))), 0
			const runs = 40
			for range runs {
				s := new(Sample)
				for range n {
					s.Add(draw(r))
				}
				if res := Fit(s, strict); res.Chosen >= 0 {
					if got := res.Models[res.Chosen].Family; got != family {
						t.Errorf("%d calls of a law that is %s: %s", n, family, got)
					}
					right++
				}
			}
			if right < runs*85/100 {
				t.Errorf("%s accepted in %d of %d samples of %d calls", family, right, runs, n)
			}
		}
	}
}

// The least Σ|f-p| is that over all λ > 0: no λ of a fine grid over six decades is better, however far
// slow calls draw the mean, where the search starts, from the rest. And the least χ² is no larger
// than that of either other estimate.
func TestRefinementsSearchEverywhere(t *testing.T) {
	for _, slow := range []int{0, 20, 100, 400} {
		r, s := rand.New(rand.NewPCG(3, uint64(slow))), new(Sample)
		for range 1000 - slow {
			s.Add(1000 + int64(30*r.ExpFloat64()))
		}
		for range slow {
			s.Add(20_000 + r.Int64N(5000))
		}
		o := strict
		o.Window = 10
		for _, m := range Fit(s, o).Models {
			b := binned{s.Histogram(o.Window, 1), noCut}
			family, _ := lambda(m.Estimates[0].law)
			c := b.cells()
			got, least := c.misfit(absolute, m.Estimates[1].law), math.Inf(1)
			for x := family.at - math.Log(1e3); x < family.at+math.Log(1e3); x += 0.002 {
				least = min(least, c.misfit(absolute, family.with(x)))
			}
			if got > least+1e-6*float64(b.h.N) {
				t.Errorf("%d slow calls, %s: Σ|f-p| is %g, %g elsewhere", slow, m.Family, got/float64(b.h.N), least/float64(b.h.N))
			}
			best := m.Estimates[2].Test.Chi2
			if best > m.Estimates[0].Test.Chi2 || best > m.Estimates[1].Test.Chi2 {
				t.Errorf("%d slow calls, %s: the least χ² %g is not", slow, m.Family, best)
			}
		}
	}
}

// A t_max far from t_min needs many calls or a law.
func TestUnreliable(t *testing.T) {
	exponential := func(n int, base, mean float64) *Sample {
		r, s := rand.New(rand.NewPCG(1, 2)), new(Sample)
		for range n {
			s.Add(int64(base + mean*r.ExpFloat64()))
		}
		return s
	}
	peaks := func(n int, at ...int64) *Sample {
		s := new(Sample)
		for i := range n {
			s.Add(at[i%len(at)])
		}
		return s
	}
	for _, tt := range []struct {
		name string
		s    *Sample
		want bool
	}{
		{"law, few calls, far", exponential(150, 10, 10_000), true},
		{"law, many calls, far", exponential(1000, 10, 10_000), false},
		{"law, few calls, near", exponential(150, 10_000, 10_000), false},
		{"no law, many calls, far", peaks(1000, 10, 5000, 100_000), true},
		{"no law, many calls, near", peaks(1000, 1000, 5000, 90_000), false},
		{"shortest call below the timer", peaks(1000, 0, 40, 90), false},
		{"shortest call below the timer, far", peaks(1000, 0, 5000, 100_000), true},
		{"no calls", new(Sample), false},
	} {
		r := Fit(tt.s, Options{Resolution: 1})
		if r.Unreliable != tt.want {
			t.Errorf("%s: unreliable %v; t_min %d, t_max %d from %s", tt.name, r.Unreliable, r.TMin, r.TMax, r.From)
		}
	}
}

// A peak of equal calls with a slow tail has no body that a law of three parameters could describe: a
// mixture is not offered for it, in either way. A body spread over many classes is.
func TestMixtureNeedsABody(t *testing.T) {
	for _, spread := range []float64{0, 0.6, 40} {
		r, s := rand.New(rand.NewPCG(5, 6)), new(Sample)
		for i := range 4000 {
			x := 1000 + spread*math.Abs(r.NormFloat64())
			if i%4 == 0 {
				x += 400 * r.ExpFloat64()
			}
			s.Add(int64(x))
		}
		for _, o := range []Options{{Window: 4}, {Window: 4, Paper: true}} {
			o.Families = []Family{Mixture}
			r := Fit(s, o)
			if offered := len(r.Models) > 0; offered != (spread > 10) {
				t.Errorf("spread %g, %s: mixture offered %v: %s", spread, fmt.Sprint(o), offered, fmt.Sprint(r.Models))
			}
		}
	}
}

// A brief fit leaves out only what decides nothing.
func TestBriefDecidesTheSame(t *testing.T) {
	for _, tr := range truths() {
		for n := range uint64(10) {
			s := tr.sample(rand.New(rand.NewPCG(n, 8)), 400)
			whole, brief := Fit(s, Options{}), Fit(s, Options{Brief: true})
			if whole.Chosen != brief.Chosen || whole.TMax != brief.TMax || whole.PValue(s) != brief.PValue(s) {
				t.Errorf("%s: t_max %d, %d of model %d; briefly %d of %d", tr.name, n, whole.TMax, whole.Chosen, brief.TMax, brief.Chosen)
			}
		}
	}
}

// TestPaperPoisson: the paper's law has λ = the mean class number and no offset, and stands beside the located one. Where the classes
// are too few for a law's parameters, it is neither accepted nor rejected, and not chosen.
func TestPaperPoisson(t *testing.T) {
	s := new(Sample)
	for k, n := range []int{50, 60, 40, 20, 8} {
		for range n {
			s.Add(int64(100 + 10*k))
		}
	}
	o := strict
	o.Window = 10
	r := Fit(s, o)
	mean := float64(60+2*40+3*20+4*8) / 178
	var found []Family
	for _, m := range r.Models {
		found = append(found, m.Family)
		if m.Family == Poisson && (len(m.Params) != 1 || math.Abs(m.Params[0].Value-mean) > 1e-12) {
			t.Errorf("λ is %v, want %g", m.Params, mean)
		}
		if m.Family == LocatedPoisson && len(m.Params) != 2 {
			t.Errorf("located: %v", m.Params)
		}
	}
	if !slices.Equal(found, strict.Families) {
		t.Errorf("laws %v", found)
	}

	few := new(Sample)
	for k, n := range []int{6, 7, 5} { // two pools of five at most beside one parameter
		for range n {
			few.Add(int64(100 + 10*k))
		}
	}
	untestable := 0
	r = Fit(few, o)
	for j, m := range r.Models {
		if !m.Test.Testable() {
			untestable++
			if m.Test.Accepted || r.Chosen == j {
				t.Errorf("%s: %+v", m.Family, m.Test)
			}
		}
	}
	if untestable == 0 {
		t.Error("all laws can be tested: the test is out of date")
	}
}

// TestNotTestable states that a law of which as many classes are left as it has parameters and one is neither accepted nor chosen, however
// well it fits.
func TestNotTestable(t *testing.T) {
	s := new(Sample)
	for k := range 20 {
		s.Add(100 + int64(k%3/2)*50)
	}
	res := Fit(s, Options{Paper: true, SmallestChi2: true, Families: []Family{Exponential, Poisson}, Window: 50})
	none := 0
	for _, m := range res.Models {
		for _, e := range m.Estimates {
			if e.Test.DOF != 0 {
				continue
			}
			if none++; e.Test.Testable() || e.Test.Accepted || e.Test.P != 0 {
				t.Errorf("%s by %v: %+v", m.Family, e.By, e.Test)
			}
		}
	}
	if none == 0 || res.Chosen >= 0 {
		t.Errorf("%d laws are not testable, chosen is %d", none, res.Chosen)
	}
}
