package jsontrace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestUnrecordedTime states that the time between files of a rank which no file of any rank records is left out and told, if a step may be
// missing there; that clocks of ranks keep their distance; and that files of other jobs, which have other sizes, are not put together.
func TestUnrecordedTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		gap    int // µs from the end of the first file of a rank to its second
		world  int // size that the second files announce
		length int // ns
		told   bool
		files  bool // of one recording
	}{{"goes on", 50, 2, 253_000, false, true}, {"an hour later", 3_600_000_000, 2, 206_000, true, true},
		{"another job", 50, 4, 253_000, false, false}} {
		dir := t.TempDir()
		var names []string
		for rank := range 2 {
			for k := range 2 {
				name := filepath.Join(dir, fmt.Sprintf("%d-%d.json", rank, k))
				begin, world := 1_700_000_000_000_000+3*rank, 2
				if k > 0 {
					begin, world = begin+100+c.gap, c.world
				}
				text := fmt.Sprintf(`{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":%d},"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":%d,"tid":7,"ts":%d,"dur":100}]}`, rank, world, rank+7, begin)
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		src := open(t, names...)
		found := map[trace.Code]bool{}
		for _, f := range src.Findings() {
			found[f.Code] = true
		}
		d := src.Defs()
		if (len(d.Locations) == 2) != c.files || d.Clock.Length != uint64(c.length) ||
			found[trace.CodeUnrecordedTime] != c.told || found[trace.CodeDuplicateDefinition] == c.files {
			t.Errorf("%s: %d locations, %d ns, findings %v", c.name, len(d.Locations), d.Clock.Length, found)
		}
	}
}

// TestIterations states that a directory stands for the files in its directories for iterations, as torchtitan writes them; not for those
// of runs, nor where it has files of its own.
func TestIterations(t *testing.T) {
	for _, c := range []struct {
		parts []string
		files int
	}{
		{[]string{"iteration_10", "iteration_20"}, 4}, {[]string{"step-000100"}, 2}, {[]string{"run_1", "run_2"}, 0},
		{[]string{"iteration_10", "."}, 2}, {[]string{"iteration_ten"}, 0},
	} {
		dir := t.TempDir()
		for k, part := range c.parts {
			if err := os.MkdirAll(filepath.Join(dir, part), 0o777); err != nil {
				t.Fatal(err)
			}
			for rank := range 2 {
				tracetest.WriteFile(t, filepath.Join(dir, part, fmt.Sprintf("rank%d_trace.json", rank)), fmt.Appendf(nil,
					`{"schemaVersion":1,"distributedInfo":{"backend":"gloo","rank":%d,"world_size":2},"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":%d,"tid":%[3]d,"ts":%d,"dur":100}]}`, rank, k, rank+7, 1000*(k+1)))
			}
		}
		files := jsontrace.Files(dir)
		if len(files) != c.files || jsontrace.Sniff(dir, nil) != (c.files > 0) {
			t.Errorf("%q: %d files, want %d", c.parts, len(files), c.files)
		}
		if c.files == 0 {
			continue
		}
		if d := open(t, files...).Defs(); len(d.Locations) != 2 || d.Locations[0].Events != uint64(c.files) && c.files == 2 {
			t.Errorf("%q: %d locations, the first has %d events", c.parts, len(d.Locations), d.Locations[0].Events)
		}
	}
}
