package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/cmpimg"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

// draws encodes a figure in both formats and returns the PNG. The SVG must be
// well-formed and hold no number that is none.
func draws(t testing.TB, f *Figure) []byte {
	t.Helper()
	var raster, vector bytes.Buffer
	if err := f.Encode(&raster, PNG); err != nil {
		t.Fatal(err)
	}
	if err := f.Encode(&vector, SVG); err != nil {
		t.Fatal(err)
	}
	numbers := regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(vector.String(), "")
	if strings.Contains(numbers, "NaN") || strings.Contains(numbers, "Inf") {
		t.Error("the SVG holds NaN or Inf")
	}
	d := xml.NewDecoder(&vector)
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
	return raster.Bytes()
}

// golden compares a figure with the picture kept under its name.
func golden(t *testing.T, name string, f *Figure) {
	t.Helper()
	got := draws(t, f)
	path := filepath.Join("testdata", name+".png")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := cmpimg.EqualApprox("png", got, want, 0.05); err != nil || !same {
		failed := filepath.Join(t.ArtifactDir(), name+".png")
		os.WriteFile(failed, got, 0o644)
		t.Errorf("%s differs from %s (error %v)", failed, path, err)
	}
}

// must returns a figure or ends the test.
func must(t *testing.T) func(*Figure, error) *Figure {
	return func(f *Figure, err error) *Figure {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

func TestGoldens(t *testing.T) {
	ok := must(t)
	for _, c := range []struct {
		name string
		make func() *Figure
	}{
		{"spacetime-sparse", func() *Figure {
			s := sampleRun{ranks: 4, steps: 3, reduceEvery: 3}
			return s.small(t, 560, 240).Figure()
		}},
		{"spacetime-dense", func() *Figure {
			s := sampleRun{ranks: 512, steps: 20, pieces: 5, reduceEvery: 2}
			return s.small(t, 440, 240).Figure()
		}},
		{"spacetime-one", func() *Figure {
			s := sampleRun{ranks: 1, steps: 4}
			return s.small(t, 400, 160).Figure()
		}},
		{"pair", func() *Figure { return ok(Stack(samplePair(t, 440, 180)...)) }},
		{"histogram", func() *Figure {
			d := sampleHistogram(40)
			d.Width, d.Height = 440, 220
			return ok(Histogram(d))
		}},
		{"histogram-log", func() *Figure {
			d := sampleHistogram(4000)
			d.Width, d.Height, d.LogY = 440, 220, true
			return ok(Histogram(d))
		}},
		{"costs", func() *Figure {
			return ok(Curves(CurvesData{Title: "costs", Width: 420, Height: 220, Series: sampleCosts(),
				X: Axis{"bytes", Bytes, true}, Y: Axis{"time", Nanoseconds, true}}))
		}},
		{"stability", func() *Figure {
			s, levels := sampleStability()
			return ok(Curves(CurvesData{Title: "t_max", Width: 420, Height: 220, Series: s, Levels: levels,
				X: Axis{Label: "calls", Log: true}, Y: Axis{Label: "t_max", Unit: Nanoseconds}}))
		}},
		{"lines", func() *Figure {
			d := sampleLines(6, 16)
			d.Width, d.Height = 520, 240
			return ok(HeatMap(d))
		}},
		{"matrix", func() *Figure {
			d := sampleMatrix(512, 16)
			d.Width, d.Height = 360, 320
			return ok(CommMatrix(d))
		}},
		{"differences", func() *Figure {
			d := sampleDifferences()
			d.Width, d.Height = 440, 400
			return ok(DifferenceHistograms(d))
		}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, c.make()) })
	}
}

// small is the run's diagram in a size that is fit to be kept.
func (s sampleRun) small(t testing.TB, width, height int) *Timeline {
	o := s.options()
	o.Width, o.Height = width, height
	return s.timeline(t, o)
}

// TestSameBytes makes each kind of figure twice from the start.
func TestSameBytes(t *testing.T) {
	ok := must(t)
	for name, figure := range map[string]func() *Figure{
		"timeline":  func() *Figure { return sampleRun{ranks: 8, steps: 5, reduceEvery: 2}.small(t, 640, 300).Figure() },
		"histogram": func() *Figure { return ok(Histogram(sampleHistogram(50))) },
		"matrix":    func() *Figure { return ok(CommMatrix(sampleMatrix(64, 8))) },
	} {
		for _, format := range []Format{PNG, SVG} {
			var a, b bytes.Buffer
			if err := errors.Join(figure().Encode(&a, format), figure().Encode(&b, format)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%s as %s: two drawings differ", name, format)
			}
		}
	}
}

// TestEmpty draws every kind of figure without data.
func TestEmpty(t *testing.T) {
	ok := must(t)
	for name, f := range map[string]*Figure{
		"timeline":    flat(t, 0, 100, 3, 0).Figure(),
		"histogram":   ok(Histogram(HistogramData{Edges: []float64{0}})),
		"all zero":    ok(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{0}})),
		"curves":      ok(Curves(CurvesData{})),
		"no points":   ok(Curves(CurvesData{X: Axis{Log: true}, Series: []Series{{X: []float64{0}, Y: []float64{1}}}})),
		"heat map":    ok(HeatMap(HeatMapData{Grid: lineGrid{0, 0}})),
		"matrix":      ok(CommMatrix(MatrixData{Ranks: 3})),
		"no ranks":    ok(CommMatrix(MatrixData{})),
		"differences": ok(DifferenceHistograms(DifferencesData{})),
	} {
		t.Run(name, func(t *testing.T) { draws(t, f) })
	}
}

// TestOneValue draws figures whose axes have no extent of their own.
func TestOneValue(t *testing.T) {
	ok := must(t)
	for _, v := range []float64{0, 1, -3, 1e-9, 1e18} {
		s := []Series{{Name: "one", X: []float64{v}, Y: []float64{v}}}
		draws(t, ok(Curves(CurvesData{Series: s})))
		draws(t, ok(Curves(CurvesData{Series: s, X: Axis{Unit: Bytes, Log: true}, Y: Axis{Unit: Nanoseconds, Log: true}})))
	}
	draws(t, ok(CommMatrix(MatrixData{Ranks: 1, Entries: []MatrixEntry{{0, 0, 5}}})))
	draws(t, ok(Histogram(HistogramData{Edges: []float64{0, 1e-3}, Counts: []float64{1}, LogY: true})))
}

// TestRefusesNaN puts a number that is none in every place that takes one.
func TestRefusesNaN(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, err := range map[string]error{
			"edge":  second(Histogram(HistogramData{Edges: []float64{0, bad}, Counts: []float64{1}})),
			"count": second(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{bad}})),
			"expected": second(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{1},
				Models: []Model{{Expected: []float64{bad}}}})),
			"mark": second(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{1}, Marks: []Mark{{"m", bad}}})),
			"x":    second(Curves(CurvesData{Series: []Series{{X: []float64{bad}, Y: []float64{1}}}})),
			"y":    second(Curves(CurvesData{Series: []Series{{X: []float64{1}, Y: []float64{bad}}}})),
			"low": second(Curves(CurvesData{Series: []Series{{X: []float64{1}, Y: []float64{1}, Low: []float64{bad},
				High: []float64{2}}}})),
			"level": second(Curves(CurvesData{Levels: []Mark{{"m", bad}}})),
			"cell":  second(CommMatrix(MatrixData{Ranks: 1, Entries: []MatrixEntry{{0, 0, bad}}})),
			"mean": second(DifferenceHistograms(DifferencesData{Position: Differences{Edges: []float64{0, 1}, Counts: []float64{1},
				Mean: bad}})),
		} {
			if err == nil {
				t.Errorf("%v as %s: no error", bad, name)
			}
		}
	}
}

func second(_ *Figure, err error) error { return err }

func TestRefusesMismatch(t *testing.T) {
	for name, err := range map[string]error{
		"edges":         second(Histogram(HistogramData{Edges: []float64{0, 1}})),
		"edge order":    second(Histogram(HistogramData{Edges: []float64{1, 0}, Counts: []float64{1}})),
		"count below 0": second(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{-1}})),
		"expected":      second(Histogram(HistogramData{Edges: []float64{0, 1}, Counts: []float64{1}, Models: make([]Model, 1)})),
		"series":        second(Curves(CurvesData{Series: []Series{{X: []float64{1}}}})),
		"band":          second(Curves(CurvesData{Series: []Series{{X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}})),
		"no grid":       second(HeatMap(HeatMapData{})),
		"row labels":    second(HeatMap(HeatMapData{Grid: lineGrid{2, 2}, Rows: []string{"one"}})),
		"rank":          second(CommMatrix(MatrixData{Ranks: 2, Entries: []MatrixEntry{{0, 2, 1}}})),
		"value below 0": second(CommMatrix(MatrixData{Ranks: 2, Entries: []MatrixEntry{{0, 1, -1}}})),
		"stack of none": second(Stack()),
		"stack of two":  second(Stack(flat(t, 0, 10, 1, 0), flat(t, 0, 11, 1, 0))),
		"size":          second(Curves(CurvesData{Width: 5})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := flat(t, 0, 100, 1, 0).Figure()
	for _, name := range []string{"a.png", "b.SVG"} {
		if err := f.Save(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if err := f.Save(filepath.Join(dir, "c.jpg")); err == nil || !strings.Contains(err.Error(), ".png or .svg") {
		t.Errorf("c.jpg: got error %v", err)
	}
	if err := f.Encode(io.Discard, "gif"); err == nil {
		t.Error("gif: no error")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.DecodeConfig(bytes.NewReader(raw))
	if w, h := f.Size(); err != nil || img.Width != w || img.Height != h {
		t.Errorf("a.png is %d×%d, want %d×%d (error %v)", img.Width, img.Height, w, h, err)
	}
}

// BenchmarkFigure measures drawing apart from feeding.
func BenchmarkFigure(b *testing.B) {
	for name, s := range map[string]sampleRun{
		"ranks=4":    {ranks: 4, steps: 6, reduceEvery: 3},
		"ranks=1024": {ranks: 1024, steps: 50, pieces: 4, reduceEvery: 10},
	} {
		o := s.options()
		o.Width, o.Height = 1600, 900
		tl := s.timeline(b, o)
		for _, format := range []Format{PNG, SVG} {
			b.Run(name+"/format="+string(format), func(b *testing.B) {
				for b.Loop() {
					if err := tl.Figure().Encode(io.Discard, format); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestAnyName: an SVG is well-formed XML whatever its names hold, also where a text is drawn as
// it is given.
func TestAnyName(t *testing.T) {
	ok := must(t)
	names := []string{"<&>\"']]>", "<text x", "\x80\xff"}
	for r := range rune(0xa0) {
		names = append(names, string(r))
	}
	names = append(names, "\u200b\u202e\u2028\ufffe\uffff\U0001fffe\U000e0001")
	for _, n := range append(names, strings.Join(names, "")) {
		draws(t, ok(HeatMap(HeatMapData{Title: n, Grid: lineGrid{2, 2}, Rows: []string{n, n}, Columns: []string{n, n},
			RowLabel: n, ColumnLabel: n, ScaleLabel: n, Width: 300, Height: 200})).Stamped(n))
	}
	n := strings.Join(names, "")
	tl := newTimeline(t, TimelineOptions{Title: n, To: 100, Ranks: []string{n}, RankAxis: n, Categories: []Category{{Name: n}}, Width: 400,
		Height: 200})
	draws(t, tl.Figure())
	series := []Series{{Name: n, X: []float64{0, 1}, Y: []float64{0, 1}}}
	draws(t, ok(Curves(CurvesData{Title: n, X: Axis{Label: n}, Y: Axis{Label: n}, Series: series, Levels: []Mark{{Name: n, Value: 1}}})))
}
