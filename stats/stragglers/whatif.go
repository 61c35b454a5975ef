package stragglers

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A Model is a training job that can be replayed with changes.
type Model struct{ r *replayer }

// A Change is one of a training job.
type Change struct {
	Equalize  bool    // all operations take what equal ones take
	Replace   float64 // this share of workers, the slowest, computes as long as its peers; at least one, unless it is 0
	Rebalance bool    // stages compute equally long: layers are moved

	Latency, PerByte float64 // ns that each message and collective, and each byte of it, takes longer
}

// NewModel makes the model of a trace. The errors are those of Find.
func NewModel(ctx context.Context, src trace.Source, jobs int) (*Model, error) {
	_, r, err := open(ctx, src, jobs)
	if err != nil {
		return nil, err
	}
	return &Model{r}, nil
}

// changed returns the replayer of a change, and of each node whether it takes what is recorded.
func (m *Model) changed(c Change) (*replayer, func(n int) bool) {
	r := *m.r
	if c.Rebalance {
		r.rebalance()
	}
	if c.Replace > 0 {
		slow, took := r.are(r.slowest(Slowest(len(r.ranks), c.Replace))), make([][]float64, len(r.took))
		r.each(func(x *run, s int) { took[s] = slices.Clone(x.mended(s, slow)) })
		r.took = took
	}
	r.slower.latency, r.slower.perByte = c.Latency, c.PerByte
	return &r, func(int) bool { return !c.Equalize }
}

// Steps returns how many steps there are.
func (m *Model) Steps() int { return len(m.r.took) }

// Predict returns how long all steps take together, in ns.
func (m *Model) Predict(c Change) int64 {
	r, keep := m.changed(c)
	sum := 0.0
	for _, l := range r.lengths(keep) {
		sum += l
	}
	return int64(math.Round(sum))
}

// slowest returns the n slowest workers.
func (r *replayer) slowest(n int) []int {
	estimates := slices.Repeat([]float64{math.Inf(1)}, len(r.ranks))
	for _, by := range [...]by{byDP, byStage, byLane} {
		if by == byLane && r.lanes == 1 {
			continue
		}
		slow := make(map[int]float64)
		for _, g := range r.groups(by) {
			slow[g.number] = mean(r.lengthsOf(g))
		}
		for w := range estimates {
			estimates[w] = min(estimates[w], slow[r.numberOf(by, w)])
		}
	}
	workers := make([]int, len(r.ranks))
	for w := range workers {
		workers[w] = w
	}
	slices.SortStableFunc(workers, func(a, b int) int {
		return cmp.Or(cmp.Compare(estimates[b], estimates[a]), cmp.Compare(r.ranks[a], r.ranks[b]))
	})
	return workers[:n]
}

// mended returns what nodes take in a step if some workers compute as long as their peers: each operation the median of what it takes in
// the step on other data-parallel ranks that are not mended themselves, or, if all are, on all; on the only one the mean of its type on
// other workers. It is valid until the next one.
func (x *run) mended(s int, slow []bool) []float64 {
	copy(x.own, x.took[s])
	theirs := make([]float64, 0, x.dps)
	alone := x.equal
	if x.dps == 1 {
		alone = x.others(s, slow)
	}
	for at := range x.template {
		x.mend(at, slow, x.took[s], x.own, theirs, &alone)
	}
	return x.own
}

// others returns the mean of what operations of a type take in a step on workers that are not slow; if all are, what equal ones take.
func (r *replayer) others(s int, slow []bool) (out [kinds]float64) {
	var taken [kinds][]float64
	for n, k := range r.kind {
		if !slow[r.by[n]] {
			taken[k] = append(taken[k], r.took[s][n])
		}
	}
	out = r.equal
	for k, v := range taken {
		if len(v) > 0 {
			out[k] = mean(v)
		}
	}
	return out
}

// are marks some workers.
func (r *replayer) are(workers []int) []bool {
	marked := make([]bool, len(r.ranks))
	for _, w := range workers {
		marked[w] = true
	}
	return marked
}

// mend mends an operation of the template on slow workers; theirs is memory for one of each data-parallel rank. alone is what a type takes
// where there is only one.
func (r *replayer) mend(at int, slow []bool, took, out, theirs []float64, alone *[kinds]float64) {
	if !r.kind[at].computes() {
		return
	}
	all := 0
	for n := at; n < len(r.kind); n += len(r.template) {
		if all++; !slow[r.by[n]] {
			theirs = append(theirs, took[n])
		}
	}
	if len(theirs) == all {
		return
	}
	if len(theirs) == 0 && all > 1 {
		for n := at; n < len(r.kind); n += len(r.template) {
			theirs = append(theirs, took[n])
		}
	}
	peers := alone[r.kind[at]]
	if len(theirs) > 0 {
		peers = numbers.Median(theirs)
	}
	for n := at; n < len(r.kind); n += len(r.template) {
		if slow[r.by[n]] {
			out[n] = peers
		}
	}
}

// whenMended returns the mean length of a step, in ns, if some workers compute as long as their peers; of those found to be slow, where
// only is set, in the steps in which they are.
func (r *replayer) whenMended(workers []int, only bool) int64 {
	all, lengths := r.are(workers), make([]float64, len(r.took))
	r.each(func(x *run, s int) {
		slow := all
		if only {
			slow = slices.Clone(all)
			for _, w := range workers {
				slow[w] = r.slow[w][s]
			}
		}
		lengths[s] = x.replay(x.mended(s, slow))
	})
	return int64(math.Round(mean(lengths)))
}

// rebalance scales computations, so that those of a type take equally long in the mean on all stages.
func (r *replayer) rebalance() {
	type sums struct{ time, count float64 }
	by := make([][weightCompute + 1]sums, r.stages)
	var all [weightCompute + 1]sums
	for s := range r.took {
		for n, k := range r.kind {
			if k <= weightCompute {
				x := &by[int(r.by[n])%r.stages][k]
				x.time, x.count = x.time+r.took[s][n], x.count+1
				all[k].time, all[k].count = all[k].time+r.took[s][n], all[k].count+1
			}
		}
	}
	took := make([][]float64, len(r.took))
	for s := range took {
		took[s] = slices.Clone(r.took[s])
		for n, k := range r.kind {
			if k > weightCompute {
				continue
			}
			if x := by[int(r.by[n])%r.stages][k]; x.time > 0 {
				took[s][n] *= all[k].time / all[k].count / (x.time / x.count)
			}
		}
	}
	r.took = took
}
