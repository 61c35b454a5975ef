package paraver

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"tracekit/trace/tracetest"
)

// scales are traces of so many elements that wait for, enclose, cross or are looked for among
// each other. Threads are those of the header; there is one if it is not said.
var scales = []struct {
	name    string
	threads func(n int) int
	lines   func(b *bytes.Buffer, n, i int)
	labels  func(b *bytes.Buffer, n, i int)
}{
	{name: "blank", lines: func(b *bytes.Buffer, n, i int) { b.WriteByte('\n') }},
	{name: "unreceived", lines: func(b *bytes.Buffer, n, i int) { // one tag, completed at the end alone
		fmt.Fprintf(b, "3:1:1:1:1:%d:%d:1:1:1:1:%d:%d:8:7\n", i, i, i, 9*n)
	}},
	{name: "open-sends", lines: func(b *bytes.Buffer, n, i int) {
		fmt.Fprintf(b, "2:1:1:1:1:%d:50000001:3\n3:1:1:1:1:%d:%d:1:1:1:1:%d:%d:8:7\n2:1:1:1:1:%d:50000001:0\n", 2*i, 2*i, 2*i, 2*i, 9*n, 2*i+1)
	}},
	{name: "open-states", lines: func(b *bytes.Buffer, n, i int) { fmt.Fprintf(b, "1:1:1:1:1:%d:%d:%d\n", i, 3*n-i, 30+i%20) }},
	{name: "levels", lines: func(b *bytes.Buffer, n, i int) { fmt.Fprintf(b, "2:1:1:1:1:%d:60000019:%d\n", i, 1+i%20) }},
	{name: "types", lines: func(b *bytes.Buffer, n, i int) { fmt.Fprintf(b, "2:1:1:1:1:%d:%d:7\n", i, 1000+i) }},
	{name: "values", lines: func(b *bytes.Buffer, n, i int) {
		fmt.Fprintf(b, "2:1:1:1:1:%d:60000019:%d\n2:1:1:1:1:%d:60000019:0\n", 2*i, 1+i, 2*i+1)
	}},
	{name: "threads", threads: func(n int) int { return min(n, maxThreads) }, lines: func(b *bytes.Buffer, n, i int) {
		if i == 0 {
			b.WriteString("2:1:1:1:1:1:60000019:1\n2:1:1:1:1:2:60000019:0\n")
		}
	}},
	{name: "slots", threads: func(n int) int { return min(n, maxThreads) }, lines: func(b *bytes.Buffer, n, i int) { // a type for each thread
		fmt.Fprintf(b, "2:1:1:1:%d:1:%d:1\n2:1:1:1:%d:2:%d:0\n", 1+i%maxThreads, 1000+i, 1+i%maxThreads, 1000+i)
	}, labels: func(b *bytes.Buffer, n, i int) {
		fmt.Fprintf(b, "EVENT_TYPE\n0 %d t\nVALUES\n0 End\n1 on\n", 1000+i)
	}},
	{name: "layers", lines: func(b *bytes.Buffer, n, i int) { // each type crosses all others
		k := int(math.Sqrt(float64(n)))
		x, y := 1000+i/k, 1000+i%k
		if x < y {
			fmt.Fprintf(b, "2:1:1:1:1:%d:%d:1\n2:1:1:1:1:%d:%d:1\n2:1:1:1:1:%d:%d:0\n2:1:1:1:1:%d:%d:0\n", 4*i, x, 4*i+1, y, 4*i+2, x, 4*i+3, y)
		}
	}, labels: func(b *bytes.Buffer, n, i int) {
		if i*i < n {
			fmt.Fprintf(b, "EVENT_TYPE\n0 %d t\nVALUES\n0 End\n1 on\n", 1000+i)
		}
	}},
	{name: "labels", lines: func(*bytes.Buffer, int, int) {}, labels: func(b *bytes.Buffer, n, i int) { // one type, described again and again
		if i < n/2 {
			fmt.Fprintf(b, "%s%d v\n", map[bool]string{true: "EVENT_TYPE\n0 1000 t\nVALUES\n"}[i == 0], i)
		} else {
			b.WriteString("EVENT_TYPE\n0 1000 t\n")
		}
	}},
}

// BenchmarkScale reads traces of growing size: the time for an element shall not grow with
// their number, but for a logarithm.
func BenchmarkScale(b *testing.B) {
	for _, c := range scales {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("case=%s/n=%d", c.name, n), func(b *testing.B) {
				threads := 1
				if c.threads != nil {
					threads = c.threads(n)
				}
				path := filepath.Join(b.TempDir(), "a.prv")
				text := bytes.NewBufferString(fmt.Sprintf("#Paraver (x):%d_ns:1(1):1:1(%d:1)\n", 9*n, threads))
				var labels bytes.Buffer
				for i := range n {
					c.lines(text, n, i)
					if c.labels != nil {
						c.labels(&labels, n, i)
					}
				}
				for name, data := range map[string][]byte{path: text.Bytes(), stem(path) + ".pcf": labels.Bytes()} {
					tracetest.WriteFile(b, name, data)
				}
				for b.Loop() {
					s, err := Open(context.Background(), path, Options{})
					if err != nil {
						b.Fatal(err)
					}
					deliver(b, s)
					s.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}
