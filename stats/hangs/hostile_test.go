package hangs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// TestOrdersAreBounded states that operations of very many groups, each pair of which is called in different orders, are not all listed.
func TestOrdersAreBounded(t *testing.T) {
	const groups = 100 // 4950 pairs
	var causes []Cause
	for g := range groups {
		causes = append(causes, Cause{Kind: Stuck, Operation: "all_reduce", Group: fmt.Sprint(g), Waiting: []int{0, 1},
			entries: map[int]*entry{0: {record: int64(g)}, 1: {record: int64(-g)}}})
	}
	if got := len(orders(causes)); got != mostCauses {
		t.Errorf("%d causes, want %d", got, mostCauses)
	}
}

// TestFramesAreDropped states that only the operation that a rank has called last keeps where it was called.
func TestFramesAreDropped(t *testing.T) {
	j := newJob(map[string][]int{"0": {0}})
	for range 3 {
		j.call(0, "0", "all_reduce", "completed", 1)
	}
	d, _, err := parse(pickled(j.value(0)))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range d.entries {
		if kept := e.frames != nil; kept != (i == 2) {
			t.Errorf("operation %d: frames are kept: %t", i, kept)
		}
	}
}

// TestDamagedIsNotSound states that dumps that cannot be read, or not to their end, are not said to show no hang.
func TestDamagedIsNotSound(t *testing.T) {
	j := newJob(map[string][]int{"0": {0, 1}})
	for r := range 2 {
		for range 3 {
			j.call(r, "0", "all_reduce", "completed", 1)
		}
	}
	cut := func(data []byte, at int) *dump {
		d, _, err := parse(data[:at])
		if d == nil || (at < len(data)) != (err != nil) {
			t.Fatal(d, err)
		}
		return d
	}
	whole := pickled(j.value(0))
	for _, c := range []struct {
		dumps []*dump
		want  string
	}{
		{[]*dump{cut(whole, len(whole))}, "All recorded operations have completed: the dumps show no hang."},
		{[]*dump{cut(whole, len(whole)-20)}, "All operations that could be read have completed, but 1 of 1 dumps are damaged."},
		{[]*dump{{}, {cut: true}}, "No operation could be read, so the dumps cannot show a hang."},
	} {
		if got := find(c.dumps).Sentence; got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestNoDump states that who gives a folder of something else is told what a dump looks like, and what is wrong with a file that has the
// name of one.
func TestNoDump(t *testing.T) {
	folder := t.TempDir()
	look := func(want string) {
		t.Helper()
		_, _, err := read([]string{folder})
		if err == nil || !strings.HasPrefix(err.Error(), folder+": no dump of PyTorch's flight recorder"+want) ||
			!strings.Contains(err.Error(), "such as nccl_trace_rank_0") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	look("; ")
	tracetest.WriteFile(t, filepath.Join(folder, "traces.def"), []byte("OTF2"))
	look("; ")
	tracetest.WriteFile(t, filepath.Join(folder, "x_1"), []byte("{}"))
	look(" (x_1: it is no dump of a flight recorder: it has no entries); ")
}
