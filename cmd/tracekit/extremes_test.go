package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracekit/readers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// extremes are traces whose numbers are as large as a file can make them, and what must be
// found in them.
var extremes = map[string]struct {
	text, code string
	exit       int // of commands that merge
}{
	"counters": {`
member 0 ABSENT mode=0 value=8
member 1 LARGE mode=0 value=8
member 2 RISING mode=0 value=8
member 3 COUNT mode=0 value=4
member 4 SCALED mode=0 value=4 base=1 exponent=9223372036854775807
metric 0 members=0,1,2,3,4
location 0 rank=0
  1 Enter main ; 2 Metric 0 double:NaN double:1e308 double:-1e308 uint64:18446744073709551615 uint64:1
  3 Metric 0 double:Inf double:1e308 double:1e308 uint64:18446744073709551615 uint64:1
  4 Metric 0 double:-Inf double:1e308 double:-1e308 uint64:18446744073709551615 uint64:0 ; 9 Leave main
`, "counter_overflow", exitDone},
	"bytes": {`
location 0 rank=0
  1 Enter MPI_Send ; 2 MpiSend to=1 bytes=18446744073709551615 ; 3 Leave MPI_Send
  4 Enter MPI_Send ; 5 MpiSend to=1 bytes=18446744073709551615 ; 6 Leave MPI_Send
  7 Enter MPI_Allreduce ; 8 MpiCollectiveBegin ; 9 MpiCollectiveEnd Allreduce root=none sent=18446744073709551615 received=18446744073709551615 ; 10 Leave MPI_Allreduce
location 1 rank=1
  1 Enter MPI_Recv ; 3 MpiRecv from=0 bytes=18446744073709551615 ; 4 Leave MPI_Recv
  5 Enter MPI_Recv ; 6 MpiRecv from=0 bytes=18446744073709551615 ; 6 Leave MPI_Recv
  7 Enter MPI_Allreduce ; 8 MpiCollectiveBegin ; 9 MpiCollectiveEnd Allreduce root=none sent=18446744073709551615 received=18446744073709551615 ; 10 Leave MPI_Allreduce
`, "overflow", exitDone},
	"times": {`
location 0 rank=0
  -9223372036854775000 Enter main ; 0 Enter MPI_Send ; 1 MpiSend to=1 bytes=1 ; 9223372036854775000 Leave MPI_Send ; 9223372036854775001 Leave main
location 1 rank=1
  -9223372036854775000 Enter main ; -9223372036854774000 Enter MPI_Recv ; 9223372036854774000 MpiRecv from=0 bytes=1 ; 9223372036854775000 Leave MPI_Recv ; 9223372036854775001 Leave main
location 2 rank=2
  -9223372036854775000 Enter main ; 9223372036854775001 Leave main
`, "", exitNotATrace},
	"seconds": {`
clock resolution=1
location 0 rank=0
  0 Enter main ; 1 Enter MPI_Send ; 2 MpiSend to=1 bytes=1 ; 8000000000 Leave MPI_Send ; 9000000000 Leave main
location 1 rank=1
  0 Enter main ; 1 Enter MPI_Recv ; 8000000000 MpiRecv from=0 bytes=1 ; 8000000001 Leave MPI_Recv ; 9000000000 Leave main
`, "overflow", exitDone},
	"sums": {`
location 0 rank=0
  0 Enter main ; 1 Enter MPI_Send ; 2 MpiSend to=1 bytes=1 ; 8000000000000000000 Leave MPI_Send ; 8000000000000000001 Enter MPI_Allreduce ; 8000000000000000002 MpiCollectiveBegin ; 8600000000000000000 MpiCollectiveEnd Allreduce root=none sent=1 received=1 ; 8700000000000000000 Leave MPI_Allreduce ; 9000000000000000000 Leave main
location 1 rank=1
  0 Enter main ; 1 Enter MPI_Recv ; 8000000000000000000 MpiRecv from=0 bytes=1 ; 8000000000000000001 Leave MPI_Recv ; 8000000000000000002 Enter MPI_Allreduce ; 8000000000000000003 MpiCollectiveBegin ; 8600000000000000000 MpiCollectiveEnd Allreduce root=none sent=1 received=1 ; 8700000000000000000 Leave MPI_Allreduce ; 9000000000000000000 Leave main
location 2 rank=2
  0 Enter main ; 1 Enter MPI_Allreduce ; 2 MpiCollectiveBegin ; 8600000000000000000 MpiCollectiveEnd Allreduce root=none sent=1 received=1 ; 8700000000000000000 Leave MPI_Allreduce ; 9000000000000000000 Leave main
location 3 rank=3
  0 Enter main ; 1 Enter MPI_Allreduce ; 2 MpiCollectiveBegin ; 8600000000000000000 MpiCollectiveEnd Allreduce root=none sent=1 received=1 ; 8700000000000000000 Leave MPI_Allreduce ; 9000000000000000000 Leave main
location 4 rank=4
  0 Enter main ; 8000000000000000000 Enter MPI_Allreduce ; 8000000000000000001 MpiCollectiveBegin ; 8600000000000000000 MpiCollectiveEnd Allreduce root=none sent=1 received=1 ; 8700000000000000000 Leave MPI_Allreduce ; 9000000000000000000 Leave main
`, "overflow", exitDone},
	"devices": {`
process 0 host0
process 1 gpu0 kind=2 creator=0
process 2 gpu1 kind=2 creator=0
process 3 gpu2 kind=2 creator=0
region 0 k role=40 paradigm=5
region 1 main
location 0 thread0 process=0 kind=1
  0 Enter main ; 9000000000000000000 Leave main
location 1 stream0 process=1 kind=2
  0 Enter k ; 9000000000000000000 Leave k
location 2 stream1 process=1 kind=2
  0 Enter k ; 9000000000000000000 Leave k
location 3 stream0 process=2 kind=2
  0 Enter k ; 4000000000000000000 Leave k ; 5000000000000000000 Enter k ; 9000000000000000000 Leave k
location 4 stream0 process=3 kind=2
  0 Enter k ; 8000000000000000000 Leave k
group 0 "MPI ranks" kind=4 paradigm=4 members=0
`, "overflow", exitDone},
	"offsets": {`
location 0 rank=0 offsets=0:9223372036854775807:0,1000:-9223372036854775807:0
  1 Enter MPI_Send ; 2 MpiSend to=1 bytes=8 ; 3 Leave MPI_Send ; 1000 Enter MPI_Barrier ; 1001 MpiCollectiveBegin ; 1002 MpiCollectiveEnd Barrier root=none ; 1003 Leave MPI_Barrier
location 1 rank=1 offsets=0:-9223372036854775807:0,1000:9223372036854775807:0
  1 Enter MPI_Recv ; 3 MpiRecv from=0 bytes=8 ; 4 Leave MPI_Recv ; 1000 Enter MPI_Barrier ; 1001 MpiCollectiveBegin ; 1002 MpiCollectiveEnd Barrier root=none ; 1003 Leave MPI_Barrier
`, "", exitDone},
	"no time": {`
location 0 rank=0
  7 Enter main ; 7 Enter MPI_Send ; 7 MpiSend to=1 bytes=8 ; 7 Leave MPI_Send ; 7 Enter MPI_Barrier ; 7 MpiCollectiveBegin ; 7 MpiCollectiveEnd Barrier root=none ; 7 Leave MPI_Barrier ; 7 Leave main
location 1 rank=1
  7 Enter main ; 7 Enter MPI_Recv ; 7 MpiRecv from=0 bytes=8 ; 7 Leave MPI_Recv ; 7 Enter MPI_Barrier ; 7 MpiCollectiveBegin ; 7 MpiCollectiveEnd Barrier root=none ; 7 Leave MPI_Barrier ; 7 Leave main
`, "", exitDone},
	"no events": {"location 0 rank=0\nlocation 1 rank=1\n", "", exitDone},
	"nothing":   {"", "", exitDone},
}

// negative finds times and shares below 0 in a report.
var negative = regexp.MustCompile(`\s-[0-9]`)

// TestExtremes: the largest numbers, those that are none and those that sum up to more than there
// is end no command, and no document holds a sum that turned negative; a finding says what is
// wrong.
func TestExtremes(t *testing.T) {
	dir := t.TempDir()
	for name, x := range extremes {
		t.Run(name, func(t *testing.T) {
			t.Chdir(dir)
			src := tracetest.MustParse(t, x.text)
			w, err := readers.Create(name, src.Info(), src.Defs(), readers.CreateOptions{Format: "otf2"})
			if err != nil {
				t.Fatal(err)
			}
			tracetest.Copy(t, src, w)
			for i, args := range [][]string{
				{"analyze", "--json"}, {"analyze"}, {"analyze", "-o", name + ".d"}, {"info", "--counts", "--json"}, {"info", "--counts"},
				{"fit", "--json"}, {"fit"}, {"spacetime", "--json", "-o", name + ".svg"}, {"formulae", "--json"}, {"formulae"},
				{"compare", "--json", name}, {"compare", "-o", name + ".c", name}, {"compress", "--json", "-o", name + ".tkf"},
				{"compress", "--json", "--mode", "stat", "-o", name + "s.tkf"}, {"analyze", "--json", "--clock", "clc"},
			} {
				stdout, stderr, code := tracekit(t, dir, append(args, name)...)
				want := exitDone
				switch merges := !slices.Contains([]string{"info", "compress"}, args[0]) || slices.Contains(args, "stat"); {
				case args[0] == "spacetime" && strings.HasPrefix(name, "no"): // there is nothing to draw
					want = exitFailed
				case merges:
					want = x.exit
				}
				if code != want {
					t.Errorf("%q: exit code %d, %s", args, code, stderr)
				}
				if code != exitDone {
					continue
				}
				if i == 0 && x.code != "" && !strings.Contains(stdout, fmt.Sprintf("%q", x.code)) {
					t.Errorf("no finding of %s", x.code)
				}
				if strings.Contains(strings.Join(args, " "), "json") {
					checkNumbers(t, args, stdout)
				} else if strings.Contains(stdout, "+Inf") || args[0] == "analyze" && negative.MatchString(stdout) {
					t.Errorf("%q: %s", args, stdout)
				}
			}
		})
	}
}

// TestWithinANanosecond: a run that lasts less than a nanosecond has shares and rates of nothing: no command ends for them, and none
// prints what is no number.
func TestWithinANanosecond(t *testing.T) {
	halo, err := readers.Open(t.Context(), sampleArchive(t, "halo2d-8"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer halo.Close()
	dir := t.TempDir()
	t.Chdir(dir)
	device := tracetest.MustParse(t, `
process 0 host0
process 1 gpu0 kind=2 creator=0
region 0 k role=40 paradigm=5
location 0 thread0 process=0 kind=1
  1000 Enter main ; 1300 Leave main
location 1 stream0 process=1 kind=2
  1000 Enter k ; 1100 Leave k ; 1200 Enter k ; 1300 Leave k
group 0 "MPI ranks" kind=4 paradigm=4 members=0
`)
	for name, src := range map[string]trace.Source{"halo": halo, "device": device} {
		defs := *src.Defs()
		defs.Clock.Resolution = 1e12
		if name == "halo" {
			defs.Clock.Resolution = 1e18
		}
		w, err := readers.Create(name, src.Info(), &defs, readers.CreateOptions{Format: "otf2"})
		if err != nil {
			t.Fatal(err)
		}
		tracetest.Copy(t, src, w)
		for _, args := range [][]string{
			{"analyze"}, {"analyze", "--from", "10%"}, {"analyze", "-o", name + ".d", "--force"}, {"report", "-o", name + ".html", "--force"},
			{"whatif", "--gains", "--slack"}, {"whatif", "--balance", "main"}, {"whatif", "--network", "latency=1us,bandwidth=25GB"},
			{"compare", name}, {"scaling", name}, {"fit"}, {"formulae"}, {"info", "--counts"},
		} {
			if name == "device" && args[0] == "whatif" && args[1] == "--network" {
				continue // there is no message
			}
			for _, form := range []string{"--quiet", "--json"} {
				stdout, stderr, code := tracekit(t, dir, append(append(args, form), name)...)
				if code != exitDone {
					t.Errorf("%q %s: exit code %d, %s", args, form, code, stderr)
				}
				if noNumber.MatchString(stdout) {
					t.Errorf("%q %s: %s", args, form, stdout)
				}
			}
		}
	}
}

// noNumber finds what prints a number that is none.
var noNumber = regexp.MustCompile(`\bNaN\b|[+-]Inf\b`)

// checkNumbers states that a document is JSON and that no sum in it is negative.
func checkNumbers(t *testing.T, args []string, text string) {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Errorf("%q: %v", args, err)
		return
	}
	var walk func(at string, node any)
	walk = func(at string, node any) {
		switch n := node.(type) {
		case map[string]any:
			for key, v := range n {
				walk(at+"."+key, v)
			}
		case []any:
			for _, v := range n {
				walk(at+"[]", v)
			}
		case float64:
			sum := false
			for _, s := range []string{"_ns", "count", "bytes", "calls", "share", "efficiency"} {
				sum = sum || strings.HasSuffix(at, s)
			}
			signed := strings.HasSuffix(at, "start_ns") || strings.HasSuffix(at, "end_ns") || strings.HasSuffix(at, "from_ns")
			if n < 0 && sum && !signed {
				t.Errorf("%q: %s is %v", args, at, n)
			}
		}
	}
	walk("", document)
}
