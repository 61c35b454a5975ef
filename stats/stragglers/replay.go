package stragglers

import (
	"iter"
	"slices"
)

// mostBackward is how far below 0, in ns, a transfer may be; less is of clocks that disagree, and counts as 0.
const mostBackward = 10e6

// A replayer replays steps.
//
//	took[s][n] is what node n takes in step s: the duration of a computation, the transfer of a communication
//	equal[k] is what each operation of a kind takes where all are equal
//	joint[n] tells that node n communicates with others; slower is by how much longer such take: each, and each byte, in ns
//	ends are those of each node in the last replay
type replayer struct {
	*job
	*graph
	took  [][]float64
	equal [kinds]float64
	ends  []float64
	kind  []kind  // by node
	by    []int32 // by node: its worker
	joint []bool
	final []int // optimizers

	slower struct{ latency, perByte float64 }

	excess [][]float64 // by worker and step, once Find has asked for them
	pair   *pair       // nil: there is none
}

func newReplayer(j *job) (*replayer, error) {
	g, err := newGraph(j)
	if err != nil {
		return nil, err
	}
	r := framed(j, g)
	n := len(r.kind)
	r.took = make([][]float64, len(j.steps))
	for s := range j.steps {
		r.took[s] = make([]float64, n)
		for _, unit := range g.units {
			latest := j.start[s][unit[0]]
			for _, i := range unit[1:] {
				latest = max(latest, j.start[s][i])
			}
			for _, i := range unit {
				if r.kind[i].computes() { // which those of other workers may hold up, but not lengthen
					r.took[s][i] = j.end[s][i] - j.start[s][i]
					continue
				}
				v := j.end[s][i] - latest
				j.backward = j.backward || v < 0 && r.joint[i]
				if v < -mostBackward {
					v = 0
				}
				r.took[s][i] = v
			}
		}
	}
	r.equalize()
	r.pair = r.newPair()
	return r, nil
}

// framed returns a replayer that does not know yet what nodes take.
func framed(j *job, g *graph) *replayer {
	n := len(j.template) * j.dps
	r := &replayer{job: j, graph: g, ends: make([]float64, n), kind: make([]kind, n), by: make([]int32, n), joint: make([]bool, n)}
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
	var values [kinds][]float64
	for s := range r.took {
		for i, v := range r.took[s] {
			values[r.kind[i]] = append(values[r.kind[i]], v)
		}
	}
	for k, v := range values {
		switch {
		case len(v) == 0:
		case kind(k).computes():
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			r.equal[k] = sum / float64(len(v))
		default:
			r.equal[k] = median(v)
		}
	}
}

// median returns the median of values, which it sorts.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// replay replays a step in which each node takes a time, and returns its length.
func (r *replayer) replay(took []float64) float64 {
	for _, unit := range r.units {
		latest := 0.0
		for _, i := range unit {
			for _, k := range r.follows[i] {
				latest = max(latest, r.ends[k])
			}
		}
		for _, i := range unit {
			r.ends[i] = latest + took[i]
		}
	}
	length := 0.0
	for _, i := range r.final {
		length = max(length, r.ends[i])
	}
	return length
}

// lengths returns the length of each step in which the nodes that are kept take what is recorded, and others what equal ones take.
func (r *replayer) lengths(keep func(n int) bool) []float64 {
	out := make([]float64, 0, len(r.took))
	for _, took := range r.taken(keep) {
		out = append(out, r.replay(took))
	}
	return out
}

// taken returns what nodes take in each step: those that are kept what is recorded, others what equal ones take. A step's values are valid
// until the next one.
func (r *replayer) taken(keep func(n int) bool) iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		kept, took := make([]bool, len(r.kind)), make([]float64, len(r.kind))
		for i, k := range r.kind {
			kept[i], took[i] = keep(i), r.equal[k]
		}
		for s := range r.took {
			for i, k := range kept {
				if k {
					took[i] = r.took[s][i]
				}
			}
			if r.slower.latency > 0 || r.slower.perByte > 0 {
				for i, k := range kept {
					if !k {
						took[i] = r.equal[r.kind[i]]
					}
					if r.joint[i] {
						took[i] += r.slower.latency + r.slower.perByte*r.size(s, i)
					}
				}
			}
			if !yield(s, took) {
				return
			}
		}
	}
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
