package stragglers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/document/training"
	"tracekit/stats/stragglers"
)

// A torchStep is what a rank of a job on hosts does in a step, in µs.
type torchStep struct {
	forward float64 // of it
	after   float64 // behind the optimizer: a checkpoint
	named   bool    // by ProfilerStep#
	inside  bool    // an operator of the forward pass waits for a reduction in its middle
	nested  bool    // without a record of its own
}

// torch writes files of hosts that train together, as PyTorch records them: operators, the backward pass, the optimizer, and gloo's
// reductions on a thread of their own. Equal ranks have a step of 100 forward, 100 backward, 10 for a reduction and 20 of the optimizer.
// Each rank has the groups that are listed.
func torch(t *testing.T, ranks, steps int, of func(rank, step int) torchStep, groups ...[]int) (*training.Job, error) {
	t.Helper()
	f := newTorchFiles(ranks, groups...)
	add := func(rank, thread int, category, name string, from, to float64) {
		f.add(rank, thread, category, name, from, to, nil)
	}
	now := make([]float64, ranks)
	for i := range now {
		now[i] = 1000
	}
	// reduce lets all ranks leave a reduction 10 after the last has come.
	reduce := func(done func(rank int, from, to float64)) {
		last := 0.0
		for _, at := range now {
			last = max(last, at)
		}
		for r, at := range now {
			add(r, 2, "user_annotation", "gloo:all_reduce", at+0.5, last+10)
			done(r, at, last+10)
			now[r] = last + 10
		}
	}
	for s := range steps {
		begins := append([]float64(nil), now...)
		first := of(0, s)
		for r := range now {
			now[r] += of(r, s).forward / 2
			add(r, 1, "cpu_op", "aten::mm", begins[r], now[r])
		}
		if first.inside {
			reduce(func(r int, from, to float64) {
				add(r, 1, "cpu_op", "c10d::allreduce_", from+0.25, from+1)
				if first.nested {
					add(r, 1, "cpu_op", "_c10d_functional::wait_tensor", from+1, to-1)
				}
				add(r, 1, "cpu_op", "aten::linear", from, to)
			})
		}
		for r := range now {
			from := now[r]
			now[r] += of(r, s).forward / 2
			add(r, 1, "cpu_op", "aten::mm", from+2, now[r])
			add(r, 1, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", now[r], now[r]+100)
			now[r] += 100
		}
		reduce(func(r int, from, to float64) { add(r, 1, "cpu_op", "c10d::allreduce_", from, from+0.5) })
		for r := range now {
			add(r, 1, "user_annotation", "Optimizer.step#SGD.step", now[r], now[r]+20)
			add(r, 1, "cpu_op", "aten::add_", now[r]+1, now[r]+19)
			now[r] += 20 + of(r, s).after
			if first.named {
				add(r, 1, "user_annotation", fmt.Sprintf("ProfilerStep#%d", s), begins[r], now[r])
			}
		}
	}
	return ofProfiles(t, f.write(t))
}

// torchFiles are files of PyTorch's profiler, one for each rank of a job on hosts.
type torchFiles struct {
	config []map[string]any // of groups
	events [][]map[string]any
}

func newTorchFiles(ranks int, groups ...[]int) *torchFiles {
	f := &torchFiles{config: []map[string]any{}, events: make([][]map[string]any, ranks)}
	for i, g := range groups {
		f.config = append(f.config, map[string]any{"pg_name": fmt.Sprint(i), "backend_config": "cpu:gloo", "ranks": g})
	}
	return f
}

// add adds a slice, with times in µs.
func (f *torchFiles) add(rank, thread int, category, name string, from, to float64, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	f.events[rank] = append(f.events[rank], map[string]any{"ph": "X", "cat": category, "name": name, "pid": 100 + rank, "tid": thread,
		"ts": from, "dur": to - from, "args": args})
}

// process names the process of a rank.
func (f *torchFiles) process(rank int, name string) {
	f.events[rank] = append(f.events[rank], map[string]any{"ph": "M", "name": "process_name", "pid": 100 + rank, "tid": 0, "ts": 0,
		"args": map[string]any{"name": name}})
}

// write writes the files and returns their folder.
func (f *torchFiles) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for r := range f.events {
		info := map[string]any{"backend": "gloo", "rank": r, "world_size": len(f.events)}
		if len(f.config) > 0 {
			info["pg_config"] = f.config
		}
		data, err := json.Marshal(map[string]any{"schemaVersion": 1, "host_name": "node", "traceEvents": f.events[r], "distributedInfo": info})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", r)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSlowTorchHosts states that the slow rank of hosts is found, with what it costs: where only the optimizer tells steps; where operators
// wait for others; where checkpoints are written behind the optimizer.
func TestSlowTorchHosts(t *testing.T) {
	for name, c := range map[string]struct {
		of      func(rank, step int) torchStep
		pattern string
		gain    float64 // µs a step
	}{
		"optimizer": {func(r, _ int) torchStep { return torchStep{forward: 100 + 40*float64(r%2)} }, training.SlowAlways, 40},
		"waits": {func(r, _ int) torchStep {
			return torchStep{forward: 100 + 40*float64(r%2), named: true, inside: true, nested: true}
		}, training.SlowAlways, 40},
		"within": {func(r, _ int) torchStep {
			return torchStep{forward: 100 + 40*float64(r%2), named: true, inside: true}
		}, training.SlowAlways, 40},
		"checkpoint": {func(r, s int) torchStep {
			step := torchStep{forward: 100, named: true}
			if r == 1 && s%5 == 4 {
				step.after = 300
			}
			return step
		}, training.SlowAtRandom, 60},
	} {
		doc, err := torch(t, 3, 21, c.of)
		if err != nil {
			t.Error(name, err)
			continue
		}
		w := doc.ByWorker[0]
		if w.Rank != 1 || w.Pattern != c.pattern || w.GainNs == nil || math.Abs(float64(*w.GainNs)/1e3/c.gain-1) > 0.1 {
			t.Errorf("%s: %d steps, %+v; want rank 1 %s with %v µs", name, doc.Steps, w, c.pattern, c.gain)
		}
		for _, w := range doc.ByWorker[1:] {
			if w.Pattern != "" {
				t.Errorf("%s: rank %d is %s", name, w.Rank, w.Pattern)
			}
		}
	}
}

// TestGroupsOfGloo states that operations of gloo, which name no group, are of the only one that has several ranks; if several do, no steps
// are known, and it is said why.
func TestGroupsOfGloo(t *testing.T) {
	slow := func(r, _ int) torchStep { return torchStep{forward: 100 + 40*float64(r%2), named: true} }
	all, one := []int{0, 1, 2}, []int{2}
	if doc, err := torch(t, 3, 8, slow, all, one, all); err != nil || doc.ByWorker[0].Rank != 1 {
		t.Errorf("%+v, %v", doc, err)
	}
	doc, err := torch(t, 3, 8, slow, all, []int{0, 1}, []int{1, 2})
	if missing := new(stragglers.MissingError); !errors.As(err, &missing) || !strings.Contains(missing.Record, "gloo") {
		t.Errorf("%+v, %v: want that gloo names no group", doc, err)
	}
}

// TestFarSteps states that single steps that are far off do not hide since when a worker is slow, nor that it always is.
func TestFarSteps(t *testing.T) {
	for pattern, from := range map[string]int{training.SlowSince: 10, training.SlowAlways: 0} {
		doc, err := torch(t, 4, 20, func(r, s int) torchStep {
			step := torchStep{forward: 100 + float64((r*7+s*5)%9), named: true}
			if r == 2 && s >= from {
				step.forward += 40
			}
			if r == 2 && (s == 15 || s == 17) {
				step.forward += 400
			}
			return step
		})
		if err != nil {
			t.Fatal(err)
		}
		if w := doc.ByWorker[0]; w.Rank != 2 || w.Pattern != pattern || from > 0 && *w.Step != int64(from) {
			t.Errorf("%+v, want rank 2 %s step %d", w, pattern, from)
		}
	}
}

// TestPipelineOfHosts states that a pipeline of hosts is replayed by its named passes, though sends last until the rank asks for their end
// and receives are within the passes: two stages, the second slow, of four micro-batches. Messages that are asked for early do not hide
// that the rank does nothing recorded in a pass.
func TestPipelineOfHosts(t *testing.T) {
	for _, early := range []bool{false, true} {
		twoStages(t, early)
	}
}

func twoStages(t *testing.T, early bool) {
	const batches, forward, slow = 4, 100.0, 50.0
	f := newTorchFiles(2)
	for rank := range 2 {
		add := func(category, name string, from, to float64, args map[string]any) {
			f.add(rank, 1, category, name, from, to, args)
		}
		message := func(name, call string, at, to float64) {
			inputs := []string{"", "", fmt.Sprint(1 - rank), "0"}
			add("cpu_op", call, at, at+1, map[string]any{"Concrete Inputs": inputs})
			add("user_annotation", name, at+0.5, to, map[string]any{})
		}
		pass := func(name, op string, from, to float64) {
			add("user_annotation", name, from, to, map[string]any{})
			add("cpu_op", op, from+3, to, map[string]any{})
		}
		const back = "autograd::engine::evaluate_function: MmBackward0"
		for s := range 8 {
			begin := 1000 + 2000*float64(s)
			took := forward + slow*float64(rank)
			sent := begin + forward*batches + 1 // when stage 0 asks for the ends
			end := begin + forward + (forward+slow)*batches
			for b := range batches {
				from := begin + forward*float64(b)
				if rank == 1 { // it is slower than stage 0
					from = begin + forward + took*float64(b)
					asks := from
					if b == 0 {
						asks = begin
					}
					add("user_annotation", fmt.Sprintf("Forward %d", b), asks, from+took, map[string]any{})
					if !early || b == 0 {
						message("gloo:recv", "c10d::recv_", asks, from+2)
					}
					if early {
						if b+1 < batches { // the next one
							message("gloo:recv", "c10d::recv_", from+2.1, from+took+2)
						}
						add("cpu_op", "aten::mm", from+3.2, from+took-20-slow, map[string]any{})
						add("cpu_op", "aten::mm", from+took-20, from+took, map[string]any{})
					} else {
						add("cpu_op", "aten::mm", from+3, from+took, map[string]any{})
					}
					pass(fmt.Sprintf("Backward %d", b), back, end+forward*float64(b), end+forward*float64(b+1)-2)
					message("gloo:send", "c10d::send", end+forward*float64(b+1)-1.5, end+forward*batches+1)
				} else {
					pass(fmt.Sprintf("Forward %d", b), "aten::mm", from, from+took-2)
					message("gloo:send", "c10d::send", from+took-1.5, sent)
					from := end + forward*float64(b+1)
					asks := from
					if b == 0 {
						asks = sent
					}
					add("user_annotation", fmt.Sprintf("Backward %d", b), asks, from+forward, map[string]any{})
					message("gloo:recv", "c10d::recv_", asks, from+2)
					add("cpu_op", back, from+3, from+forward, map[string]any{})
				}
			}
			last := end + forward*float64(batches+1-rank) + 2*float64(rank)
			add("user_annotation", "Optimizer.step#SGD.step", last, last+20, map[string]any{})
			add("user_annotation", fmt.Sprintf("ProfilerStep#%d", s), begin, last+25, map[string]any{})
		}
	}
	doc, err := ofProfiles(t, f.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := 1e3 * (forward + (forward+slow)*batches + forward*(batches+1) + 25); math.Abs(float64(doc.StepNs)/want-1) > 0.05 {
		t.Errorf("early %v: a step takes %d ns, want %v", early, doc.StepNs, want)
	}
	if gain := float64(doc.StepNs - doc.MendedNs); doc.Slowest[0] != 1 || math.Abs(gain/(1e3*slow*batches)-1) > 0.1 {
		t.Errorf("early %v: rank %d gains %v ns, want %v", early, doc.Slowest[0], gain, 1e3*slow*batches)
	}
	for _, x := range doc.ByType {
		if want := 2 * 8 * batches; x.Type == "forward-compute" && x.Operations != want {
			t.Errorf("%d forward computations, want %d", x.Operations, want)
		}
	}
}
