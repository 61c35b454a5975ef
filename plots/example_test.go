package plots_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracekit/plots"
)

// Two ranks compute; the second waits for a message of the first.
func ExampleTimeline() {
	t, err := plots.NewTimeline(plots.TimelineOptions{
		Title: "one message", From: 0, To: 100_000, Ranks: []string{"0", "1"},
		Categories: []plots.Category{{Name: "solve"}, {Name: "MPI_Send"}, {Name: "MPI_Recv"}},
		Width:      800, Height: 240,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sender, receiver := t.Lane(0), t.Lane(1)
	sender.Segment(0, 60_000, 0, plots.Code)
	sender.Segment(60_000, 70_000, 1, plots.Code)
	receiver.Segment(0, 20_000, 0, plots.Code)
	receiver.Segment(20_000, 60_000, 0, plots.Wait)
	receiver.Segment(60_000, 72_000, 2, plots.Code)
	for _, lane := range []*plots.Lane{sender, receiver} {
		if err := t.Add(lane); err != nil {
			fmt.Println(err)
		}
	}
	t.Message(plots.Message{From: 0, To: 1, Sent: 60_000, Done: 72_000, Bytes: 1 << 20})
	fmt.Println(t.Figure().Size())
	// Output: 800 240
}

// A trace above its reconstruction, on the same axis of time.
func ExampleStack() {
	diagram := func(title string) *plots.Timeline {
		t, err := plots.NewTimeline(plots.TimelineOptions{Title: title, To: 1000, Ranks: []string{"0"}, Height: 200})
		if err != nil {
			panic(err)
		}
		return t
	}
	rebuilt := diagram("reconstruction")
	rebuilt.Reconstructed(0, 0, 1000)
	f, err := plots.Stack(diagram("trace"), rebuilt)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Size())
	// Output: 1600 400
}

func ExampleFigure_Save() {
	f, err := plots.Curves(plots.CurvesData{Title: "nothing yet"})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "plots")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(f.Save(filepath.Join(dir, "curves.svg")))
	fmt.Println(f.Save(filepath.Join(dir, "curves.jpg")) != nil)
	// Output:
	// <nil>
	// true
}

func ExampleFormatOf() {
	format, err := plots.FormatOf("results/send.SVG")
	fmt.Println(format, err)
	// Output: svg <nil>
}

func ExampleHistogram() {
	f, err := plots.Histogram(plots.HistogramData{
		Title: "MPI_Send, 8 bytes", XLabel: "time of a call", Unit: plots.Nanoseconds,
		Edges:  []float64{0, 500, 1000, 1500},
		Counts: []float64{61, 24, 15},
		Models: []plots.Model{{Name: "exponential", Verdict: "p = 0.4", Expected: []float64{60, 24, 16}}},
		Marks:  []plots.Mark{{Name: "t_max", Value: 1400}},
	})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}

func ExampleCurves() {
	f, err := plots.Curves(plots.CurvesData{
		X:      plots.Axis{Label: "ranks", Log: true},
		Y:      plots.Axis{Label: "parallel efficiency", Unit: plots.Share},
		Series: []plots.Series{{Name: "measured", X: []float64{4, 16, 64}, Y: []float64{0.97, 0.91, 0.72}}},
	})
	if err == nil {
		err = f.Encode(io.Discard, plots.SVG)
	}
	fmt.Println(err)
	// Output: <nil>
}

func ExampleStability() {
	f, err := plots.Stability("t_max of MPI_Send",
		[]plots.Series{{Name: "8 bytes", X: []float64{50, 100, 200}, Y: []float64{2100, 1900, 1950}}},
		[]plots.Mark{{Name: "all calls", Value: 1960}})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}

func ExampleCallCosts() {
	f, err := plots.CallCosts("T_f(2, bytes)", []plots.Series{{Name: "MPI_Send", X: []float64{1, 1024, 1 << 20},
		Y: []float64{900, 1200, 95_000}}})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}

// table is a Grid made of rows.
type table [][]float64

func (t table) Dims() (rows, columns int)     { return len(t), len(t[0]) }
func (t table) Value(row, column int) float64 { return t[row][column] }

func ExampleHeatMap() {
	f, err := plots.HeatMap(plots.HeatMapData{
		Title: "overhead", Grid: table{{10, 0, 2500}, {700, 20, 0}},
		Rows: []string{"solver.c:42", "halo.c:7"}, RowLabel: "source line", ColumnLabel: "rank",
		ScaleLabel: "overhead", Unit: plots.Nanoseconds,
	})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}

func ExampleCommMatrix() {
	f, err := plots.CommMatrix(plots.MatrixData{
		Title: "who sends to whom", Ranks: 512, ScaleLabel: "bytes", Unit: plots.Bytes,
		Entries: []plots.MatrixEntry{{From: 0, To: 511, Value: 4096}, {From: 511, To: 0, Value: 8}},
	})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}

func ExampleDifferenceHistograms() {
	one := plots.Differences{Edges: []float64{-100, -50, 0, 50, 100}, Counts: []float64{3, 40, 45, 2}, Mean: 1, Spread: 60}
	f, err := plots.DifferenceHistograms(plots.DifferencesData{Title: "run 1 and run 2", Position: one, Block: one})
	if err == nil {
		err = f.Encode(io.Discard, plots.PNG)
	}
	fmt.Println(err)
	// Output: <nil>
}
