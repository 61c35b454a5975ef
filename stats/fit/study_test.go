package fit

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The full study: go test ./stats/fit -run Study -study -v -timeout 2h | grep '^[|#]'
var study = flag.Bool("study", false, "repeat every simulation 1000 times and print the tables")

// repetitions says how often a simulation of samples of size n is repeated.
func repetitions(n int) int {
	switch {
	case *study:
		return 1000
	case n > 1000:
		return 8
	}
	return 25
}

// A tally collects what the study states about one truth, size and way.
type tally struct {
	runs, accepted, none, anomalous int
	cover                           [2]float64 // of the chosen t_max at q = 0.95 and 0.99
	tested, rejected                map[Family]int
	estimates                       map[string][]float64
}

// simulate draws and fits a truth again and again.
func simulate(tr truth, n, runs int, paper bool) tally {
	y := tally{runs: runs, tested: map[Family]int{}, rejected: map[Family]int{}, estimates: map[string][]float64{}}
	r := rand.New(rand.NewPCG(uint64(n), 4711))
	for range runs {
		s := tr.sample(r, n)
		res := Fit(s, Options{Paper: paper, Resolution: int64(tr.coarse)})
		y.add(tr, s, res)
	}
	return y
}

func (y *tally) add(tr truth, s *Sample, res Result) {
	for _, m := range res.Models {
		y.tested[m.Family]++
		if !m.Test.Accepted {
			y.rejected[m.Family]++
		}
		if m.Family != tr.family {
			continue
		}
		if m.Test.Accepted {
			y.accepted++
		}
		for _, p := range m.Params {
			y.estimates[p.Name] = append(y.estimates[p.Name], p.Value)
		}
	}
	if res.Chosen < 0 {
		y.none++
	}
	for j, q := range []float64{0.95, 0.99} {
		y.cover[j] += tr.coverage(tMaxAt(s, res, q))
	}
	if res.PValue(s) <= 0.05 {
		y.anomalous++
	}
}

// tMaxAt is the t_max that Fit would have given for another quantile.
func tMaxAt(s *Sample, res Result, q float64) int64 {
	if res.Chosen >= 0 {
		return res.Models[res.Chosen].Quantile(q)
	}
	body := s.body(res.Cut)
	return quantileOf(body, res.Calls-res.Tail, q)
}

// share is a count as a share of those samples in which the family was fitted.
func (y tally) share(count int, f Family) float64 {
	return ratio(float64(count), float64(y.tested[f]))
}

// bias returns the deviation of the mean estimate from the truth in standard
// deviations of one estimate.
func bias(values []float64, truth float64) float64 {
	var mean, square float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / float64(len(values))
	}
	return ratio(mean-truth, math.Sqrt(square))
}

// covers returns the mean coverage of t_max at q = 0.95 (0) or 0.99 (1), in per cent.
func (y tally) covers(j int) float64 { return 100 * y.cover[j] / float64(y.runs) }

// row is the tally's line of the table of laws.
func (y tally) row(tr truth, n int, paper bool) string {
	text := fmt.Sprintf("| %s | %d | %s | %.1f | %.1f | %.2f | %.2f | %.1f |", tr.name, n, way(paper),
		100*y.share(y.accepted, tr.family), 100*float64(y.none)/float64(y.runs),
		y.covers(0), y.covers(1), 100*float64(y.anomalous)/float64(y.runs))
	for _, f := range Families() {
		switch {
		case f == tr.family:
			text += " |"
		case y.tested[f] == 0:
			text += " - |"
		default:
			text += fmt.Sprintf(" %.0f |", 100*y.share(y.rejected[f], f))
		}
	}
	return text
}

// estimated is the tally's line of the table of estimates.
func (y tally) estimated(tr truth, n int, paper bool) string {
	text := fmt.Sprintf("| %s | %d | %s |", tr.name, n, way(paper))
	for _, name := range []string{"lambda_per_ns", "lambda", "shape", "scale_ns", "mu_ln_ns", "sigma", "location_ns", "tail_weight",
		"tail_mean_ns"} {
		values, known := y.estimates[name], true
		if _, known = tr.params[name]; known && len(values) > 0 {
			text += fmt.Sprintf(" %s %+.2f,", name, bias(values, tr.params[name]))
		}
	}
	return strings.TrimSuffix(text, ",") + " |"
}

func way(paper bool) string {
	if paper {
		return "paper"
	}
	return "body"
}

// TestStudyOfLaws draws from each law and judges acceptance of the true family,
// coverage of t_max, and bias. Without -study it repeats little and leaves out
// what is shown but not judged.
func TestStudyOfLaws(t *testing.T) {
	sizes := []int{200, 3000}
	if *study {
		sizes = []int{50, 100, 200, 500, 1000, 3000}
	}
	var laws, estimates, curve []string
	for _, paper := range []bool{false, true} {
		for j, tr := range truths() {
			judged := j < 6 && paper == (tr.family == Mixture)
			if !judged && !*study {
				continue
			}
			line := fmt.Sprintf("| %s | %s |", tr.name, way(paper))
			for _, n := range sizes {
				if !judged && n != 200 && n != 3000 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%v", tr.name, n, paper), func(t *testing.T) {
					y := simulate(tr, n, repetitions(n), paper)
					if n == 200 || n == 3000 {
						laws = append(laws, y.row(tr, n, paper))
						estimates = append(estimates, y.estimated(tr, n, paper))
					}
					line += fmt.Sprintf(" %.1f, %.1f, %.1f |", 100*y.share(y.accepted, tr.family), y.covers(0), y.covers(1))
					if judged && (n == 200 || n == 3000) {
						y.judge(t, tr, n)
					}
				})
			}
			if judged {
				curve = append(curve, line)
			}
		}
	}
	if *study {
		table("laws", laws)
		table("curve over N: accepted, covers 95 %, covers 99 %", curve)
		table("bias of estimates in standard deviations of one", estimates)
	}
}

// table prints the rows of a table of STUDY.md.
func table(name string, rows []string) {
	fmt.Printf("\n# %s\n%s\n", name, strings.Join(rows, "\n"))
}

// judge states the claims, each with three standard errors of its own estimate on
// top: the true law is accepted at 1 - α within 2 points; t_max covers q within 2 points
// at 200 calls and 0.5 at 3000, a discrete law never less; the mean estimate is
// off by little more than the standard deviation of one.
func (y tally) judge(t *testing.T, tr truth, n int) {
	t.Helper()
	root := math.Sqrt(float64(y.runs))
	accepted := float64(y.accepted) / float64(y.runs)
	if math.Abs(accepted-0.95) > 0.02+3*math.Sqrt(0.05*0.95)/root {
		t.Errorf("the true law is accepted in %.1f%%, want 95%%", 100*accepted)
	}
	within, spread := 0.02, 0.02
	if n > 1000 {
		within, spread = 0.005, 0.006
	}
	for j, q := range []float64{0.95, 0.99} {
		cover := y.cover[j] / float64(y.runs)
		slack := 3 * spread / root
		if tr.family == LocatedPoisson && cover < q-slack || tr.family != LocatedPoisson && math.Abs(cover-q) > within+slack {
			t.Errorf("t_max at %g covers %.4f", q, cover)
		}
	}
	for name, values := range y.estimates {
		truth, known := tr.params[name] // the offset depends on the sample's minimum
		if b := bias(values, truth); known && math.Abs(b) > 1.2+3/root {
			t.Errorf("%s is off by %.2f standard deviations in the mean", name, b)
		}
	}
}
