package figure

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/plots"
	"tracekit/stats/fit"
)

// wideKey is a key whose calls, all but equal ones among them, spread over so many ns above
// the first, in windows of 1 ns.
func wideKey(first, spread int64) *document.OverheadKey {
	s := &fit.Sample{}
	for i := range int64(100) {
		s.Add(first + i%7 + i*i/100*(spread/100))
	}
	r := fit.Fit(s, fit.Options{Window: 1})
	return &document.OverheadKey{Operation: "MPI_Send", Processes: 2, Calls: uint64(r.Calls), TMinNs: r.TMin, TMaxNs: r.TMax, From: r.From,
		Fit: r}
}

// TestHistogramOfAnyRange: one wrong bit in a time makes a call of years. What is drawn then,
// and what drawing costs, depends on the calls and not on the windows between them.
func TestHistogramOfAnyRange(t *testing.T) {
	for _, first := range []int64{0, 1 << 40, 1 << 62} {
		for _, spread := range []int64{0, 1000, 1 << 40, 1<<62 - 1000} {
			k := wideKey(first, spread)
			f, err := histogramPlot(k, false)
			if err != nil {
				t.Errorf("from %d over %d ns: %v", first, spread, err)
				continue
			}
			for _, format := range []plots.Format{plots.PNG, plots.SVG} {
				if err := f.Encode(io.Discard, format); err != nil {
					t.Errorf("from %d over %d ns: %v", first, spread, err)
				}
			}
		}
	}
}

// BenchmarkHistogramPlot: the cost does not grow with the range of the calls.
func BenchmarkHistogramPlot(b *testing.B) {
	for bits := 10; bits <= 62; bits += 13 {
		k := wideKey(0, 1<<bits-1)
		b.Run(fmt.Sprintf("range=2^%d", bits), func(b *testing.B) {
			for b.Loop() {
				if _, err := histogramPlot(k, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFileNames: whatever an operation is called, it has a file name of its own.
func TestFileNames(t *testing.T) {
	if got := fileName("MPI_Send", "root"); got != "MPI_Send-root" {
		t.Error(got)
	}
	seen := map[string]string{}
	long := strings.Repeat("x", 5000)
	for _, name := range []string{"MPI_Send", "MPI Send", "MPI/Send", "../MPI_Send", "MPI_Send\x1b", "MPI_Send\x00", long, long + "y",
		"大"} {
		file := fileName(name, "")
		if other, ok := seen[file]; ok || len(file) > 100 || strings.ContainsAny(file, "/\x00\x1b ") {
			t.Errorf("%.20q has the file name %q, as has %.20q", name, file, other)
		}
		seen[file] = name
	}
}
