package page

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// analyzed returns a generated trace and its analysis.
func analyzed(t testing.TB, o samples.Options) (*trace.Trace, *analysis.Result) {
	t.Helper()
	return statstest.Analyzed(t, statstest.Generated(t, o), merge.Options{}, analysis.Options{})
}

func timeline(t testing.TB, tr *trace.Trace, a *analysis.Result, runs int) *Timeline {
	t.Helper()
	tl, err := NewTimeline(context.Background(), tr, a, Limits{Runs: runs, Messages: 100, Collectives: 10, Stretches: 10, Pieces: runs}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// where names a call path by its regions.
func where(tr *trace.Trace, tree *trace.CallTree, p trace.PathID) string {
	var names []string
	for _, r := range tree.Regions(p) {
		names = append(names, tr.Defs.RegionName(r))
	}
	return strings.Join(names, "/")
}

// TestTimelineIsTheProfile: if all fits, the times of the timeline are those of the call paths
// and of the wait states, to the nanosecond; if not, they are right to one step per row and
// activity.
func TestTimelineIsTheProfile(t *testing.T) {
	for _, p := range samples.Programs() {
		tr, a := analyzed(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 40, Seed: 2, Threads: 2,
			Plant: samples.Plant{LateSender: 30_000, LateReceiver: 20_000, Imbalance: 12_000}})
		own := map[string]int64{}
		names := map[field.Path]string{}
		for _, c := range a.CallPaths {
			if name, ok := names[c.Parent]; ok {
				names[c.ID] = name + "/" + c.Region
			} else {
				names[c.ID] = c.Region
			}
			own[names[c.ID]] += c.ExclusiveNs
		}
		for _, runs := range []int{1 << 20, 12_000, 500, 1} {
			t.Run(fmt.Sprint(p.Name, "/", runs), func(t *testing.T) {
				tl := timeline(t, tr, a, runs)
				got, waits, slack := map[string]int64{}, map[waitstate.Kind]int64{}, int64(0)
				for _, r := range tl.Rows {
					at := int64(0)
					if r.Runs.Len() > max(2*runs/len(tl.Rows), 64) {
						t.Errorf("%d runs", r.Runs.Len())
					}
					for run := range r.Runs.All {
						from, to := at*r.StepNs, min((at+run.Steps)*r.StepNs, tl.LengthNs)
						at += run.Steps
						act := tl.Activities[run.Activity]
						if act.Path != trace.None {
							got[where(tr, tl.Paths, act.Path)] += to - from
						}
						waits[act.Wait] += to - from
					}
					if end := at * r.StepNs; end < tl.LengthNs || end >= tl.LengthNs+r.StepNs {
						t.Errorf("a row ends at %d of %d", end, tl.LengthNs)
					}
					if r.StepNs > 1 {
						slack += 2 * r.StepNs
					}
				}
				for path, want := range own {
					if d := got[path] - want; d < -slack*8 || d > slack*8 {
						t.Errorf("%s: %d ns, the profile has %d (±%d)", path, got[path], want, slack*8)
					}
				}
				if w := a.WaitStates[waitstate.LateSender].TimeNs; slack == 0 && waits[waitstate.LateSender] != w {
					t.Errorf("late senders: %d ns, the analysis has %d", waits[waitstate.LateSender], w)
				}
			})
		}
	}
}

// TestCells: whatever comes, cells cover the time, and each activity has its share of it.
func TestCells(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		step := 1 + r.Int64N(1000)
		kept := stepper{step: step}
		c := newCells(step, &kept)
		activities := 1 + r.Uint32N(200)
		want, length := make([]int64, activities), int64(0)
		for range 1 + r.IntN(3000) {
			a := r.Uint32N(activities)
			ns := r.Int64N(step) + 1
			if r.IntN(50) == 0 {
				ns *= 40
			}
			want[a] += ns
			length += ns
			c.take(ns, a)
		}
		got, cells := make([]int64, activities), int64(0)
		c.close()
		for run := range kept.runs.All {
			got[run.Activity] += run.Steps * step
			cells += run.Steps
		}
		if cells != ceil(length, step) {
			t.Fatalf("seed %d: %d cells of %d ns for %d ns", seed, cells, step, length)
		}
		for a := range want {
			// What is owed to the others is owed by this one.
			if d := got[a] - want[a]; d > step*2 || d < -step*int64(activities) {
				t.Fatalf("seed %d: activity %d has %d ns of %d in steps of %d", seed, a, got[a], want[a], step)
			}
		}
	}
}

// TestPageIsBounded: a page is as large as allowed at most, whatever the trace; and the same
// trace gives the same page.
func TestPageIsBounded(t *testing.T) {
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 64, Iterations: 60, Seed: 2})
	for _, size := range []int64{LeastSize, 1 << 20, DefaultSize} {
		var pages [2][]byte
		for k := range pages {
			tl, err := NewTimeline(context.Background(), tr, a, Bounds(size), 1+3*k)
			if err != nil {
				t.Fatal(err)
			}
			p := Page{Title: "halo", Trace: tr, Timeline: tl, Document: a, Size: size}
			if pages[k], err = p.Encode(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := int64(len(pages[0])); n > size {
			t.Errorf("%d bytes, allowed are %d", n, size)
		}
		if !bytes.Equal(pages[0], pages[1]) {
			t.Errorf("two pages of one trace differ")
		}
	}
}

// TestNamesAreData: no name is part of the markup, and nothing is loaded.
func TestNamesAreData(t *testing.T) {
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 1, Seed: 2})
	evil := `</script><script src=//x.example/y.js>alert("x")</script>` + "\x00\u202e" + strings.Repeat("long", 1<<20)
	tr.Defs.Strings[tr.Defs.Regions[0].Name] = evil
	a.Profile[0].Region = evil
	p := Page{Title: evil, Trace: tr, Timeline: timeline(t, tr, a, 1<<10), Document: a, Files: []string{evil}, Size: DefaultSize}
	b, err := p.Encode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	html := string(b)
	if n := strings.Count(html, "<script"); n != 6 {
		t.Errorf("%d scripts, want 6", n)
	}
	if at := regexp.MustCompile(`(?i)<[^>]*(src|href)\s*=`).FindString(html[:strings.Index(html, "<style>")]); at != "" {
		t.Errorf("the page refers to %q", at)
	}
	if !strings.Contains(html, `content="default-src 'none'; script-src 'sha256-`) {
		t.Error("no content security policy")
	}
}

// TestStreamsAreStreams: rows of devices are named as streams, those of hosts as they are.
func TestStreamsAreStreams(t *testing.T) {
	tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 1, Seed: 2})
	for l := range tr.Defs.Locations {
		tr.Defs.Strings[tr.Defs.Locations[l].Name] = "thread 7 "
	}
	tr.Defs.Locations[1].Kind = trace.LocationGPU
	p := Page{Trace: tr, Timeline: timeline(t, tr, a, 1<<10)}
	if rows := p.describe().Rows; rows[0].Name != "thread 7" || rows[1].Name != "stream 7" {
		t.Errorf("rows are called %q and %q", rows[0].Name, rows[1].Name)
	}
}

// TestSeveralAreBounded: a page of several runs is as large as allowed at most.
func TestSeveralAreBounded(t *testing.T) {
	for _, size := range []int64{512 << 10, DefaultSize} {
		s := Several{Size: size, Scaling: map[string]any{"models": make([]string, 1000)}}
		for seed := range uint64(3) {
			tr, a := analyzed(t, samples.Options{Program: "halo", Ranks: 32, Iterations: 60, Seed: seed})
			tl, err := NewTimeline(context.Background(), tr, a, Bounds(Share(size, 3)), 2)
			if err != nil {
				t.Fatal(err)
			}
			s.Pages = append(s.Pages, &Page{Title: "halo", Trace: tr, Timeline: tl, Document: a})
			if seed > 0 {
				s.Comparisons = append(s.Comparisons, map[string]any{"changes": make([]string, 1000)})
			}
		}
		html, err := s.Encode(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if n := int64(len(html)); n > size {
			t.Errorf("%d bytes, allowed are %d", n, size)
		}
		for _, id := range []string{"document", "document-2", "curves-1", "comparison-1", "comparison-2", "scaling"} {
			if !bytes.Contains(html, []byte(`id="`+id+`"`)) {
				t.Errorf("the page has no %s", id)
			}
		}
	}
}

// TestCostsAreTheAnalysis: what call paths cost on the page sums up to what the analysis says of all
// places, critical path and overhead, but for what is in no path.
func TestCostsAreTheAnalysis(t *testing.T) {
	for _, p := range samples.Programs() {
		tr, _ := analyzed(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 40, Seed: 2,
			Plant: samples.Plant{LateSender: 30_000, Imbalance: 12_000}})
		a := statstest.Analysis(t, tr, analysis.Options{Overhead: &overhead.Options{}})
		page := &Page{Trace: tr, Timeline: timeline(t, tr, a, 1<<20), Costs: a.PathCosts}
		var got, want [3]int64
		for _, c := range page.costsOfPaths().Rows {
			for k := range got {
				got[k] += int64(c[k+1])
			}
		}
		for _, r := range a.Delays {
			if !strings.HasPrefix(string(r.Region), "(") {
				want[0] += r.TotalNs
			}
		}
		for _, r := range a.CriticalPath.Regions {
			if !strings.HasPrefix(string(r.Region), "(") {
				want[1] += r.TimeNs
			}
		}
		for _, r := range a.Overhead.Lines {
			want[2] += r.OverheadNs
		}
		for k, what := range []string{"waits caused", "critical path", "overhead"} {
			if d := got[k] - want[k]; d < -100 || d > 100 || k < 2 && want[k] == 0 { // rounded for each place
				t.Errorf("%s, %s: %d ns, the analysis has %d", p.Name, what, got[k], want[k])
			}
		}
	}
}

// TestCountersOfPaths: what a counter has counted in a call path stands beside its costs; what has no sum does not.
func TestCountersOfPaths(t *testing.T) {
	tr, a := analysedText(t, `
member 0 cycles value=4 unit=events
member 1 memory value=10 mode=17 base=1 exponent=3 unit=B
metric 0 members=0
metric 1 members=1
location 0 rank0 rank=0
  0 Metric 0 uint64:100 ; 0 Enter main ; 5 Metric 1 double:3
  10 Metric 0 uint64:150 ; 10 Enter f ; 30 Metric 0 uint64:450 ; 30 Leave f
  40 Metric 0 uint64:460 ; 40 Leave main
`)
	c := (&Page{Trace: tr, Timeline: timeline(t, tr, a, 1<<20), Costs: a.PathCosts}).costsOfPaths()
	if got, want := fmt.Sprint(c.Names[3:], c.Rows), "[{cycles events}] [[0 0 20 0 60] [1 0 20 0 300]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
