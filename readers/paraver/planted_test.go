package paraver_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/paraver"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// open reads a trace of lines, with labels if there are some.
func open(t *testing.T, prv, pcf string) *paraver.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.prv")
	tracetest.WriteFile(t, path, prv)
	if pcf != "" {
		tracetest.WriteFile(t, strings.TrimSuffix(path, "prv")+"pcf", pcf)
	}
	s, err := paraver.Open(t.Context(), path, paraver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// events returns the events of each location as text, one in a line.
func events(t *testing.T, s *paraver.Source) (out []string) {
	t.Helper()
	for line := range strings.Lines(tracetest.MustFormat(t, s)) {
		switch {
		case strings.HasPrefix(line, "location "):
			out = append(out, "")
		case strings.HasPrefix(line, " "):
			for _, e := range strings.Split(strings.TrimSpace(line), " ; ") {
				out[len(out)-1] += e + "\n"
			}
		}
	}
	return out
}

const two = "#Paraver (x):1000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"

// A line that cannot be used costs that line: it is noticed at its place, and all others are read.
func TestBadLineIsLeftOut(t *testing.T) {
	t.Parallel()
	const (
		before = two + "2:1:1:1:1:100:50000003:19\n"
		after  = "2:1:1:1:1:200:50000003:0\n2:1:1:2:1:300:50000003:19\n2:1:1:2:1:400:50000003:0\n"
	)
	want := events(t, open(t, before+after, ""))
	for line, code := range map[string]trace.Code{
		"hello":                                       trace.CodeUnknownRecord,
		"5:1:1:1:1:150:7:1":                           trace.CodeUnknownRecord,
		"12:1:1:1:1:150:7:1":                          trace.CodeUnknownRecord,
		"1:1:1:1:1:150":                               trace.CodeBadValue, // a field too few
		"1:1:1:1:1:150:160:1:1":                       trace.CodeBadValue, // and too many
		"1:1:1:1:1:160:150:1":                         trace.CodeBadValue, // ends before it begins
		"1:1:1:1:1:-2:150:1":                          trace.CodeBadValue,
		"2:1:1:1:1:150":                               trace.CodeBadValue,
		"2:1:1:1:1:150:50000001":                      trace.CodeBadValue, // a type without a value
		"2:1:1:1:1:150:50000001:1:7":                  trace.CodeBadValue,
		"2:1:1:1:1:150:50000001:one":                  trace.CodeBadValue,
		"2:1:1:1:1:150:50000001:1x":                   trace.CodeBadValue,
		"2:1:1:1:1:150:4294967296:1":                  trace.CodeBadValue, // no number of a type
		"2:1:1:1:1:150:-1:1":                          trace.CodeBadValue,
		"2:1:1:1:1:150:50000001:18446744073709551616": trace.CodeBadValue, // 2^64
		"2:1:1:1:1:-1:50000001:1":                     trace.CodeBadValue,
		"2:1:1:1:1:2305843009213693953:50000001:1":    trace.CodeBadValue, // 2^61 + 1
		"2:1:1:1:2:150:50000001:1":                    trace.CodeDanglingReference,
		"2:1:1:3:1:150:50000001:1":                    trace.CodeDanglingReference,
		"2:1:2:1:1:150:50000001:1":                    trace.CodeDanglingReference,
		"2:1:0:1:1:150:50000001:1":                    trace.CodeDanglingReference,
		"2:1:1:-1:1:150:50000001:1":                   trace.CodeDanglingReference,
		"2:1:1:18446744073709551615:1:150:50000001:1": trace.CodeDanglingReference,
		"3:1:1:1:1:150:160:1:1:2:1:150:160:8":         trace.CodeBadValue,
		"3:1:1:1:1:150:160:1:1:2:1:150:160:8:1:1":     trace.CodeBadValue,
		"3:1:1:1:1:150:160:1:1:2:1:-150:160:8:1":      trace.CodeBadValue,
		"3:1:1:1:1:150:160:1:1:3:1:150:160:8:1":       trace.CodeDanglingReference,
		"3:1:1:9:1:150:160:1:1:2:1:150:160:8:1":       trace.CodeDanglingReference,
		"4:1:1:1":                                     trace.CodeBadValue,
		"c:1:1:2:1:2":                                 trace.CodeBadValue, // defined twice
		"c:1:2:3:1:2":                                 trace.CodeBadValue, // not as many as it says
		"c:2:2:1:1":                                   trace.CodeBadValue, // of no application
		"c:1:2:99999999999999999999:1":                trace.CodeBadValue,
		"i:1:2:1:1":                                   trace.CodeBadValue,
	} {
		s := open(t, before+line+"\n"+after, "")
		if got := events(t, s); !slices.Equal(got, want) {
			t.Errorf("%s: the events are\n%s\nwant\n%s", line, got, want)
		}
		var found []string
		for _, f := range s.Findings() {
			if f.First.Offset > 0 {
				found = append(found, fmt.Sprintf("%d × %s at %d", f.Count, f.Code, f.First.Offset))
			}
		}
		if want := fmt.Sprintf("1 × %s at %d", code, len(before)); len(found) != 1 || found[0] != want {
			t.Errorf("%s: found %q, want %q", line, found, want)
		}
	}
}

// What a message is in the calls of its ends: of a send (200 to 290) from task 1, and its receive
// (posted at 240, completed at 500) by task 2.
func TestEndsOfMessages(t *testing.T) {
	t.Parallel()
	const (
		message                                           = "3:1:1:1:1:200:290:2:1:2:1:240:500:64:7\n"
		send, isend, sendrecv, recv, irecv, wait, waitall = 1, 3, 41, 2, 4, 5, 6
	)
	call := func(task, begin, end, function int) string {
		return fmt.Sprintf("2:%d:1:%d:1:%d:50000001:%d\n2:%d:1:%d:1:%d:50000001:0\n", task, task, begin, function, task, task, end)
	}
	for _, c := range []struct {
		name, lines string
		want        [2]string
	}{
		{"no calls", "", [2]string{"200 MpiSend to=1 tag=7 bytes=64\n", "500 MpiRecv from=0 tag=7 bytes=64\n"}},
		{"calls that block", call(1, 200, 290, send) + call(2, 240, 500, recv), [2]string{
			"200 Enter MPI_Send\n200 MpiSend to=1 tag=7 bytes=64\n290 Leave MPI_Send\n",
			"240 Enter MPI_Recv\n500 MpiRecv from=0 tag=7 bytes=64\n500 Leave MPI_Recv\n"}},
		{"calls that do not block", call(1, 200, 210, isend) + call(1, 220, 290, wait) +
			call(2, 240, 250, irecv) + call(2, 400, 500, wait), [2]string{
			"200 Enter MPI_Isend\n200 MpiIsend to=1 tag=7 bytes=64 req=1\n210 Leave MPI_Isend\n" +
				"220 Enter MPI_Wait\n290 MpiIsendComplete req=1\n290 Leave MPI_Wait\n",
			"240 Enter MPI_Irecv\n240 MpiIrecvRequest req=1\n250 Leave MPI_Irecv\n" +
				"400 Enter MPI_Wait\n500 MpiIrecv from=0 tag=7 bytes=64 req=1\n500 Leave MPI_Wait\n"}},
		{"a receive posted at the end of its call", call(2, 230, 240, irecv) + call(2, 400, 500, wait), [2]string{
			"200 MpiSend to=1 tag=7 bytes=64\n",
			"230 Enter MPI_Irecv\n240 MpiIrecvRequest req=1\n240 Leave MPI_Irecv\n" +
				"400 Enter MPI_Wait\n500 MpiIrecv from=0 tag=7 bytes=64 req=1\n500 Leave MPI_Wait\n"}},
		{"a wait that ends too early, and the one after it", call(2, 240, 250, irecv) + call(2, 260, 270, wait) +
			call(2, 450, 510, waitall), [2]string{
			"200 MpiSend to=1 tag=7 bytes=64\n",
			"240 Enter MPI_Irecv\n240 MpiIrecvRequest req=1\n250 Leave MPI_Irecv\n260 Enter MPI_Wait\n270 Leave MPI_Wait\n" +
				"450 Enter MPI_Waitall\n500 MpiIrecv from=0 tag=7 bytes=64 req=1\n510 Leave MPI_Waitall\n"}},
		{"a send and a receive in one call", call(1, 200, 290, sendrecv) + call(2, 240, 500, sendrecv), [2]string{
			"200 Enter MPI_Sendrecv\n200 MpiSend to=1 tag=7 bytes=64\n290 Leave MPI_Sendrecv\n",
			"240 Enter MPI_Sendrecv\n500 MpiRecv from=0 tag=7 bytes=64\n500 Leave MPI_Sendrecv\n"}},
	} {
		// The line of a message may stand anywhere.
		for _, text := range []string{two + message + c.lines, two + c.lines + message} {
			if got := events(t, open(t, text, "")); !slices.Equal(got, c.want[:]) {
				t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "--\n"), strings.Join(c.want[:], "--\n"))
			}
		}
	}
}

// A wait for one request completes the oldest send, one for all completes all.
func TestSendsAreCompletedInOrder(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(two)
	for i := range 4 {
		fmt.Fprintf(&b, "2:1:1:1:1:%d:50000001:3\n2:1:1:1:1:%d:50000001:0\n3:1:1:1:1:%d:%d:2:1:2:1:%d:900:8:%d\n",
			10*i, 10*i+1, 10*i, 10*i+1, 10*i, i)
	}
	b.WriteString("2:1:1:1:1:100:50000001:5\n2:1:1:1:1:110:50000001:0\n2:1:1:1:1:120:50000001:6\n2:1:1:1:1:130:50000001:0\n")
	var got []string
	for _, e := range strings.Split(events(t, open(t, b.String(), ""))[0], "\n") {
		if strings.Contains(e, "Complete") || strings.Contains(e, "MPI_Wait") {
			got = append(got, e)
		}
	}
	want := []string{"100 Enter MPI_Wait", "110 MpiIsendComplete req=1", "110 Leave MPI_Wait", "120 Enter MPI_Waitall",
		"130 MpiIsendComplete req=2", "130 MpiIsendComplete req=3", "130 MpiIsendComplete req=4", "130 Leave MPI_Waitall"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The root of a collective is flagged on one task alone; all its members are told it, whoever it is.
func TestRoots(t *testing.T) {
	t.Parallel()
	const tasks, calls = 3, 40
	r := rand.New(rand.NewPCG(1, 2))
	var lines [tasks][]string
	var want []string
	for i := range calls {
		root := r.IntN(tasks)
		if i%3 > 0 {
			root = 1 // the same for a while
		}
		want = append(want, fmt.Sprint(root))
		for task := range tasks {
			flag := ""
			if task == root {
				flag = ":50100003:1"
			}
			who := fmt.Sprintf("2:%d:1:%d:1", task+1, task+1)
			lines[task] = append(lines[task], fmt.Sprintf("%s:%d:50000002:7:50100001:8:50100002:8:50100004:1%s", who, 10*i, flag),
				fmt.Sprintf("%s:%d:50000002:0", who, 10*i+5))
		}
	}
	text := "#Paraver (x):1000_ns:1(3):1:3(1:1,1:1,1:1),1\nc:1:1:3:1:2:3\n" +
		strings.Join(slices.Concat(lines[2], lines[0], lines[1]), "\n") + "\n"
	for l, list := range events(t, open(t, text, "")) {
		var got []string
		for _, e := range strings.Split(list, "\n") {
			if _, root, ok := strings.Cut(e, "CollectiveEnd Bcast root="); ok {
				root, _, _ = strings.Cut(root, " ")
				got = append(got, root)
			} else if strings.Contains(e, "CollectiveEnd Bcast") {
				got = append(got, "0") // the root that is not written
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("task %d: roots %v, want %v", l, got, want)
		}
	}
}

// The lines of a thread are in order; those of different threads may come in any.
func TestOrderOfThreads(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var lines [3][]string
	for i := range 30 {
		for l := range 2 {
			who := fmt.Sprintf("2:%d:1:%d:1", l+1, l+1)
			lines[l] = append(lines[l], fmt.Sprintf("%s:%d:50000001:%d", who, 20*i+l, 1+l),
				fmt.Sprintf("%s:%d:42000050:%d", who, 20*i+l+2, i),
				fmt.Sprintf("%s:%d:50000001:0", who, 20*i+l+5))
		}
		lines[2] = append(lines[2], fmt.Sprintf("3:1:1:1:1:%d:%d:2:1:2:1:%d:%d:%d:3", 20*i, 20*i+5, 20*i+1, 20*i+6, i))
	}
	text := func(order []string) string { return two + strings.Join(order, "\n") + "\n" }
	want := events(t, open(t, text(slices.Concat(lines[:]...)), ""))
	for range 10 {
		rest := slices.Clone(lines[:])
		r.Shuffle(len(rest[2]), func(i, j int) { rest[2][i], rest[2][j] = rest[2][j], rest[2][i] })
		var mixed []string
		for len(rest[0])+len(rest[1])+len(rest[2]) > 0 {
			if l := r.IntN(3); len(rest[l]) > 0 {
				mixed, rest[l] = append(mixed, rest[l][0]), rest[l][1:]
			}
		}
		if got := events(t, open(t, text(mixed), "")); !slices.Equal(got, want) {
			t.Fatalf("another order of lines is\n%s\nwant\n%s", got, want)
		}
	}
}

// Ticks are the file's numbers; the unit says how long they are.
func TestUnits(t *testing.T) {
	t.Parallel()
	for unit, resolution := range map[string]uint64{"_ns": 1e9, "_us": 1e6, "_ms": 1e3, "": 1e6} {
		s := open(t, "#Paraver (x):50"+unit+":1(1):1:1(1:1)\n2:1:1:1:1:7:50000003:19\n2:1:1:1:1:9:50000003:0\n", "")
		if got := events(t, s)[0]; got != "7 Enter MPI_Comm_rank\n9 Leave MPI_Comm_rank\n" || s.Defs().Clock.Resolution != resolution {
			t.Errorf("unit %q: %d ticks in a second, events\n%s", unit, s.Defs().Clock.Resolution, got)
		}
	}
}

// Types of the user's own nest as far as they can; what crosses is in a location of its own.
func TestCrossingTypes(t *testing.T) {
	t.Parallel()
	const call = "1 Enter MPI_Comm_rank\n2 Leave MPI_Comm_rank\n"
	const labels = "EVENT_TYPE\n0 9000001 Task\nVALUES\n0 End\n1 solve\n\nEVENT_TYPE\n0 9000002 Phase\nVALUES\n0 End\n1 first\n2 second\n"
	for _, c := range []struct {
		name, lines string
		want        []string
	}{
		{"nested", "10:9000001:1 20:9000002:1 30:9000002:0 40:9000001:0",
			[]string{call + "10 Enter solve\n20 Enter first\n30 Leave first\n40 Leave solve\n"}},
		{"crossed", "10:9000001:1 20:9000002:1 30:9000001:0 40:9000002:0",
			[]string{call + "10 Enter solve\n30 Leave solve\n", "20 Enter first\n40 Leave first\n"}},
		{"crossed by a call", "10:9000001:1 20:50000003:19 30:9000001:0 40:50000003:0",
			[]string{call + "20 Enter MPI_Comm_rank\n40 Leave MPI_Comm_rank\n", "10 Enter solve\n30 Leave solve\n"}},
	} {
		text := "#Paraver (x):50_ns:1(1):1:1(1:1)\n2:1:1:1:1:1:50000003:19\n2:1:1:1:1:2:50000003:0\n"
		for _, e := range strings.Fields(c.lines) {
			text += "2:1:1:1:1:" + e + "\n"
		}
		if got := events(t, open(t, text, labels)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "--\n"), strings.Join(c.want, "--\n"))
		}
	}
}
