package stragglers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
		got, err := ofProfiles(t, split(t, dir, again, 1, 0))
		if err != nil {
			t.Fatal(again, err)
		}
		if !reflect.DeepEqual(got, whole) {
			t.Errorf("started again %v: %d steps, slowdown %v and by worker %+v; want %d, %v, %+v", again, got.Steps, got.Slowdown, got.ByWorker,
				whole.Steps, whole.Slowdown, whole.ByWorker)
		}
	}
}

// TestPausesBetweenFiles states that what a step loses does not depend on pauses between files, each of three steps, that no annotations
// name: in each file the first begins with it.
func TestPausesBetweenFiles(t *testing.T) {
	slow := []samples.SlowWorker{{Rank: 1, Factor: 1.3}}
	_, dir := profiles(t, samples.TrainingOptions{DP: 4, PP: 1, Steps: 24, Noise: 0.01, Slow: slow}, nil)
	want, err := ofProfiles(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, pause := range []float64{0, 200, 5000, 10000, 20_000, 1e6} {
		got, err := ofProfiles(t, split(t, dir, false, 3, pause))
		if err != nil {
			t.Fatal(pause, err)
		}
		w := &got.ByWorker[0]
		gain := float64(*want.ByWorker[0].GainNs)
		if got.Steps < 16 || w.Rank != 1 || w.GainNs == nil || math.Abs(float64(*w.GainNs)/gain-1) > 0.05 {
			t.Errorf("pauses of %v µs: %d steps of %d ns, %+v; want %+v", pause, got.Steps, got.StepNs, w, want.ByWorker[0])
		}
	}
}

// split writes a file for each few steps of the files of a directory, without the rank in its name. If pauses are between them, in µs, or
// several steps in each, nothing names the steps.
func split(t *testing.T, dir string, again bool, each int, pause float64) string {
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
		slices.Sort(begins)
		for i := range begins[:len(begins)/each] {
			begins[i] = begins[i*each]
		}
		begins = begins[:len(begins)/each]
		for s, begin := range begins {
			part := maps.Clone(file)
			ids := make(map[any]int)
			of := []any{}
			for _, e := range events {
				e := maps.Clone(e.(map[string]any))
				if at, ok := e["ts"].(float64); ok && (at < begin || s+1 < len(begins) && at >= begins[s+1]) {
					continue
				} else if ok {
					e["ts"] = at + pause*float64(s)
				}
				if each > 1 && strings.HasPrefix(e["name"].(string), "ProfilerStep#") {
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
