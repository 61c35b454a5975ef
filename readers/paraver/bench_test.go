package paraver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// ringTasks is the number of tasks of a ring trace.
const ringTasks = 16

// ring returns a trace like Extrae's of a program in which every task exchanges messages
// with its neighbor: states, calls with three levels of callers, communications.
func ring(size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#Paraver (01/02/2026 at 03:04):99999999999_ns:1(%d):1:%d(", ringTasks, ringTasks)
	for i := range ringTasks {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("1:1")
	}
	b.WriteString("),1\n")
	fmt.Fprintf(&b, "c:1:1:%d", ringTasks)
	for i := range ringTasks {
		fmt.Fprintf(&b, ":%d", i+1)
	}
	b.WriteByte('\n')
	for t := 1000000; b.Len() < size; t += 100000 {
		for task := 1; task <= ringTasks; task++ {
			ringStep(&b, task, t+task*50)
		}
	}
	return b.Bytes()
}

// ringStep writes one exchange: MPI_Irecv, MPI_Send, MPI_Wait, and the message sent.
func ringStep(b *bytes.Buffer, task, t int) {
	who := fmt.Sprintf("%d:1:%d:1", task, task)
	const callers = "70000001:5:80000001:%d:70000002:3:80000002:7:70000003:4:80000003:12"
	for i, call := range []struct{ value, state, from, to int }{{4, 11, 0, 900}, {1, 4, 1500, 8000}, {5, 8, 9000, 60000}} {
		fmt.Fprintf(b, "1:%s:%d:%d:%d\n", who, t+call.from, t+call.to, call.state)
		fmt.Fprintf(b, "2:%s:%d:50000001:%d:"+callers+"\n", who, t+call.from, call.value, 20+i)
		fmt.Fprintf(b, "1:%s:%d:%d:1\n", who, t+call.to, t+call.to+600)
		fmt.Fprintf(b, "2:%s:%d:50000001:0\n", who, t+call.to)
		if call.value == 1 {
			to := task%ringTasks + 1
			shift := 50 * (to - task)
			fmt.Fprintf(b, "3:%s:%d:%d:%d:1:%d:1:%d:%d:2800:7\n", who, t+1500, t+8000, to, to, t+shift+900, t+shift+60000)
		}
	}
}

const ringLabels = `
EVENT_TYPE
0 70000001 Caller at level 1
0 70000002 Caller at level 2
0 70000003 Caller at level 3
VALUES
0 End
3 main
4 start
5 exchange

EVENT_TYPE
0 80000001 Caller line at level 1
VALUES
20 ring.c:20 [/src/ring.c:20, /src/ring]
21 ring.c:21 [/src/ring.c:21, /src/ring]
22 ring.c:22 [/src/ring.c:22, /src/ring]
`

func open(t testing.TB, text []byte, labels string, opts Options) *Source {
	t.Helper()
	s, err := readTexts(context.Background(), "test.prv", texts{Trace: bytes.NewReader(text), Labels: strings.NewReader(labels)}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func deliver(t testing.TB, s *Source) (events int) {
	t.Helper()
	for l := range s.Defs().Locations {
		for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
			events += b.Len()
		}
	}
	return events
}

// BenchmarkRead measures a trace from text to tables; lines counts line ends of the same
// text, which is as fast as a text can be passed over.
func BenchmarkRead(b *testing.B) {
	text := ring(128 << 20)
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, 6)
	z.Write(text)
	z.Close()
	runs := []struct {
		name string
		run  func()
	}{
		{"lines", func() { bytes.Count(text, []byte{'\n'}) }},
		{"stage=open", func() { open(b, text, ringLabels, Options{}).Close() }},
		{"stage=tables", func() {
			s := open(b, text, ringLabels, Options{})
			deliver(b, s)
			s.Close()
		}},
		{"stage=tables,gzip", func() {
			s := open(b, packed.Bytes(), ringLabels, Options{})
			deliver(b, s)
			s.Close()
		}},
	}
	for _, r := range runs {
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				r.run()
			}
		})
	}
}

// BenchmarkWrite measures a trace from tables to text, in bytes of the text.
func BenchmarkWrite(b *testing.B) {
	src := open(b, ring(32<<20), ringLabels, Options{})
	path := filepath.Join(b.TempDir(), "out.prv")
	for _, plain := range []bool{false, true} {
		b.Run(fmt.Sprintf("plain=%v", plain), func(b *testing.B) {
			for range b.N {
				write(b, src, path, CreateOptions{Plain: plain, Force: true})
			}
			if info, err := os.Stat(path); err == nil {
				b.SetBytes(info.Size())
			}
		})
	}
}
