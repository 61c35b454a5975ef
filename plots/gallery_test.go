package plots

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// gallery is where TestGallery writes pictures of the sizes people use, to be
// looked at; they are too large to keep.
var gallery = flag.String("gallery", "", "write large pictures into this `directory`")

func TestGallery(t *testing.T) {
	if *gallery == "" {
		t.Skip("give -gallery DIR to get pictures to look at")
	}
	for _, s := range []sampleRun{
		{ranks: 4, steps: 6, reduceEvery: 3},
		{ranks: 16, steps: 12, reduceEvery: 4},
		{ranks: 64, steps: 40, pieces: 4, reduceEvery: 8},
		{ranks: 512, steps: 100, pieces: 30, reduceEvery: 8},
		{ranks: 1024, steps: 200, pieces: 44, reduceEvery: 10},
		{ranks: 4096, steps: 50, pieces: 4, reduceEvery: 10},
	} {
		o := s.options()
		o.Width, o.Height = 1600, 900
		start := time.Now()
		tl := s.timeline(t, o)
		fed := time.Now()
		fig := tl.Figure()
		save(t, fig, fmt.Sprintf("spacetime-%d.png", s.ranks))
		drawn := time.Now()
		save(t, fig, fmt.Sprintf("spacetime-%d.svg", s.ranks))
		t.Logf("%d ranks, %d segments: fed in %v, drawn in %v", s.ranks, tl.count, fed.Sub(start), drawn.Sub(fed))
	}
}

func TestGalleryCharts(t *testing.T) {
	if *gallery == "" {
		t.Skip("give -gallery DIR to get pictures to look at")
	}
	show := func(name string, f *Figure, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		save(t, f, name+".png")
		save(t, f, name+".svg")
	}
	f, err := Histogram(sampleHistogram(40))
	show("histogram", f, err)
	d := sampleHistogram(4000)
	d.LogY = true
	f, err = Histogram(d)
	show("histogram-log", f, err)
	f, err = CallCosts("Necessary time by message size", sampleCosts())
	show("costs", f, err)
	s, all := sampleStability()
	f, err = Stability("t_max against sample size", s, all)
	show("stability", f, err)
	f, err = HeatMap(sampleLines(20, 64))
	show("lines", f, err)
	f, err = HeatMap(sampleLines(5, 2000))
	show("lines-wide", f, err)
	f, err = CommMatrix(sampleMatrix(16, 4))
	show("matrix-16", f, err)
	f, err = CommMatrix(sampleMatrix(2048, 64))
	show("matrix-2048", f, err)
	f, err = DifferenceHistograms(sampleDifferences())
	show("differences", f, err)
	f, err = Stack(samplePair(t, 1400, 420)...)
	show("pair", f, err)
}

// TestGalleryOddities shows what layouts find hard: a narrow range far from
// zero, long labels, more categories than colors, a color-by-wait diagram.
func TestGalleryOddities(t *testing.T) {
	if *gallery == "" {
		t.Skip("give -gallery DIR to get pictures to look at")
	}
	o := TimelineOptions{
		Title: "zoom into a long run of climate_model_coupled_T1279_ORCA025 on 3072 processes, second month",
		From:  86_400_000_123_400, To: 86_400_000_223_400, RankAxis: "thread",
	}
	for i := range 12 {
		o.Ranks = append(o.Ranks, fmt.Sprintf("rank %d thread %d", 100+i/4, i%4))
	}
	for i := range 60 {
		o.Categories = append(o.Categories, Category{Name: fmt.Sprintf("model::dynamics::solve_helmholtz_level_%d(field const&, double)",
			i), Class: fmt.Sprintf("class %d", i%6)})
	}
	tl := newTimeline(t, o)
	for r := range o.Ranks {
		l := tl.Lane(r)
		for at, i := o.From-500, r; at < o.To; i++ {
			end := at + 400 + int64(i*i*7919%4000)
			l.Segment(at, end, (i*i+r)%60, Code)
			at = end
		}
		if err := tl.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	save(t, tl.Figure(), "zoom.png")
	save(t, allToAll(t, 64, 30), "alltoall.png")
	save(t, allToAll(t, 6, 3), "alltoall-few.png")
}

// allToAll is a run in which everybody sends to everybody in every other step.
func allToAll(t *testing.T, ranks, steps int) *Figure {
	s := sampleRun{ranks: ranks, steps: steps, pieces: 3, reduceEvery: 5}
	o := s.options()
	o.Width, o.Height = 1200, 700
	tl := s.timeline(t, o)
	for step := 0; step < steps; step += 2 {
		for from := range ranks {
			for to := range ranks {
				at := s.arrival(from, step)
				tl.Message(Message{From: from, To: to, Sent: at, Done: at + 20_000, Bytes: 64})
			}
		}
	}
	return tl.Figure()
}

func save(t *testing.T, f *Figure, name string) {
	t.Helper()
	if err := f.Save(filepath.Join(*gallery, name)); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Join(*gallery, name)); err == nil {
		t.Logf("%s: %d KB", name, st.Size()/1024)
	}
}
