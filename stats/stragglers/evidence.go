package stragglers

import (
	"math"
	"slices"

	"tracekit/document/training"
	"tracekit/stats/numbers"

	"gonum.org/v1/gonum/stat/distuv"
)

// How sure a finding about a worker must be, and how large: the bound of the probability that any of the workers is found although all
// are equal, and the share of the time of its peers by which it is slower.
const (
	sure       = 0.001
	large      = 0.02
	farSigmas  = 6
	farShare   = 0.1
	tameSigmas = 3
	tamedShare = 6
	fewest     = 4 // steps, for a test
)

// computing returns by worker and step how long the worker computes.
func (r *replayer) computing() [][]float64 {
	out := make([][]float64, len(r.ranks))
	for w := range out {
		out[w] = make([]float64, len(r.steps))
	}
	for s := range r.took {
		for n, v := range r.took[s] {
			if r.kind[n].computes() {
				out[r.by[n]][s] += v
			}
		}
	}
	return out
}

// excesses returns by worker and step by how much longer it computes than the median of its peers, as a share of their time. Peers are the
// other workers of its stage or, if it is alone there, all others.
func (r *replayer) excesses() [][]float64 {
	times := r.computing()
	out := make([][]float64, len(times))
	for w := range times {
		out[w] = make([]float64, len(r.steps))
	}
	var sorted []float64
	for _, workers := range r.alike() {
		for s := range r.steps {
			sorted = sorted[:0]
			for _, w := range workers {
				sorted = append(sorted, times[w][s])
			}
			slices.Sort(sorted)
			for _, w := range workers {
				if m := medianWithout(sorted, times[w][s]); m > 0 {
					out[w][s] = times[w][s]/m - 1
				}
			}
		}
	}
	return out
}

// alike returns the workers that are each other's peers.
func (r *replayer) alike() [][]int {
	out := make([][]int, r.stages)
	for w := range r.ranks {
		of := 0
		if r.dps > 1 {
			of = w % r.stages
		}
		out[of] = append(out[of], w)
	}
	return out
}

// medianWithout returns the median of all of some sorted values but one of value x.
func medianWithout(sorted []float64, x float64) float64 {
	n := len(sorted) - 1
	if n < 1 {
		return 0
	}
	at, _ := slices.BinarySearch(sorted, x)
	value := func(k int) float64 {
		if k >= at {
			k++
		}
		return sorted[k]
	}
	return (value((n-1)/2) + value(n/2)) / 2
}

// judge finds which workers are slow, and since when.
func (r *replayer) judge(workers []training.Worker) {
	far := max(farShare, farSigmas*spread(r.excess))
	r.slow = make([][]bool, len(workers))
	for w := range workers {
		r.slow[w] = make([]bool, len(r.steps))
		r.judgeOne(&workers[w], r.excess[w], r.slow[w], far, float64(len(workers)))
	}
	r.judgeLongest(workers)
}

// judgeLongest finds which workers compute longest in more steps than chance allows, of the peers that are not slow then.
func (r *replayer) judgeLongest(workers []training.Worker) {
	chances := make([]float64, len(workers)) // sums over steps
	for _, peers := range r.alike() {
		for s := range r.steps {
			longest, n := -1, 0
			for _, w := range peers {
				if !r.slow[w][s] {
					if n++; longest < 0 || r.excess[w][s] > r.excess[longest][s] {
						longest = w
					}
				}
			}
			if n < 2 {
				continue
			}
			workers[longest].Longest++
			for _, w := range peers {
				if !r.slow[w][s] {
					workers[w].Compared++
					chances[w] += 1 / float64(n)
				}
			}
		}
	}
	for w := range workers {
		x := &workers[w]
		x.OftenLongest = float64(len(workers))*more(x.Longest, x.Compared, chances[w]) < sure
	}
}

// more returns a bound (Chernoff's) of the probability that so many of n independent events happen, or more, of which sum is expected.
func more(happened, n int, sum float64) float64 {
	k, all := float64(happened), float64(n)
	switch {
	case k <= sum:
		return 1
	case k == all:
		return math.Pow(sum/all, all)
	}
	return math.Exp(-k*math.Log(k/sum) - (all-k)*math.Log((all-k)/(all-sum)))
}

// spread returns a robust standard deviation of excesses about the median of their worker.
func spread(all [][]float64) float64 {
	var away []float64
	for _, v := range all {
		m := numbers.Median(slices.Clone(v))
		for _, x := range v {
			away = append(away, math.Abs(x-m))
		}
	}
	const normal = 1.4826 // standard deviations of a normal distribution per median deviation
	return normal * numbers.Median(away)
}

// judgeOne finds whether a worker of these excesses is slow, and marks the steps in which it is.
func (r *replayer) judgeOne(w *training.Worker, v []float64, slow []bool, far, workers float64) {
	w.Excess = mean(v)
	middle := numbers.Median(slices.Clone(v))
	var random []int64 // steps
	for s, x := range v {
		if x-middle > far {
			random = append(random, int64(r.steps[s]))
		}
	}
	found := func(pattern string, odds float64, from, to int) {
		w.Pattern, w.Odds, w.Slow = pattern, &odds, to-from
		for s := range slow {
			slow[s] = s >= from && s < to
		}
	}
	if at, odds := change(v); odds*workers < sure {
		before, after := numbers.Median(slices.Clone(v[:at])), numbers.Median(slices.Clone(v[at:]))
		if step := int64(r.steps[at]); math.Abs(after-before) >= large && max(before, after) >= large {
			w.Step, w.Before, w.After = &step, &before, &after
			if after > before {
				found(training.SlowSince, odds*workers, at, len(v))
			} else {
				found(training.SlowUntil, odds*workers, 0, at)
			}
			return
		}
	}
	if odds := above(v) * workers; odds < sure && middle >= large {
		found(training.SlowAlways, odds, 0, len(v))
		return
	}
	if len(random) > 0 && w.Excess > 0 {
		w.Slow, w.Every = len(random), distance(random)
		w.Pattern = training.SlowAtRandom
		for s, x := range v {
			slow[s] = x-middle > far
		}
	}
}

// distance returns how many steps are between neighbors of several, if it is the same number and not one; nil if not.
func distance(steps []int64) *int64 {
	if len(steps) < 3 || steps[1]-steps[0] < 2 {
		return nil
	}
	every := steps[1] - steps[0]
	for i := 2; i < len(steps); i++ {
		if steps[i]-steps[i-1] != every {
			return nil
		}
	}
	return &every
}

// change returns where the mean of values is most likely to change, with a few at least on either side, and a bound of the probability
// that a change as clear is found in independent normal values of one mean: that of Student's test at the place, times the number of
// places. What few values are far off does not hide a change.
func change(v []float64) (at int, odds float64) {
	n := len(v)
	if n < 2*fewest {
		return 0, 1
	}
	side, _ := clearest(ranks(v))
	tamed, far := tame(v, side)
	at, best := clearest(tamed)
	all, freedom := float64(n-2), float64(n-2-far)
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}
	return at, min(1, 2*float64(n+1-2*fewest)*student.Survival(math.Sqrt(best*all)*freedom/all))
}

// clearest returns where values change most: the squares of deviations that two means explain, as a share of those that are left.
func clearest(v []float64) (at int, best float64) {
	n := len(v)
	sum, squares := 0.0, 0.0
	for _, x := range v {
		sum, squares = sum+x, squares+x*x
	}
	before := 0.0
	for k := 1; k <= n-fewest; k++ {
		if before += v[k-1]; k < fewest {
			continue
		}
		left, right := before/float64(k), (sum-before)/float64(n-k)
		within := squares - before*left - (sum-before)*right
		between := (left - right) * (left - right) * float64(k) * float64(n-k) / float64(n)
		if within <= 1e-12*squares { // what is left is of rounding
			within = 1e-12 * squares
		}
		if t := between / within; t > best {
			best, at = t, k
		}
	}
	return at, best
}

// tame brings values back that are far from the median of their side of a place, and counts them. If they are more than one of tamedShare,
// they are no exception.
func tame(v []float64, at int) (tamed []float64, count int) {
	out := slices.Clone(v)
	sides := [][]float64{out[:at], out[at:]}
	far := tameSigmas * spread(sides)
	if at == 0 || far == 0 { // none changes, or most are equal
		return v, 0
	}
	for _, side := range sides {
		m := numbers.Median(slices.Clone(side))
		for i, x := range side {
			if side[i] = min(max(x, m-far), m+far); side[i] != x {
				count++
			}
		}
	}
	if count*tamedShare > len(v) {
		return v, 0
	}
	return out, count
}

// ranks returns the place of each value among all; equal ones have the same, that of their middle.
func ranks(v []float64) []float64 {
	sorted := slices.Sorted(slices.Values(v))
	out := make([]float64, len(v))
	for i, x := range v {
		from, _ := slices.BinarySearch(sorted, x)
		to := from
		for to < len(sorted) && sorted[to] == x {
			to++
		}
		out[i] = float64(from+to) / 2
	}
	return out
}

// above returns a bound of the probability that values about 0 lie as far above it, by their mean (Student's test) or by the ranks of their
// distances (Wilcoxon's test, from which few values that are far off hide nothing).
func above(v []float64) float64 {
	if len(v) < fewest {
		return 1
	}
	n, m, sum := float64(len(v)), mean(v), 0.0
	distances := make([]float64, len(v))
	for i, x := range v {
		sum += (x - m) * (x - m)
		distances[i] = math.Abs(x)
	}
	switch {
	case m <= 0:
		return 1
	case sum == 0:
		return 0
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(m / math.Sqrt(sum/(n-1)/n))
	return min(1, 2*min(student, signedRanks(v, ranks(distances))))
}

// exactly is up to how many values the signs of ranks are counted out. Of more, their sum is normal.
const exactly = 50

// signedRanks returns the probability that the ranks of values above 0 have a sum as large where signs are by chance.
func signedRanks(v, ranks []float64) float64 {
	n, sum := float64(len(v)), 0.0
	for i, rank := range ranks {
		if v[i] > 0 {
			sum += rank + 0.5 // the first is 1
		}
	}
	p := distuv.UnitNormal.Survival((sum - n*(n+1)/4) / math.Sqrt(n*(n+1)*(2*n+1)/24))
	if len(v) > exactly || p > 0.05 { // which needs not be exact
		return p
	}
	ways := make([]float64, len(v)*(len(v)+1)+1) // share of all signs, by twice the sum
	ways[0] = 1
	for i, rank := range ranks {
		if v[i] == 0 {
			continue
		}
		twice := int(2*rank + 1)
		for k := len(ways) - 1; k >= 0; k-- {
			ways[k] /= 2
			if k >= twice {
				ways[k] += ways[k-twice] / 2
			}
		}
	}
	p = 0
	for _, w := range ways[int(2*sum):] {
		p += w
	}
	return p
}

// sequences compares the forward and backward times of micro-batches, each as a share of the mean of its worker in the step; nil if they
// are not recorded.
func (r *replayer) sequences() *training.Sequences {
	type key struct {
		by    int32
		batch uint32
		chunk uint32
	}
	pairs := make(map[key][2]int)
	for n, k := range r.kind {
		x := &r.template[n%len(r.template)]
		if k > backwardCompute || x.batch == none {
			continue
		}
		id := key{r.by[n], x.batch, x.chunk}
		p := pairs[id]
		p[k] = n + 1
		pairs[id] = p
	}
	var both [][2]int
	for n := range r.kind { // in order of nodes
		x := &r.template[n%len(r.template)]
		if p := pairs[key{r.by[n], x.batch, x.chunk}]; r.kind[n] == forwardCompute && x.batch != none && p[0] == n+1 && p[1] > 0 {
			both = append(both, [2]int{p[0] - 1, p[1] - 1})
		}
	}
	if len(both)*len(r.steps) < 8 {
		return nil
	}
	var xx, yy, xy, n float64
	sums, counts := make([][2]float64, len(r.ranks)), make([]float64, len(r.ranks))
	for s := range r.steps {
		clear(sums)
		clear(counts)
		for _, p := range both {
			w := r.by[p[0]]
			sums[w][0] += r.took[s][p[0]]
			sums[w][1] += r.took[s][p[1]]
			counts[w]++
		}
		for _, p := range both {
			w := r.by[p[0]]
			if counts[w] < 2 || sums[w][0] <= 0 || sums[w][1] <= 0 {
				continue
			}
			x, y := r.took[s][p[0]]*counts[w]/sums[w][0]-1, r.took[s][p[1]]*counts[w]/sums[w][1]-1
			xx, yy, xy, n = xx+x*x, yy+y*y, xy+x*y, n+1
		}
	}
	if xx == 0 || yy == 0 {
		return nil
	}
	out := &training.Sequences{Correlation: xy / math.Sqrt(xx*yy), Variation: math.Sqrt(min(xx, yy) / n)}
	const correlated, varied = 0.9, 0.05
	out.Varying = out.Correlation >= correlated && out.Variation >= varied
	return out
}
