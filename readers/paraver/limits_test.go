package paraver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// prv makes a trace of one thread: lines formats what is said, n times, of a number from 0.
func prv(n int, lines func(b *bytes.Buffer, i int)) []byte {
	b := bytes.NewBufferString("#Paraver (x):99999999_ns:1(1):1:1(1:1)\n")
	for i := range n {
		lines(b, i)
	}
	return b.Bytes()
}

// TestLimits: what is more than is told apart is counted, whatever the number of workers.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		text []byte
		want uint64
	}{
		{"event types", prv(maxMeters+5, func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "2:1:1:1:1:%d:%d:7:60000019:%d\n", i, 1000+i,
				1+i%2)
		}), 5},
		{"sets of counters", prv(maxMeters+5, func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "2:1:1:1:1:%d:%d:7:%d:7\n", i, 1000+i/200,
				1000+i%200)
		}), 5},
		{"values", prv(maxRegions+5, func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "2:1:1:1:1:%d:60000019:%d\n2:1:1:1:1:%d:60000019:0\n", 2*i, i+1, 2*i+1)
		}), 5},
		{"levels", prv(2*maxDepth+10, func(b *bytes.Buffer, i int) {
			value := 0
			if i < maxDepth+5 {
				value = 1 + i%9
			}
			fmt.Fprintf(b, "2:1:1:1:1:%d:60000019:%d\n", i, value)
		}), 5},
		{"requests", prv(maxRequests+5, func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "2:1:1:1:1:%d:50000001:3\n3:1:1:1:1:%d:%d:1:1:1:1:%d:%d:8:7\n2:1:1:1:1:%d:50000001:0\n", 2*i, 2*i, 2*i, 2*i,
				900000000, 2*i+1)
		}), 5},
	} {
		for _, workers := range []int{1, 3} {
			s, err := sample{prv: c.text}.readWith(4000, workers)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSource(s); err != nil {
				t.Error(c.name, err)
			}
			deliver(t, s) // once more: it is not counted twice
			if got := found(s, trace.CodeLimitExceeded); got != c.want {
				t.Errorf("%s, %d workers: %d are too many, want %d: %v", c.name, workers, got, c.want, s.Findings())
			}
			if found(s, trace.CodeUnmatchedLeave) > 0 {
				t.Errorf("%s: %v", c.name, s.Findings())
			}
			s.Close()
		}
	}
}

// found returns how often a code was found.
func found(s *Source, code trace.Code) uint64 {
	for _, f := range s.Findings() {
		if f.Code == code {
			return f.Count
		}
	}
	return 0
}

// TestCompanions: a missing or damaged .pcf is noticed, and so is a damaged .row.
func TestCompanions(t *testing.T) {
	const labels = "STATES\n1 Running\n\nEVENT_TYPE\n9 1000 phase\nVALUES\n0 End\n1 first\n"
	const names = "LEVEL THREAD SIZE 1\nmain\n"
	for _, c := range []struct {
		name, pcf, row string // "-": there is no such file
		want           trace.Code
	}{
		{"sound", labels, names, ""},
		{"no names", labels, "-", trace.CodeMissingNames},
		{"names empty", labels, "", trace.CodeMissingNames},
		{"no UTF-8", labels[:len(labels)-3] + "\xff\n", names, trace.CodeBadValue},
		{"no UTF-8, as long as what stands for it", labels[:len(labels)-3] + "\xff\xfe\xfd\n", names, trace.CodeBadValue},
		{"zeros", labels[:len(labels)-3] + "\x00\x00\n", names, trace.CodeBadValue},
		{"a line end damaged", labels[:len(labels)-1] + "\x7f3 x\n", names, trace.CodeBadValue},
		{"names damaged", labels, "LEVEM" + names[5:], trace.CodeBadValue},
		{"no labels", "-", names, trace.CodeMissingFile},
		{"empty", "", names, trace.CodeMissingFile},
		{"cut", labels[:len(labels)-3], names, trace.CodeTruncated},
		{"begin lost", labels[9:], names, trace.CodeBadValue},
		{"keyword damaged", strings.Replace(labels, "VALUES", "VALUEZ", 1), names, trace.CodeBadValue},
		{"number damaged", strings.Replace(labels, "9 1000", "9 1O00", 1), names, trace.CodeBadValue},
		{"binary", "\x00\x01\x02\n" + labels, names, trace.CodeBadValue},
		{"names cut", labels, names[:22], trace.CodeTruncated},
		{"names missing", labels, strings.Replace(names, "1", "3", 1), trace.CodeTruncated},
		{"long line", labels + "2 " + strings.Repeat("x", lineLimit) + "\n", names, trace.CodeCorrupt},
		{"long name", labels[:len(labels)-1] + strings.Repeat("x", 100<<10) + "\n", names, trace.CodeLimitExceeded},
	} {
		path := filepath.Join(t.TempDir(), "a.prv")
		for name, text := range map[string]string{path: "#Paraver (x):9_ns:1(1):1:1(1:1)\n2:1:1:1:1:1:1000:1\n2:1:1:1:1:2:1000:0\n",
			stem(path) + ".pcf": c.pcf, stem(path) + ".row": c.row} {
			if text == "-" {
				continue
			}
			tracetest.WriteFile(t, name, text)
		}
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		codes := ""
		for _, f := range s.Findings() {
			codes += string(f.Code)
		}
		if codes != string(c.want) {
			t.Errorf("%s: findings %v, want %q", c.name, s.Findings(), c.want)
		}
		s.Close()
	}
}

// TestChangedMeanwhile: a file that another program writes while it is read is no sound trace,
// plain or compressed.
func TestChangedMeanwhile(t *testing.T) {
	text := ring(100 << 10)
	for name, data := range map[string][]byte{"a.prv": text, "a.prv.gz": tracetest.Gzip(text)} {
		for what, size := range map[string]int64{"stays": 0, "shrinks": int64(len(data)) / 2, "grows": int64(len(data)) + 100} {
			path := filepath.Join(t.TempDir(), name)
			tracetest.WriteFile(t, path, data)
			s, err := Open(&tracetest.Changing{Context: context.Background(), Change: func() {
				if size > 0 {
					if err := os.Truncate(path, size); err != nil {
						t.Error(err)
					}
				}
			}}, path, Options{Jobs: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := hasCode(s, trace.CodeChangedMeanwhile); got != (size > 0) {
				t.Errorf("%s %s: findings %v", name, what, s.Findings())
			}
			s.Close()
		}
	}
}
