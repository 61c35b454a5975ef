package hangs

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// A job is the dumps of a job to be.
type job struct {
	groups map[string][]int
	dumps  map[int][]map[string]any
	seqs   map[string]int // by rank and group
}

func newJob(groups map[string][]int) *job {
	return &job{groups, make(map[int][]map[string]any), make(map[string]int)}
}

// call adds an operation of a rank, with so many elements; op is as the recorder names it.
func (j *job) call(rank int, group, op, state string, elements int) map[string]any {
	key, message := fmt.Sprint(rank, group), strings.Contains(op, " ")
	if message {
		key += "p2p"
	}
	j.seqs[key]++
	e := map[string]any{"record_id": len(j.dumps[rank]), "pg_id": 0, "process_group": []any{group, "undefined"},
		"profiling_name":    "nccl:" + op,
		"collective_seq_id": 0, "p2p_seq_id": 0, "op_id": len(j.dumps[rank]), "state": state, "time_created_ns": 1_700_000_000_000_000_000 + rank,
		"input_sizes": []any{[]any{elements}}, "output_sizes": []any{[]any{elements}}, "input_dtypes": []any{"Float"},
		"output_dtypes": []any{"Float"},
		"is_p2p":        message, "retired": state == "completed", "time_discovered_started_ns": nil, "duration_ms": 0.5,
		"frames": []any{map[string]any{"name": "all_reduce", "filename": "/usr/lib/torch/distributed/c10d.py", "line": 9},
			map[string]any{"name": "step", "filename": "/home/me/train.py", "line": 40 + j.seqs[key]}}}
	if message {
		e["p2p_seq_id"] = j.seqs[key]
	} else {
		e["collective_seq_id"] = j.seqs[key]
	}
	j.dumps[rank] = append(j.dumps[rank], e)
	return e
}

// value is the dump of a rank.
func (j *job) value(rank int) map[string]any {
	config := map[string]any{}
	for name, ranks := range j.groups {
		if slices.Contains(ranks, rank) {
			config[name] = map[string]any{"name": name, "desc": "undefined", "ranks": strings.ReplaceAll(fmt.Sprint(ranks), " ", ", ")}
		}
	}
	entries := []any{}
	for _, e := range j.dumps[rank] {
		entries = append(entries, e)
	}
	return map[string]any{"version": "2.9", "pg_config": config, "entries": entries}
}

// pickled writes a value as PyTorch does: protocol 2, with memory of what was written.
func pickled(x any) []byte {
	out, kept := []byte{0x80, 2}, 0
	var put func(x any)
	put = func(x any) {
		switch x := x.(type) {
		case nil:
			out = append(out, 'N')
		case bool:
			out = append(out, map[bool]byte{true: 0x88, false: 0x89}[x])
		case float64:
			out = binary.BigEndian.AppendUint64(append(out, 'G'), 0x3fe0000000000000)
		case int:
			switch {
			case x >= 0 && x < 256:
				out = append(out, 'K', byte(x))
			case x >= -1<<31 && x < 1<<31:
				out = binary.LittleEndian.AppendUint32(append(out, 'J'), uint32(x))
			default:
				out = binary.LittleEndian.AppendUint64(append(out, 0x8a, 8), uint64(x))
			}
		case string:
			out = append(binary.LittleEndian.AppendUint32(append(out, 'X'), uint32(len(x))), x...)
			out = append(out, 'q', byte(kept))
			kept++
		case []any:
			out = append(out, ']', '(')
			for _, item := range x {
				put(item)
			}
			out = append(out, 'e')
		case map[string]any:
			out = append(out, '}', '(')
			for _, key := range slices.Sorted(maps.Keys(x)) {
				put(key)
				put(x[key])
			}
			out = append(out, 'u')
		}
	}
	put(x)
	return append(out, '.')
}

// write writes the dumps of some ranks, and returns their directory.
func (j *job) write(t *testing.T, pickle bool, ranks ...int) string {
	t.Helper()
	dir := t.TempDir()
	for _, r := range ranks {
		name, data := fmt.Sprintf("nccl_trace_rank_%d", r), pickled(j.value(r))
		if !pickle {
			var err error
			if data, err = json.Marshal(j.value(r)); err != nil {
				t.Fatal(err)
			}
			name += ".json"
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var all = []int{0, 1, 2, 3}

// TestPlantedHangs: each is found, exactly, in one sentence.
func TestPlantedHangs(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(j *job)
		want  string
		left  []int // of which there is no dump
	}{
		{"none", func(j *job) {}, "All recorded operations have completed: the dumps show no hang.", nil},
		{"a rank is missing", func(j *job) {
			for _, r := range []int{0, 1, 3} {
				j.call(r, "0", "all_reduce", "scheduled", 64)
			}
		}, "Rank 2 has not arrived at all_reduce 3 of group 0, in which ranks 0-1, 3 wait.", nil},
		{"a rank is missing, others are ahead", func(j *job) {
			for _, r := range []int{0, 3} {
				j.call(r, "0", "all_reduce", "started", 64)
				j.call(r, "0", "all_gather", "scheduled", 64)
			}
		}, "Ranks 1-2 have not arrived at all_reduce 3 of group 0, in which ranks 0, 3 wait.", nil},
		{"no dump", func(j *job) {
			for _, r := range []int{0, 1, 2} {
				j.call(r, "0", "all_reduce", "scheduled", 64)
			}
		}, "There is no whole dump of rank 3, which may be missing at all_reduce 3 of group 0, in which ranks 0-2 wait.", []int{3}},
		{"another operation", func(j *job) {
			for _, r := range all {
				j.call(r, "0", map[bool]string{true: "all_gather", false: "all_reduce"}[r == 1], "scheduled", 64)
			}
		}, "Rank 1 calls all_gather as operation 3 of group 0, where ranks 0, 2-3 call all_reduce.", nil},
		{"another size", func(j *job) {
			for _, r := range all {
				j.call(r, "0", "all_reduce", "started", map[bool]int{true: 32, false: 64}[r == 3])
			}
		}, "Rank 3 has 32 elements in all_reduce 3 of group 0, where ranks 0-2 have 64 elements.", nil},
		{"another type", func(j *job) {
			for _, r := range all {
				e := j.call(r, "0", "all_reduce", "started", 64)
				if r == 0 {
					e["input_dtypes"], e["output_dtypes"] = []any{"Half"}, []any{"Half"}
				}
			}
		}, "Rank 0 has Half in all_reduce 3 of group 0, where ranks 1-3 have Float.", nil},
		{"two groups, swapped, each call waits", func(j *job) {
			j.call(0, "1", "all_reduce", "scheduled", 64)
			j.call(1, "2", "all_reduce", "scheduled", 64)
		}, "Ranks call operations in different orders: rank 0 waits in all_reduce of group 1 for rank 1, rank 1 waits in all_reduce of group 2 " +
			"for rank 0.", nil},
		{"two groups, swapped, calls do not wait", func(j *job) {
			j.call(0, "1", "all_reduce", "scheduled", 64)
			j.call(0, "2", "all_gather", "scheduled", 64)
			j.call(1, "2", "all_gather", "scheduled", 64)
			j.call(1, "1", "all_reduce", "scheduled", 64)
		}, "Rank 0 calls all_reduce of group 1 before all_gather of group 2, rank 1 calls it after.", nil},
		{"all have arrived", func(j *job) {
			for _, r := range all {
				j.call(r, "0", "all_reduce", map[bool]string{true: "completed", false: "started"}[r < 2], 64)
			}
		}, "All ranks have called all_reduce 3 of group 0 alike, but it has not completed on ranks 2-3.", nil},
		{"a send without a receive", func(j *job) {
			j.call(0, "0", "send 0->2", "scheduled", 64)
		}, "Rank 2 has not called the receive for which rank 0 waits in send 1 of group 0.", nil},
		{"a receive without a send", func(j *job) {
			j.call(3, "0", "recv 3<-1", "scheduled", 64)
		}, "Rank 1 has not called the send for which rank 3 waits in recv 1 of group 0.", nil},
		{"a receive of another size", func(j *job) {
			j.call(0, "0", "send 0->2", "scheduled", 64)
			j.call(2, "0", "recv 2<-0", "scheduled", 65)
		}, "Rank 0 sends 64 elements in send 1 of group 0, but rank 2 receives 65 elements.", nil},
		{"messages at once", func(j *job) { // their states are that of the operation that ends them
			for r, op := range []string{"send 0->1", "recv 1<-0"} {
				j.call(r, "0", op, "scheduled", 64)
				j.call(r, "0", "coalesced", "completed", 64)
				j.dumps[r][len(j.dumps[r])-1]["p2p_seq_id"] = 1
				j.dumps[r][len(j.dumps[r])-1]["collective_seq_id"] = 0
			}
		}, "All recorded operations have completed: the dumps show no hang.", nil},
		{"who is missing waits elsewhere", func(j *job) {
			j.call(2, "0", "all_reduce", "scheduled", 64)
			j.call(0, "1", "all_reduce", "scheduled", 64)
		}, "Rank 1 has not arrived at all_reduce 1 of group 1, in which rank 0 waits.", nil},
		{"scatter gives each rank its own", func(j *job) {
			for _, r := range all {
				j.call(r, "0", "scatter", "completed", 64)["input_sizes"] = []any{[]any{64 * (1 - min(r, 1))}}
			}
		}, "All recorded operations have completed: the dumps show no hang.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(map[string][]int{"0": all, "1": {0, 1}, "2": {0, 1}})
			for range 2 {
				for _, r := range all {
					j.call(r, "0", "all_reduce", "completed", 64)
				}
			}
			c.plant(j)
			ranks := slices.DeleteFunc(slices.Clone(all), func(r int) bool { return slices.Contains(c.left, r) })
			for _, pickle := range []bool{true, false} {
				got, findings, err := Find(j.write(t, pickle, ranks...))
				if err != nil || len(findings) > 0 || got.Sentence != c.want || (got.Hangs > 0) == strings.Contains(c.want, "no hang") {
					t.Errorf("pickle %v: %+v (%v, %v), want %q", pickle, got, findings, err, c.want)
				}
			}
		})
	}
}

// TestRandomJobs: ranks call operations of random groups in one order. One rank stops before an operation of its own. It is named, and
// all else follows from that.
func TestRandomJobs(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 2 + r.IntN(7)
		groups := map[string][]int{}
		for g := range 1 + r.IntN(5) {
			ranks := r.Perm(n)[:2+r.IntN(n-1)]
			slices.Sort(ranks)
			groups[fmt.Sprint(g)] = ranks
		}
		names := slices.Sorted(maps.Keys(groups))
		j, blocked := newJob(groups), make(map[int]bool)
		culprit, stop := -1, 3+r.IntN(20)
		for k := range 40 {
			name := names[r.IntN(len(names))]
			if k >= stop && culprit < 0 {
				culprit = groups[name][r.IntN(len(groups[name]))]
				blocked[culprit] = true
			}
			whole := !slices.ContainsFunc(groups[name], func(rank int) bool { return blocked[rank] })
			for _, rank := range groups[name] {
				switch {
				case blocked[rank]:
				case whole:
					j.call(rank, name, "all_reduce", "completed", 8)
				default:
					j.call(rank, name, "all_reduce", "scheduled", 8)
					blocked[rank] = true
				}
			}
		}
		ranks := slices.Sorted(maps.Keys(j.dumps))
		got, _, err := Find(j.write(t, seed%2 == 0, ranks...))
		if err != nil {
			t.Fatal(err)
		}
		if len(ranks) < n { // nothing of those that have called nothing
			continue
		}
		first := got.Causes[0]
		if first.Kind != Missing || !slices.Equal(first.Missing, []int{culprit}) || first.Follows {
			t.Fatalf("seed %d: rank %d has stopped: %+v", seed, culprit, got.Causes)
		}
		for _, c := range got.Causes {
			if !c.Follows && !slices.Contains(c.Missing, culprit) {
				t.Fatalf("seed %d: rank %d has stopped: %+v", seed, culprit, got.Causes)
			}
		}
	}
}

// TestCutDumps: whatever is cut off a dump, what is before it is read, and a finding says so.
func TestCutDumps(t *testing.T) {
	j := newJob(map[string][]int{"0": all})
	for k := range 5 {
		j.call(0, "0", "all_reduce", "completed", 300*k)
	}
	text, err := json.Marshal(j.value(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{pickled(j.value(0)), text} {
		whole, left, broken := parse(data)
		if broken != nil || left > 0 || len(whole.entries) != 5 {
			t.Fatal(whole, broken, left)
		}
		most := 0
		for cut := range len(data) {
			d, left, broken := parse(data[:cut])
			if broken == nil || left > 0 || d != nil && !d.cut {
				t.Fatalf("cut at %d of %d: %v, %d left out", cut, len(data), broken, left)
			}
			if d == nil {
				continue
			}
			most = max(most, len(d.entries))
			for k, e := range d.entries {
				if w := whole.entries[k]; e.op != w.op || e.seq != w.seq || e.state != w.state {
					t.Fatalf("cut at %d: operation %d is %+v, not %+v", cut, k, e, w)
				}
			}
		}
		if most < 4 {
			t.Errorf("of 5 operations %d are read of a dump that is cut", most)
		}
	}
}

// TestCutDumpsAreNoEvidence: a rank whose dump is cut off may have arrived.
func TestCutDumpsAreNoEvidence(t *testing.T) {
	j := newJob(map[string][]int{"0": {0, 1}})
	for range 3 {
		j.call(0, "0", "all_reduce", "scheduled", 8)
		j.call(1, "0", "all_reduce", "scheduled", 8)
	}
	dir := j.write(t, true, 0, 1)
	name := filepath.Join(dir, "nccl_trace_rank_1")
	if err := os.Truncate(name, 300); err != nil {
		t.Fatal(err)
	}
	got, findings, err := Find(dir)
	const want = "There is no whole dump of rank 1, which may be missing at all_reduce 1 of group 0, in which rank 0 waits."
	if err != nil || got.Sentence != want || len(findings) != 1 || findings[0].Code != "truncated" {
		t.Errorf("%+v, %v, %v", got, findings, err)
	}
}

// TestFlippedDumps: bytes that are changed make no panic, and what is read can be judged.
func TestFlippedDumps(t *testing.T) {
	j := newJob(map[string][]int{"0": all, "1": {0, 1}})
	for k := range 3 {
		j.call(0, "0", "all_reduce", "completed", k)
		j.call(0, "1", "send 0->1", "scheduled", k)
	}
	text, err := json.Marshal(j.value(0))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		data := slices.Clone([][]byte{text, pickled(j.value(0))}[i%2])
		for range 1 + r.IntN(6) {
			data[r.IntN(len(data))] = byte(r.IntN(256))
		}
		if d, _, _ := parse(data); d != nil && find([]*dump{d}).Sentence == "" {
			t.Errorf("%q: no sentence", data)
		}
	}
}

// TestObjectsAreRefused: a pickle that asks for a call is read until there, and nothing is called.
func TestObjectsAreRefused(t *testing.T) {
	for _, data := range []string{"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "\x80\x04\x8c\x02os\x8c\x06system\x93.",
		"\x80\x02]q\x00h\x00a.", "(((", "]u."} {
		d, _, broken := parse([]byte(data))
		if d != nil || broken == nil && !strings.HasPrefix(data, "\x80\x02]") {
			t.Errorf("%q: %v, %v", data, d, broken)
		}
	}
}

// TestPython reads what Python writes, in each protocol that has an instruction for lengths.
func TestPython(t *testing.T) {
	python := tracetest.Program(t, "python3", "python3")
	const script = `import pickle, sys
v = {"a": [1, -1, 255, 65535, 1 << 31, -(1 << 40), (1 << 63) - 1, True, False, None, 0.5, "ä" * 300, "x"], "b": (), "c": (1,), "d": (1, 2), "e": (1, 2, 3),
     "f": (1, 2, 3, 4), "g": {}, "h": {1: "one", "two": [[]] * 3}, "i": [{"k": i} for i in range(1500)]}
sys.stdout.buffer.write(pickle.dumps(v, int(sys.argv[1])))`
	var want any
	for _, protocol := range []string{"2", "3", "4", "5"} {
		data, err := exec.Command(python, "-c", script, protocol).Output()
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpickle(data)
		if err != nil {
			t.Fatalf("protocol %s: %v", protocol, err)
		}
		a := got.(dict)["a"].(*list).items
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) || len(a) != 13 || a[5] != int64(-(1<<40)) || a[10] != 0.5 ||
			len(got.(dict)["i"].(*list).items) != 1500 ||
			got.(dict)["h"].(dict)["1"] != "one" {
			t.Errorf("protocol %s: %v", protocol, got)
		}
	}
}

// FuzzDump states that no file makes a panic, and that what is read of it can be judged.
func FuzzDump(f *testing.F) {
	j := newJob(map[string][]int{"0": all, "1": {0, 1}})
	for k := range 3 {
		j.call(0, "0", "all_reduce", "completed", k)
		j.call(0, "1", "send 0->1", "scheduled", k)
	}
	text, err := json.Marshal(j.value(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(pickled(j.value(0)))
	f.Add([]byte("\x80\x02}X\x07\x00\x00\x00entries]q\x00h\x00as."))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, _, _ := parse(data)
		if d == nil {
			return
		}
		other, _, _ := parse(data)
		other.rank = 1
		if got := find([]*dump{d, other}); got.Sentence == "" || got.Hangs > len(got.Causes) {
			t.Error(got)
		}
	})
}

// TestGloo states who is missing in dumps of gloo, which tell of an operation only that it is over, also if it has failed.
func TestGloo(t *testing.T) {
	for n, want := range map[int]string{3: "All recorded operations have completed: the dumps show no hang.",
		4: "Rank 1 has not arrived at all_reduce 4 of group 0, in which ranks 0, 2 wait."} {
		for _, over := range []bool{true, false} { // the last one
			j := newJob(map[string][]int{"0": {0, 1, 2}})
			for i := range n {
				for rank := range 3 {
					if i == 3 && rank == 1 {
						continue
					}
					e := j.call(rank, "0", "all_reduce", "scheduled", 4)
					e["profiling_name"], e["retired"] = "gloo:all_reduce", i < 3 || over
				}
			}
			got, _, err := Find(j.write(t, true, 0, 1, 2))
			if err != nil || got.Sentence != want {
				t.Errorf("%d operations, the last one over %v: %v %v, want %s", n, over, got, err, want)
			}
		}
	}
}
