package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A change counts as significant if it is no accident and large enough to matter.
const (
	// falseShare is the share of false ones among the changes that are called significant
	// (Benjamini and Hochberg).
	falseShare = 0.05
	// leastOfPlace and leastOfRun are the least change, of what the place takes and of the time of
	// all ranks. Two runs on one machine differ by as much for reasons that no test within a run
	// can see: the clock of the processors, the memory that they got.
	leastOfPlace = 0.01
	leastOfRun   = 0.001
	// leastOfRank is the least change on one rank that counts though the sum over ranks hardly
	// changes: one that is slow makes all others wait.
	leastOfRank = 0.1
	// leastBlocks is the number of blocks, or of runs, below which nothing is said of chance.
	leastBlocks = 5
)

// A verdict is what a test says of the difference of two sums.
type verdict struct {
	noise float64 // half the width of the interval of 95 % around the difference
	p     float64
	known bool // there was enough to judge by
}

// An estimate is the difference of B and A in one place, and how far from it chance may lead.
//
// Block by block the same work is paired, so that what differs from iteration to iteration in
// both alike does not count as noise: the sum of the differences d is tested against 0 with
// Student's t. Neighbouring blocks may be alike; so the variance is inflated, and the degrees of
// freedom are reduced, by (1+r)/(1-r) with r the autocorrelation of d at lag one, where that is
// positive.
//
// With several runs a side, blocks are those of their means, and beside what blocks say stands
// what runs say: the pooled variance of their sums.
type estimate struct {
	difference float64
	blocks     deviation // none: too few of them
	runs       deviation // none: one run a side
}

// A deviation is the variance of an estimate, and its degrees of freedom; 0: there is none.
type deviation struct{ variance, freedom float64 }

// estimated weighs one place.
func estimated(a, b [][blocks]int64, instances *[blocks]bool) estimate {
	var e estimate
	for k := range blocks {
		e.difference += meanAt(b, k) - meanAt(a, k)
	}
	e.blocks = ofBlocks(a, b, instances)
	if len(a)+len(b) > 2 {
		e.runs = ofRuns(sums(a), sums(b))
	}
	return e
}

// judge tests an estimate. Few runs say hardly anything of their variance in one place: it is
// moderated by what the places say together. The larger noise holds, of blocks or of runs.
func (e estimate) judge(p prior) verdict {
	within := verdict{p: 1}
	if e.blocks.freedom > 0 {
		within = student(e.difference, e.blocks)
	}
	if e.runs.freedom == 0 {
		return within
	}
	between := student(e.difference, p.moderate(e))
	if !within.known || between.p > within.p {
		return between
	}
	return within
}

func ofBlocks(a, b [][blocks]int64, instances *[blocks]bool) deviation {
	var d []float64
	begun := 0 // blocks in which some instance begins
	for k := range blocks {
		x, y := meanAt(a, k), meanAt(b, k)
		if instances[k] {
			begun++
		}
		if instances[k] || x != 0 || y != 0 {
			d = append(d, y-x)
		}
	}
	n := float64(len(d))
	if begun < leastBlocks {
		return deviation{}
	}
	mean := sumOf(d) / n
	var square, lagged float64
	for i, x := range d {
		square += (x - mean) * (x - mean)
		if i > 0 {
			lagged += (x - mean) * (d[i-1] - mean)
		}
	}
	inflation := 1.0
	if square > 0 {
		const most = 0.9 // more cannot be told from so few blocks
		r := min(most, max(0, lagged/square))
		inflation = (1 + r) / (1 - r)
	}
	return deviation{square / (n - 1) * n * inflation, max(1, (n-1)/inflation)}
}

// sums returns the sum of each run.
func sums(runs [][blocks]int64) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		for _, v := range runs[i] {
			out[i] += float64(v)
		}
	}
	return out
}

// ofRuns returns the deviation of the difference of the means of two sides, at least three values
// together, by the variance within the sides.
func ofRuns(a, b []float64) deviation {
	na, nb := float64(len(a)), float64(len(b))
	var square float64
	for _, side := range [][]float64{a, b} {
		mean := sumOf(side) / float64(len(side))
		for _, x := range side {
			square += (x - mean) * (x - mean)
		}
	}
	return deviation{square / (na + nb - 2) * (1/na + 1/nb), na + nb - 2}
}

// student tests a difference.
func student(difference float64, d deviation) verdict {
	t, err := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: d.freedom}, math.Sqrt(d.variance)
	v := verdict{noise: t.Quantile(0.975) * err, p: 1, known: true}
	switch {
	case difference == 0:
	case err == 0:
		v.p = 0
	default:
		v.p = 2 * t.Survival(math.Abs(difference)/err)
	}
	return v
}

func meanAt(runs [][blocks]int64, block int) float64 {
	sum := 0.0
	for i := range runs {
		sum += float64(runs[i][block])
	}
	return sum / float64(max(1, len(runs)))
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// discoveries returns which of the probabilities are small enough for so many at once
// (Benjamini and Hochberg 1995): at most falseShare of those are by chance in the mean.
func discoveries(p []float64) []bool {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(p[i], p[k]) })
	out, last := make([]bool, len(p)), -1
	for rank, i := range order {
		if p[i] <= falseShare*float64(rank+1)/float64(len(p)) {
			last = rank
		}
	}
	for _, i := range order[:last+1] {
		out[i] = true
	}
	return out
}
