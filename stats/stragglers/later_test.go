package stragglers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tracekit/samples"
)

// TestFilesOfSteps states that a job tells the same if each rank has a file for each step, whether it goes on or starts again: then
// processes and correlations are others.
func TestFilesOfSteps(t *testing.T) {
	_, dir := profiles(t, samples.TrainingOptions{DP: 3, PP: 2, Steps: 8, Slow: []samples.SlowWorker{{Rank: 1, Factor: 1.3, From: 3}}}, nil)
	whole, err := ofProfiles(t, dir)
	if err != nil || whole.Steps != 8 {
		t.Fatal(whole, err)
	}
	for _, again := range []bool{false, true} {
		got, err := ofProfiles(t, split(t, dir, again))
		if err != nil {
			t.Fatal(again, err)
		}
		if !reflect.DeepEqual(got, whole) {
			t.Errorf("started again %v: %d steps, slowdown %v and by worker %+v; want %d, %v, %+v", again, got.Steps, got.Slowdown, got.ByWorker,
				whole.Steps, whole.Slowdown, whole.ByWorker)
		}
	}
}

// split writes a file for each step of the files of a directory, without the rank in its name.
func split(t *testing.T, dir string, again bool) string {
	out := t.TempDir()
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		var file map[string]any
		if err == nil {
			err = json.Unmarshal(text, &file)
		}
		if err != nil {
			t.Fatal(err)
		}
		var begins []float64
		events := file["traceEvents"].([]any)
		for _, e := range events {
			if e := e.(map[string]any); strings.HasPrefix(e["name"].(string), "ProfilerStep#") {
				begins = append(begins, e["ts"].(float64))
			}
		}
		for s, begin := range begins {
			part := maps.Clone(file)
			ids := make(map[any]int)
			of := []any{}
			for _, e := range events {
				e := maps.Clone(e.(map[string]any))
				if at, ok := e["ts"].(float64); ok && (at < begin || s+1 < len(begins) && at >= begins[s+1]) {
					continue
				}
				if args, _ := e["args"].(map[string]any); again && args["correlation"] != nil {
					if ids[args["correlation"]] == 0 {
						ids[args["correlation"]] = len(ids) + 1
					}
					e["args"] = maps.Clone(args)
					e["args"].(map[string]any)["correlation"] = ids[args["correlation"]]
				}
				if pid, ok := e["pid"].(float64); again && ok && pid > 0 {
					e["pid"], e["tid"] = pid+float64(s), e["tid"].(float64)+float64(s)
				}
				of = append(of, e)
			}
			part["traceEvents"] = of
			if text, err = json.Marshal(part); err == nil {
				err = os.WriteFile(filepath.Join(out, fmt.Sprintf("node_%s.%d.json", filepath.Base(name)[4:5], 9-s)), text, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
