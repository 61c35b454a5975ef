package diagram

import (
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/plots"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// TestRepeatsOnGrey states that where repeating iterations were cut nothing is drawn, on the
// ground of what was cut, and that they are on the ground of what was rebuilt when they were
// made again.
func TestRepeatsOnGrey(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 2, Iterations: 20, Seed: 1})
	full := statstest.Merged(t, m, merge.Options{Clock: merge.ClockNone})
	rule := &pattern.Rule{}
	r, err := reduce.Apply(t.Context(), full, []reduce.Rule{rule}, reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reduced := r.Source(m)
	again, err := pattern.Regenerate(reduced, rule.Found.Repeats, full.Store)
	if err != nil {
		t.Fatal(err)
	}
	for which, src := range map[string]trace.Source{"cut": reduced, "made again": again} {
		tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
		d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), Options{ColorBy: ByRegion})
		if err != nil {
			t.Fatal(err)
		}
		ground := d.cut
		if which == "made again" {
			ground = d.rebuilt
		}
		if len(ground[0]) != 1 || len(d.cut[0])+len(d.rebuilt[0]) != 1 {
			t.Fatalf("%s: %d and %d stretches", which, len(d.cut[0]), len(d.rebuilt[0]))
		}
		from, to := d.ns(ground[0][0].Begin), d.ns(ground[0][0].End)
		inside := &spanLane{from: from, to: to}
		if err := newBar(d, 0, inside).run(tr.Source.Events(t.Context(), 0)); err != nil {
			t.Fatal(err)
		}
		if want := map[string]int64{"cut": 0, "made again": to - from}[which]; inside.time != want || to-from < 1000 {
			t.Errorf("%s: %d ns are drawn from %d to %d, want %d", which, inside.time, from, to, want)
		}
		timeline, err := Draw(t.Context(), tr, waitsOf(t, tr), Options{ColorBy: ByRegion, From: scope.Instant{}, Messages: plots.NoMessages})
		if err != nil {
			t.Fatal(err)
		}
		figure, err := plots.Stack(timeline)
		if err != nil {
			t.Fatal(err)
		}
		var svg strings.Builder
		if err := figure.Encode(&svg, plots.SVG); err != nil {
			t.Fatal(err)
		}
		for legend, want := range map[string]bool{"cut, repeats what is kept": which == "cut", "rebuilt, not recorded": which == "made again"} {
			if strings.Contains(svg.String(), legend) != want {
				t.Errorf("%s: the legend has %q: %v", which, legend, !want)
			}
		}
	}
}

// A spanLane sums what is drawn in a stretch of time.
type spanLane struct{ from, to, time int64 }

func (l *spanLane) Segment(start, end int64, _ int, _ plots.Kind) {
	l.time += max(0, min(end, l.to)-max(start, l.from))
}
