package stragglers_test

import (
	"fmt"
	"math"
	"testing"
)

// A pass is one of a micro-batch through a stage of the model, which has begun once the passes of its rank before it and the pass that it
// needs have ended.
type pass struct {
	backward     bool
	stage, batch int
	begin, end   float64
}

// circle plays a step of an interleaved schedule: each rank has every ranks-th stage of the model, and takes all micro-batches through one
// before it goes on to the next. Between passes is 1 µs.
func circle(ranks, chunks, batches int, begin float64, took func(rank int, backward bool) float64) (passes [][]pass, end float64) {
	passes = make([][]pass, ranks)
	done := make(map[pass]float64) // of passes without times
	for range 2 * chunks * batches * ranks {
		for r := range ranks {
			n := len(passes[r])
			if n == 2*chunks*batches {
				continue
			}
			p := pass{n >= chunks*batches, n/batches%chunks*ranks + r, n % batches, 0, 0}
			before := p
			if before.stage--; p.backward {
				p.stage = (chunks-1-n/batches%chunks)*ranks + r
				before = pass{true, p.stage + 1, p.batch, 0, 0}
			}
			key, at, known := p, begin, true
			if before.stage >= 0 && before.stage < ranks*chunks {
				at, known = done[before]
			}
			if !known {
				continue
			}
			if n > 0 {
				at = max(at, passes[r][n-1].end)
			}
			p.begin, p.end = at+1, at+1+took(r, p.backward)
			done[key], end = p.end, max(end, p.end)
			passes[r] = append(passes[r], p)
		}
	}
	return passes, end
}

// TestCircleOfHosts states that an interleaved schedule of hosts is replayed though no group is described: passes name their stage. Sends
// last until the end of the step, and receives are asked for one pass before they are needed; neither encloses what the rank computes.
func TestCircleOfHosts(t *testing.T) { pipelineOfHosts(t, 2, true) }

// TestUnnamedPipelineOfHosts states that a pipeline of hosts is replayed though nothing names its passes: what a host does between its
// messages besides is no pass.
func TestUnnamedPipelineOfHosts(t *testing.T) { pipelineOfHosts(t, 1, false) }

func pipelineOfHosts(t *testing.T, chunks int, named bool) {
	const ranks, batches, steps, slow = 3, 4, 8, 1
	of := func(factor float64) func(int, bool) float64 {
		return func(rank int, backward bool) float64 {
			took := 100.0
			if backward {
				took = 150
			}
			if rank == slow {
				took *= factor
			}
			return took
		}
	}
	f := newTorchFiles(ranks)
	begin := 1000.0
	for s := range steps {
		passes, end := circle(ranks, chunks, batches, begin, of(1.5))
		for r, list := range passes {
			message := func(p *pass, to int, at, until float64, sends bool) {
				call, name := "c10d::recv_", "gloo:recv"
				if sends {
					call, name = "c10d::send", "gloo:send"
				}
				if other := p.stage + to; other >= 0 && other < ranks*chunks {
					f.add(r, 1, "cpu_op", call, at, at+0.2, map[string]any{"Concrete Inputs": []string{"", "", fmt.Sprint(other % ranks), "0"}})
					f.add(r, 1, "user_annotation", name, at+0.1, until, map[string]any{})
				}
			}
			ahead := func(p *pass) int {
				if p.backward {
					return -1
				}
				return 1
			}
			asked := begin + 0.1
			for i := range list {
				p := &list[i]
				message(p, -ahead(p), asked, p.begin-0.3, false)
				kind, op := "F", "aten::mm"
				if p.backward {
					kind, op = "B", "autograd::engine::evaluate_function: MmBackward0"
				}
				if named {
					f.add(r, 1, "user_annotation", fmt.Sprintf("PP:%d%s%d", p.stage, kind, p.batch), p.begin, p.end, nil)
				}
				f.add(r, 1, "cpu_op", op, p.begin, p.end, nil)
				message(p, ahead(p), p.end+0.1, end+5-3*float64(i%2), true)
				if asked = p.begin - 0.2; !named {
					f.add(r, 1, "cpu_op", "aten::empty", p.end+0.32, p.end+0.36, nil)
					asked = p.end + 0.4
				}
			}
			last := list[len(list)-1].end
			f.add(r, 1, "user_annotation", "Optimizer.step#SGD.step", last+1, last+11, nil)
			f.add(r, 1, "user_annotation", fmt.Sprintf("ProfilerStep#%d", s), begin, end+12, nil)
		}
		begin = end + 20
	}
	doc, err := ofProfiles(t, f.write(t))
	if err != nil {
		t.Fatal(err)
	}
	_, want := circle(ranks, chunks, batches, 0, of(1.5))
	_, equal := circle(ranks, chunks, batches, 0, of(1))
	if math.Abs(float64(doc.StepNs)/(1e3*(want+11))-1) > 0.03 {
		t.Errorf("a step takes %d ns, want %v µs", doc.StepNs, want+11)
	}
	w := &doc.ByWorker[0]
	if w.Rank != slow || w.Stage != slow || w.GainNs == nil || math.Abs(float64(*w.GainNs)/(1e3*(want-equal))-1) > 0.05 {
		t.Errorf("%+v, want rank %d that gains %v µs", w, slow, want-equal)
	}
}
