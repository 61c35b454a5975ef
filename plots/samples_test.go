package plots

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// sampleHistogram is a made-up sample of call times with two fits.
func sampleHistogram(windows int) HistogramData {
	const window, n = 250.0, 3000.0
	d := HistogramData{
		Title:  "MPI_Send, 2 processes, 8 KiB",
		XLabel: "time of a call above the shortest", Unit: Nanoseconds,
		Models: []Model{
			{Name: "Poisson (location 3)", Verdict: "p = 0.31"},
			{Name: "discretised exponential", Verdict: "p < 1e-9", Rejected: true},
		},
		Marks:  []Mark{{"t_max at q = 0.99", 4250}},
		Beyond: 7,
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range windows {
		scaled := float64(k) * 40 / float64(windows)
		lg, _ := math.Lgamma(scaled + 1)
		poisson := n * math.Exp(scaled*math.Log(9)-9-lg) * 40 / float64(windows)
		exponential := n * 0.1 * math.Exp(-0.1*scaled) * 40 / float64(windows)
		d.Edges = append(d.Edges, scaled*window)
		d.Counts = append(d.Counts, math.Max(0, math.Round(poisson+math.Sqrt(poisson)*r.NormFloat64())))
		d.Models[0].Expected = append(d.Models[0].Expected, poisson)
		d.Models[1].Expected = append(d.Models[1].Expected, exponential)
	}
	d.Counts[windows*3/4] = 2
	d.Edges = append(d.Edges, 40*window)
	return d
}

// sampleCosts is the cost of four operations by bytes.
func sampleCosts() []Series {
	var out []Series
	for i, name := range []string{"MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Alltoall"} {
		s := Series{Name: name}
		for b := 1.0; b <= 4<<20; b *= 2 {
			s.X = append(s.X, b)
			s.Y = append(s.Y, float64(i+1)*800+b*0.1*float64(i*i+1))
		}
		out = append(out, s)
	}
	return out
}

// sampleStability is t_max against sample size, with intervals.
func sampleStability() ([]Series, []Mark) {
	r := rand.New(rand.NewPCG(3, 4))
	var out []Series
	for i, name := range []string{"MPI_Send 2 processes 8 KiB", "MPI_Allreduce 64 processes 8 B"} {
		s := Series{Name: name}
		for n := 50.0; n <= 3000; n *= 1.15 {
			at, w := 4200+float64(i)*2500, 9000/math.Sqrt(n)
			s.X = append(s.X, math.Round(n))
			s.Y = append(s.Y, at+w*0.3*r.NormFloat64())
			s.Low, s.High = append(s.Low, at-w), append(s.High, at+w)
		}
		out = append(out, s)
	}
	return out, []Mark{{"8 KiB, all calls", 4200}, {"8 B, all calls", 6700}}
}

// lineGrid is overhead by source line and rank.
type lineGrid struct{ rows, columns int }

func (g lineGrid) Dims() (rows, columns int) { return g.rows, g.columns }

func (g lineGrid) Value(r, c int) float64 {
	if (r+c)%7 == 3 {
		return 0
	}
	return 1e6 / float64(r+1) * (1 + math.Sin(float64(c)/9+float64(r)))
}

func sampleLines(rows, columns int) HeatMapData {
	d := HeatMapData{
		Title: "Overhead by source line and rank", Grid: lineGrid{rows, columns},
		RowLabel: "source line", ColumnLabel: "rank", ScaleLabel: "overhead", Unit: Nanoseconds,
	}
	for i := range rows {
		d.Rows = append(d.Rows, fmt.Sprintf("solver/src/halo_exchange.f90:%d MPI_Waitall", 100+17*i))
	}
	return d
}

// sampleMatrix is a 2-D stencil with a few long-distance messages.
func sampleMatrix(ranks, width int) MatrixData {
	d := MatrixData{Title: fmt.Sprintf("Bytes between %d ranks", ranks), Ranks: ranks, ScaleLabel: "bytes sent", Unit: Bytes}
	add := func(from, to int, v float64) {
		if to >= 0 && to < ranks {
			d.Entries = append(d.Entries, MatrixEntry{from, to, v})
		}
	}
	for r := range ranks {
		add(r, r+1, 64<<20)
		add(r, r-1, 64<<20)
		add(r, r+width, 3e6)
		add(r, r-width, 3e6)
		add(r, 0, 900)
		add(0, r, 120)
	}
	return d
}

// sampleDifferences are two bell curves of differences.
func sampleDifferences() DifferencesData {
	bell := func(sigma float64) Differences {
		d := Differences{Mean: sigma / 5, Spread: 1.665 * sigma, Beyond: 12}
		for x := -4 * sigma; x < 4*sigma; x += sigma / 10 {
			d.Edges = append(d.Edges, x)
			d.Counts = append(d.Counts, math.Round(4000*math.Exp(-(x-d.Mean)*(x-d.Mean)/2/sigma/sigma)))
		}
		d.Edges = append(d.Edges, d.Edges[len(d.Edges)-1]+sigma/10)
		return d
	}
	return DifferencesData{Title: "CG.A.16, trace and reconstruction", Position: bell(35_000), Block: bell(900)}
}
