package jsontrace

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
)

// A generator writes a trace of about that many bytes: slices of several threads in the
// manner of PyTorch's profiler, nested, with arguments; in order of time or not.
type generator struct {
	bytes  int64
	sorted bool
}

// WriteTo implements io.WriterTo.
func (g generator) WriteTo(w io.Writer) (int64, error) {
	b := bufio.NewWriterSize(w, 1<<20)
	rnd := rand.New(rand.NewPCG(3, 4))
	n, _ := b.WriteString("{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[\n")
	total := int64(n)
	for i := 0; total < g.bytes; i++ {
		ts := int64(i) * 1000
		if !g.sorted {
			ts = rnd.Int64N(1 << 40)
		}
		n, err := fmt.Fprintf(b, `{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":851,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"args":{"External id":%d,"Ev Idx":%d,"Sequence number":%d}},`+"\n",
			rnd.IntN(200), 851+i%4, ts/1000, ts%1000, i%7, 100+i%800, i, i, i/3)
		if total += int64(n); err != nil {
			return total, err
		}
	}
	n, _ = b.WriteString("{}]}\n")
	return total + int64(n), b.Flush()
}
