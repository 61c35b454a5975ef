package stragglers

import (
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/stats/numbers"
)

// mostBackward is how far below 0, in ns, a transfer may be; less is of clocks that disagree, and counts as 0.
const mostBackward = 10e6

// A replayer replays steps.
//
//	took[s][n] is what node n takes in step s: the duration of a computation, the transfer of a communication
//	equal[k] is what each operation of a kind takes where all are equal
//	joint[n] tells that node n communicates with others; slower is by how much longer such take: each, and each byte, in ns
type replayer struct {
	*job
	*graph
	jobs  int // how many steps are replayed at a time
	took  [][]float64
	equal [kinds]float64
	kind  []kind  // by node
	by    []int32 // by node: its worker
	joint []bool
	final []int // optimizers

	slower struct{ latency, perByte float64 }

	excess [][]float64 // by worker and step, once Find has asked for them
	slow   [][]bool    // by worker and step: the worker is slow by more than chance; as excess
	pair   *pair       // nil: there is none
}

func newReplayer(j *job, jobs int) (*replayer, error) {
	g, err := newGraph(j)
	if err != nil {
		return nil, err
	}
	r := framed(j, g, jobs)
	r.took = make([][]float64, len(j.steps))
	backward := make([]bool, len(j.steps))
	r.each(func(_ *run, s int) { r.took[s], backward[s] = r.recorded(s) })
	j.backward = j.backward || slices.Contains(backward, true)
	r.equalize()
	r.pair = r.newPair()
	return r, nil
}

// recorded returns what nodes take in a step as recorded, and whether clocks contradict each other.
func (r *replayer) recorded(s int) (took []float64, backward bool) {
	start, end := r.start[s], r.end[s]
	took = make([]float64, len(r.kind))
	for _, unit := range r.units {
		latest := start[unit[0]]
		for _, i := range unit[1:] {
			latest = max(latest, start[i])
		}
		for _, i := range unit {
			if r.kind[i].computes() { // which those of other workers may hold up, but not lengthen
				took[i] = end[i] - start[i]
				continue
			}
			v := end[i] - latest
			if k := r.kind[i]; r.hosts && (k == forwardSend || k == backwardSend) {
				for _, other := range unit { // the send is asked for its end once others have to be sent, too
					v = max(0, min(v, end[other]-latest))
				}
			}
			backward = backward || v < 0 && r.joint[i]
			if v < -mostBackward {
				v = 0
			}
			took[i] = v
		}
	}
	return took, backward
}

// framed returns a replayer that does not know yet what nodes take.
func framed(j *job, g *graph, jobs int) *replayer {
	n := len(j.template) * j.dps
	r := &replayer{job: j, graph: g, jobs: jobs, kind: make([]kind, n), by: make([]int32, n), joint: make([]bool, n)}
	for i := range n {
		r.kind[i], r.by[i] = j.template[i%len(j.template)].kind, int32(j.worker(i))
		if r.kind[i] == optimizer {
			r.final = append(r.final, i)
		}
	}
	if len(r.final) == 0 { // a job without one ends with what ends last
		for i := range n {
			r.final = append(r.final, i)
		}
	}
	for _, unit := range g.units {
		for _, i := range unit {
			r.joint[i] = len(unit) > 1 && !r.kind[i].computes()
		}
	}
	return r
}

// equalize finds what operations take where all are equal: computations the mean of their kind, communications the median.
func (r *replayer) equalize() {
	var sums [kinds]float64
	var counts [kinds]int
	var communications [kinds][]float64
	for _, took := range r.took {
		for i, v := range took {
			k := r.kind[i]
			counts[k]++
			if k.computes() {
				sums[k] += v
			} else {
				communications[k] = append(communications[k], v)
			}
		}
	}
	for k := range kinds {
		switch {
		case counts[k] == 0:
		case k.computes():
			r.equal[k] = sums[k] / float64(counts[k])
		default:
			r.equal[k] = numbers.Median(communications[k])
		}
	}
}

// A run is the replay of one step at a time: own[n] is what node n takes in a changed step, ends[n] when it ends.
type run struct {
	*replayer
	own, ends []float64
}

func (r *replayer) newRun() *run {
	return &run{r, make([]float64, len(r.kind)), make([]float64, len(r.kind))}
}

// each visits all steps, several at a time.
func (r *replayer) each(visit func(x *run, s int)) {
	_, err := engine.Fold(context.Background(), r.jobs, len(r.steps), r.newRun, func(x *run, s int) error {
		visit(x, s)
		return nil
	}, func(x, _ *run) *run { return x })
	if err != nil { // a panic of visit, which comes from another goroutine
		panic(err)
	}
}

// replay replays a step in which each node takes a time, and returns its length.
func (x *run) replay(took []float64) float64 {
	for _, unit := range x.units {
		latest := 0.0
		for _, i := range unit {
			for _, k := range x.follows[i] {
				latest = max(latest, x.ends[k])
			}
		}
		for _, i := range unit {
			x.ends[i] = latest + took[i]
		}
	}
	length := 0.0
	for _, i := range x.final {
		length = max(length, x.ends[i])
	}
	return length
}

// lengths returns the length of each step in which the nodes that are kept take what is recorded, and others what equal ones take.
func (r *replayer) lengths(keep func(n int) bool) []float64 {
	kept := r.kept(keep)
	out := make([]float64, len(r.took))
	r.each(func(x *run, s int) { out[s] = x.replay(x.taken(s, kept)) })
	return out
}

// kept returns for which nodes a function holds.
func (r *replayer) kept(keep func(n int) bool) []bool {
	kept := make([]bool, len(r.kind))
	for n := range kept {
		kept[n] = keep(n)
	}
	return kept
}

// taken returns what nodes take in a step: those that are kept what is recorded, others what equal ones take. It is valid until the next
// one.
func (x *run) taken(s int, kept []bool) []float64 {
	took := x.took[s]
	for i, k := range kept {
		if x.own[i] = x.equal[x.kind[i]]; k {
			x.own[i] = took[i]
		}
	}
	if x.slower.latency > 0 || x.slower.perByte > 0 {
		for i, joint := range x.joint {
			if joint {
				x.own[i] += x.slower.latency + x.slower.perByte*x.size(s, i)
			}
		}
	}
	return x.own
}

// size returns how many bytes a node of a step communicates, 0 if that is not recorded.
func (r *replayer) size(step, n int) float64 { return max(0, r.bytes[step][n]) }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}
