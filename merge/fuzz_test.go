package merge_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/merge"
	"tracekit/spill"
	"tracekit/trace/tracetest"
)

// FuzzMerge: whatever the events say, merging ends without an error, its result is sound,
// and it is the same with all tables on disk.
func FuzzMerge(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range txtar.Parse(data).Files {
			if part.Name == "trace" {
				f.Add(part.Data, int64(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, latency int64) {
		src, err := tracetest.Parse(string(data))
		if err != nil || src.Definitions.Check() != nil {
			t.Skip("not a trace")
		}
		var lists []string
		for _, memory := range []int64{1, 1 << 30} {
			tr, err := merge.Merge(t.Context(), src, merge.Options{Store: spill.NewStore(memory, ""), MinLatency: max(0, latency)})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Store.Close()
			if err := tracetest.CheckTrace(tr); err != nil {
				t.Fatal(err)
			}
			lists = append(lists, list(tr))
		}
		if lists[0] != lists[1] {
			t.Fatalf("the result depends on memory:\n%s\n%s", lists[0], lists[1])
		}
	})
}
