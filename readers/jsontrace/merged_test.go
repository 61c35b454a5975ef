package jsontrace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
)

// TestMergedRanks states that a file that was made of those of several ranks of PyTorch has these ranks, whatever is left of their heads:
// numbered as the names of their processes say, else in the order of their processes, which a finding says; so have files of one rank each
// that do not say which. The recorder's bookkeeping and devices are no ranks.
func TestMergedRanks(t *testing.T) {
	rank := func(r int, name string) []string {
		pid := 4711 + r
		event := func(category, name string, pid any, from int, args string) string {
			return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%v,"tid":7,"ts":%d,"dur":10,"args":{%s}}`, category, name, pid, from, args)
		}
		return []string{
			fmt.Sprintf(`{"ph":"M","name":"process_name","pid":%d,"tid":0,"ts":0,"args":{"name":%q}}`, pid, name),
			event("cpu_op", "aten::mm", pid, 100+r, ""),
			event("cuda_runtime", "cudaLaunchKernel", pid, 120+r, `"correlation":5`),
			event("kernel", "gemm", r, 140, `"device":0,"stream":7,"correlation":5`),
			event("user_annotation", "gloo:all_reduce", pid, 200+r, `"Input Dims":[[8]],"Input type":["float"]`),
			event("Trace", "PyTorch Profiler (0)", `"Spans"`, 90, ""),
		}
	}
	ranksOf := func(src *jsontrace.Source) (pids []string, numbered bool) {
		for _, l := range src.Defs().World() {
			g := src.Defs().Locations[l].Group
			pids = append(pids, src.Defs().String(src.Defs().LocationGroups[g].Name))
		}
		for _, f := range src.Findings() {
			numbered = numbered || f.Code == trace.CodeNumberedRanks
		}
		return pids, numbered
	}
	world := func(head string, names ...string) (pids []string, numbered bool) {
		var events []string
		for r, name := range names {
			events = append(events, rank(r, name)...)
		}
		src := openText(t, fmt.Sprintf(`{%s"traceEvents":%s}`, head, array(events...)))
		defer src.Close()
		return ranksOf(src)
	}
	for _, head := range []string{"", `"schemaVersion":1,"distributedInfo":{"backend":"gloo","rank":1,"world_size":3},`} {
		if got, numbered := world(head, "a", "b", "c"); !slices.Equal(got, []string{"a", "b", "c"}) || !numbered {
			t.Errorf("%s: ranks are %q, numbered %v", head, got, numbered)
		}
		if got, numbered := world(head, "rank 2", "rank 0", "rank 1"); !slices.Equal(got, []string{"rank 0", "rank 1", "rank 2"}) || numbered {
			t.Errorf("%s: ranks are %q, numbered %v", head, got, numbered)
		}
	}
	var paths []string
	for r, name := range []string{"a", "b", "c"} {
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprintf("host_%d.json", 4711+r)))
		if err := os.WriteFile(paths[r], []byte(array(rank(r, name)...)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := jsontrace.Open(t.Context(), []string{paths[2], paths[0], paths[1]}, jsontrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if got, numbered := ranksOf(src); !slices.Equal(got, []string{"host_4711: a", "host_4712: b", "host_4713: c"}) || !numbered {
		t.Errorf("of files without ranks: ranks are %q, numbered %v", got, numbered)
	}
	if got, numbered := world("", "a"); !slices.Equal(got, []string{"a"}) || numbered {
		t.Errorf("of one rank: ranks are %q, numbered %v", got, numbered)
	}
}
