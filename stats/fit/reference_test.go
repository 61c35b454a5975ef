package fit

import (
	"math"
	"testing"
)

// The numbers of this file were worked out with 30 to 40 digits in Python's mpmath 1.2
// from the definitions alone: sums over classes, mpmath's incomplete gamma and
// normal functions, roots and minima by findroot, Newton's method or golden sections;
// the pools were formed by a loop over single classes.

// classes makes a histogram of window 1 from the counts of classes 0, 1, 2, ….
func classes(counts ...int64) Histogram {
	h := Histogram{Window: 1, Step: 1}
	for k, n := range counts {
		if n > 0 {
			h.Classes = append(h.Classes, Class{int64(k), n})
			h.N += n
		}
	}
	return h
}

var (
	falling = classes(120, 77, 48, 31, 19, 12, 8, 5, 3, 2, 0, 1)
	bell    = classes(1, 1, 2, 5, 8, 13, 20, 28, 37, 44, 49, 51, 49, 45, 38, 31, 24, 17, 12, 8, 4, 3)
	low     = classes(1, 2, 5, 9, 17, 26, 33, 36, 34, 28, 21, 14, 8, 4, 2)
	tailed  = classes(30, 90, 130, 120, 85, 52, 30, 18, 12, 9, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0, 1)
	skewed  = classes(4, 19, 41, 58, 66, 64, 58, 49, 40, 32, 25, 19, 14, 11, 8, 6, 4, 3, 2, 2, 1, 1)
)

// near compares to 1e-9 of the value.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (off by %.1e)", what, got, want, math.Abs(got/want-1))
	}
}

func TestEstimatesAgainstReference(t *testing.T) {
	tests := []struct {
		name       string
		family     Family
		h          Histogram
		cut        int64
		params     map[string]float64
		likelihood float64
		chi2, p    float64 // 0 where not worked out
		classes    int
	}{
		{"exponential", Exponential, falling, noCut, map[string]float64{"lambda_per_ns": 0.47371420864227121},
			-572.60242055411735, 0.32363853906600459, 0.99937418395425524, 8},
		{"exponential cut at 6", Exponential, falling, 6, map[string]float64{"lambda_per_ns": 0.4586604607599261},
			-471.14910088783236, 0, 0, 0},
		{"poisson", LocatedPoisson, bell, noCut, map[string]float64{"lambda": 15.285714285714286, "offset_classes": 4},
			-1349.9844256433711, 3.0131191265316433, 0.99958676977973205, 18},
		{"poisson cut at 12", LocatedPoisson, bell, 12, map[string]float64{"lambda": 17.98748303719932, "offset_classes": 6},
			-535.83183270156337, 0, 0, 0},
		{"poisson without offset", LocatedPoisson, low, noCut, map[string]float64{"lambda": 7.2958333333333333, "offset_classes": 0},
			-575.06755724379495, 2.8827797029222891, 0, 12},
		{"gamma", Gamma, skewed, noCut, map[string]float64{"shape": 3.5532405334133, "scale_ns": 1.96845975080081,
			"location_ns": -0.118651017570316},
			-1389.2425457047933, 0.43678176532573343, 0.99999997756975453, 17},
		{"weibull at its bound", Weibull, skewed, noCut,
			map[string]float64{"shape": 1.9614468867039159, "scale_ns": 7.7747099506390812, "location_ns": 0},
			-1396.2034738798254, 14.210177912445955, 0.43417292487215099, 17},
		{"lognormal", LogNormal, skewed, noCut,
			map[string]float64{"mu_ln_ns": 2.139340356685, "sigma": 0.3963360707734, "location_ns": -2.306065672243},
			-1390.36357946442, 0.989827388895462, 0.999996396116358, 17},
		{"mixture at its bound", Mixture, tailed, noCut,
			map[string]float64{"shape": 4.7823901569347004, "scale_ns": 0.74152265600313421, "location_ns": 0,
				"tail_weight": 0.31226918028360857, "tail_mean_ns": 6.2399819917506227},
			-1428.8392948025265, 2.7519077470345335, 0, 16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := binned{tt.h, noCut}
			if b.cut = tt.cut; tt.cut != noCut {
				b.h, _ = tt.h.below(tt.cut)
			}
			e, _ := fitLaw(tt.family, b)
			for _, p := range e.params(b.h.axis()) {
				near(t, p.Name, p.Value, tt.params[p.Name])
			}
			near(t, "likelihood", logLikelihood(b.cells(), e.law), tt.likelihood)
			test := b.test(e.law, 0.05)
			if tt.classes == 0 {
				return
			}
			if test.Classes != tt.classes {
				t.Errorf("%d classes, want %d", test.Classes, tt.classes)
			}
			near(t, "chi2", test.Chi2, tt.chi2)
			if tt.p > 0 {
				near(t, "p", test.P, tt.p)
			}
		})
	}
}

// Both refinements of λ, from the same reference. A minimum of a sum with corners is
// known to rounding; that of a smooth function only to half of the digits.
func TestRefinementsAgainstReference(t *testing.T) {
	b := binned{falling, noCut}
	e, _ := fitLaw(Exponential, b)
	all := b.estimates(e, Options{Alpha: 0.05, SmallestChi2: true})
	if len(all) != 3 || all[0].By != ByLikelihood || all[1].By != ByAbsolute || all[2].By != ByChiSquare {
		t.Fatalf("estimates: %+v", all)
	}
	near(t, "λ of least Σ|f-p|", all[1].Params[0].Value, 0.45902121257712656)
	near(t, "least Σ|f-p|", b.cells().misfit(absolute, all[1].law)/float64(falling.N), 0.017257103184822567)
	if got := all[2].Params[0].Value; math.Abs(got-0.46813673610302209) > 1e-7 {
		t.Errorf("λ of least χ² = %.12g", got)
	}
	near(t, "least χ²", all[2].Test.Chi2, 0.28123771438135526)
}

func TestProbabilities(t *testing.T) {
	near(t, "χ²₁", chiSquareP(3.841458820694124, 1), 0.050000000000000057)
	near(t, "χ²₇", chiSquareP(14.2, 7), 0.047736373029920364)
	near(t, "χ²₃₀", chiSquareP(43.773, 30), 0.049999707788373277)
	near(t, "χ²₆₀", chiSquareP(55.5, 60), 0.64066680452254602)
	near(t, "χ²₂₀₀", chiSquareP(260, 200), 0.0027504083673065263)
	near(t, "binomial", binomialTail(5, 100, 0.01), 0.0034323215877545155)
	near(t, "binomial", binomialTail(40, 3000, 0.01), 0.045415410056995989)
	near(t, "binomial", binomialTail(3, 50, 0.05), 0.45946687728048479)
}

// Critical values as printed in the usual tables of χ², three decimals. Above 30 the
// approximation of Wilson and Hilferty is used, good to a few thousandths.
func TestCriticalValues(t *testing.T) {
	tests := []struct {
		nu     int
		alpha  float64
		want   float64
		within float64
	}{
		{1, 0.05, 3.841, 5e-4}, {2, 0.05, 5.991, 5e-4}, {5, 0.05, 11.070, 5e-4}, {10, 0.05, 18.307, 5e-4},
		{30, 0.05, 43.773, 5e-4}, {1, 0.01, 6.635, 5e-4}, {10, 0.01, 23.209, 5e-4}, {30, 0.01, 50.892, 5e-4},
		{40, 0.05, 55.758, 0.02}, {60, 0.05, 79.082, 0.02}, {100, 0.05, 124.342, 0.02}, {100, 0.01, 135.807, 0.05},
		{0, 0.05, 0, 0}, {-3, 0.05, 0, 0},
	}
	for _, tt := range tests {
		if got := chiSquareCritical(tt.nu, tt.alpha); math.Abs(got-tt.want) > tt.within {
			t.Errorf("critical value of ν = %d at %g: %.4f, want %.3f", tt.nu, tt.alpha, got, tt.want)
		}
	}
	z := 1.6448536269514722 // normal quantile of 0.95, from any table
	c := 2.0 / (9 * 40)
	near(t, "Wilson-Hilferty", chiSquareCritical(40, 0.05), 40*math.Pow(1-c+z*math.Sqrt(c), 3))
}

// All calls in class 0: λ of the paper's formula is infinite. Fit says so by
// fitting nothing.
func TestDegenerateExponential(t *testing.T) {
	if _, ok := fitLaw(Exponential, binned{classes(50), noCut}); ok {
		t.Error("a law was fitted to one class")
	}
}

// Discrete quantiles: the smallest k with F(k) ≥ q, and its upper edge.
func TestDiscreteQuantiles(t *testing.T) {
	p := poisson{rate: 20}
	// F(26) = 0.92211, F(27) = 0.94752, F(28) = 0.96567, F(30) = 0.98653, F(31) = 0.99191.
	for q, k := range map[float64]float64{0.9475: 27, 0.95: 28, 0.99: 31} {
		if got := p.quantile(q); got != k+1 {
			t.Errorf("Poisson 20, q %g: edge %g, want %g", q, got, k+1)
		}
	}
	e := exponential{math.Ln2} // F(k) = 1 - 2^-(k+1)
	for q, k := range map[float64]float64{0.5: 0, 0.51: 1, 0.75: 1, 0.99: 6} {
		if got := e.quantile(q); got != k+1 {
			t.Errorf("geometric, q %g: edge %g, want %g", q, got, k+1)
		}
	}
}

// logLikelihood returns Σ B_k ln P(class k | X < cut).
func logLikelihood(c cells, l law) float64 { return -c.misfit(unlikelihood, l) - c.n*math.Log(c.n) }
