package readers_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/readers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// far are traces of one location whose times are far from the clock's zero, by the formats that cannot express all of
// them, and those that refuse them.
var far = map[string]struct {
	resolution    uint64
	times         [4]int64
	lossy, refuse []string
}{
	"beyond 2^61":  {1e9, [4]int64{1<<62 + 96, 1<<62 + 1096, 1<<62 + 2096, 1<<62 + 3096}, nil, nil},
	"least":        {1e9, [4]int64{-1 << 63, -1<<63 + 808, -1<<63 + 5808, -1<<63 + 15808}, []string{"json"}, nil},
	"seconds":      {1, [4]int64{4e9, 4e9 + 1, 4e9 + 2, 4e9 + 4}, nil, nil},
	"late seconds": {1, [4]int64{1e12, 1e12 + 1, 1e12 + 2, 1e12 + 4}, nil, []string{"json"}},
	"one late":     {1, [4]int64{0, 1, 2, 1e12}, []string{"json", "paraver"}, nil},
	"all late":     {1, [4]int64{0, 1e12, 1e12 + 1, 1e12 + 4}, []string{"json"}, []string{"paraver"}},
}

// TestFarTimes: times far from zero keep their distances in every format, or the format says that they are lost;
// nothing is written in which all would be.
func TestFarTimes(t *testing.T) {
	for name, x := range far {
		src := tracetest.MustParse(t, fmt.Sprintf("clock resolution=%d\nlocation 0 rank=0\n  %d Enter main ; %d Enter f ; %d Leave f ; %d "+
			"Leave main\n", x.resolution, x.times[0], x.times[1], x.times[2], x.times[3]))
		for _, f := range forms {
			if filepath.Ext(f.file) == ".gz" {
				continue
			}
			t.Run(name+"/"+f.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), f.file)
				w, err := readers.Create(path, src.Info(), src.Defs(), readers.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Write(src.Batches[0][0]); err != nil {
					t.Fatal(err)
				}
				err = w.Close()
				if refused := slices.Contains(x.refuse, f.name); (err != nil) != refused {
					t.Fatalf("refused: %v, want %v", err, refused)
				} else if refused {
					return
				}
				lost := w.Lost()
				delete(lost, "times rounded to nanoseconds")
				delete(lost, "zero of the clock (times count from the first event)")
				if lossy := slices.Contains(x.lossy, f.name); (len(lost) > 0) != lossy {
					t.Fatalf("lost %v, want lossy %v", lost, lossy)
				}
				back, err := readers.Open(t.Context(), path, readers.OpenOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer back.Close()
				want, got := distances(t, src), distances(t, back)
				if len(got) != len(want) || len(lost) == 0 && !slices.Equal(got, want) {
					t.Errorf("ns from event to event: %v, want %v", got, want)
				}
				if f := back.Findings(); len(f) > 0 {
					t.Error("findings:", f)
				}
			})
		}
	}
}

// distances returns the nanoseconds from each event of the first location to the next.
func distances(t *testing.T, src trace.Source) (ns []int64) {
	t.Helper()
	var last *int64
	for b, err := range src.Events(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range b.Events {
			now := b.Time(r)
			if last != nil {
				ns = append(ns, src.Defs().Clock.Nanoseconds(now-*last))
			}
			last = &now
		}
	}
	return ns
}
