package stragglers_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tracekit/document/training"
	"tracekit/readers"
	"tracekit/stats/stragglers"
	"tracekit/trace/tracetest"
)

// tolerated is how far a figure may be from the published one, as a share.
const tolerated = 0.001

// TestPublished holds the figures of real jobs against the published ones.
func TestPublished(t *testing.T) {
	dir := tracetest.Shared(t, "training")
	tables, err := filepath.Glob(filepath.Join(dir, "trace-*.parquet"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, path := range tables {
		name := filepath.Base(path)
		name = name[len("trace-") : len(name)-len(".parquet")]
		t.Run(name, func(t *testing.T) { published(t, dir, path, name) })
		t.Run("timeline "+name, func(t *testing.T) { published(t, dir, filepath.Join(dir, "timeline-"+name+".json.gz"), name) })
	}
}

func published(t *testing.T, dir, path, name string) {
	src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	doc, _, err := stragglers.Find(t.Context(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Nodelay map[string]float64 `json:"step_t_nodelay"`
		Noblk   map[string]float64 `json:"step_t_noblk"`
		S       float64            `json:"blocking_slowdown"`
		DP      map[string]float64 `json:"blocking_decompose_by_dp_rank"`
		Stage   map[string]float64 `json:"blocking_decompose_by_stage"`
		Type    map[string]float64 `json:"blocking_decompose_by_optype"`
	}
	read(t, filepath.Join(dir, "result-"+name+".json"), &result)
	worst := 0.0
	check := func(what string, got, want float64) {
		t.Helper()
		away := math.Abs(got/want - 1)
		worst = max(worst, away)
		if !(away <= tolerated) {
			t.Errorf("%s is %.9g, want %.9g", what, got, want)
		}
	}
	check("S", doc.Slowdown, result.S)
	groups := func(what string, rows []training.GroupSlow, want map[string]float64) {
		if len(rows) != len(want) {
			t.Errorf("%d rows by %s, want %d", len(rows), what, len(want))
		}
		for _, r := range rows {
			check(what+" "+strconv.Itoa(r.Number), r.Slowdown, want[strconv.Itoa(r.Number)])
		}
	}
	groups("dp rank", doc.ByDP, result.DP)
	groups("stage", doc.ByStage, result.Stage)
	if len(doc.ByType) != len(result.Type) {
		t.Errorf("%d types, want %d", len(doc.ByType), len(result.Type))
	}
	for _, r := range doc.ByType {
		check(r.Type, r.Slowdown, result.Type[r.Type])
	}
	if len(doc.ByStep) != len(result.Nodelay) {
		t.Errorf("%d steps, want %d", len(doc.ByStep), len(result.Nodelay))
	}
	for _, r := range doc.ByStep {
		check("step "+strconv.FormatInt(r.Step, 10), float64(r.StepNs)/1e9, result.Nodelay[strconv.FormatInt(r.Step, 10)])
	}
	for _, want := range result.Noblk {
		check("equal step", float64(doc.EqualNs)/1e9, want)
		break
	}
	var mw struct{ Mw float64 }
	var ms struct{ Ms float64 }
	read(t, filepath.Join(dir, "mw-"+name+".json"), &mw)
	read(t, filepath.Join(dir, "ms-"+name+".json"), &ms)
	check("M_W", *doc.MW, mw.Mw)
	check("M_S", *doc.MS, ms.Ms)
	t.Logf("largest deviation %.2g", worst)
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
