package jsontrace_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// openText opens a trace that is a text.
func openText(t *testing.T, text string) *jsontrace.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.json")
	tracetest.WriteFile(t, path, text)
	return open(t, path)
}

// eventsOf returns the events of each location as text, one in a line.
func eventsOf(t *testing.T, s *jsontrace.Source) (out []string) {
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

// array joins events to a trace in the array form.
func array(events ...string) string { return "[\n" + strings.Join(events, ",\n") + "\n]\n" }

// A slice is a call that is planted.
type slice struct {
	name       string
	begin, end int // µs
}

// planted returns slices that nest, the outer one before those in it, and their events in order.
func planted(r *rand.Rand, at *int, depth int) (list []slice, events string) {
	for range 1 + r.IntN(3) {
		s := slice{name: fmt.Sprintf("f%d", r.IntN(5)), begin: *at}
		*at += 1 + r.IntN(9)
		var inner []slice
		var text string
		if depth > 0 {
			inner, text = planted(r, at, depth-1)
		}
		s.end = *at
		*at += 1 + r.IntN(9)
		list = append(append(list, s), inner...)
		events += fmt.Sprintf("%d Enter %s\n%s%d Leave %s\n", 1000*s.begin, s.name, text, 1000*s.end, s.name)
	}
	return list, events
}

func complete(tid int, s slice) string {
	return fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"name":%q}`, tid, s.begin, s.end-s.begin, s.name)
}

// Slices that nest are what was planted: as X in any order, as B and E in order.
func TestPlantedSlices(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var want []string
		var whole, halves []string
		for tid := range 3 {
			at := r.IntN(5)
			list, events := planted(r, &at, 3)
			want = append(want, events)
			for _, s := range list {
				whole = append(whole, complete(tid, s))
			}
			for _, e := range strings.Split(strings.TrimSpace(events), "\n") {
				f := strings.Fields(e)
				phase := map[string]string{"Enter": "B", "Leave": "E"}[f[1]]
				halves = append(halves, fmt.Sprintf(`{"ph":%q,"pid":1,"tid":%d,"ts":%s,"name":%q}`, phase, tid, strings.TrimSuffix(f[0], "000"), f[2]))
			}
		}
		if s := openText(t, array(halves...)); !slices.Equal(eventsOf(t, s), want) || len(s.Findings()) > 0 {
			t.Fatalf("B and E are\n%s\nwant\n%s\nfound %v", eventsOf(t, s), want, s.Findings())
		}
		r.Shuffle(len(whole), func(i, j int) { whole[i], whole[j] = whole[j], whole[i] })
		if got := eventsOf(t, openText(t, array(whole...))); !slices.Equal(got, want) {
			t.Fatalf("X are\n%s\nwant\n%s", got, want)
		}
	}
}

// Slices that do not nest are all there with their begins and ends, in locations in which they do.
func TestCrossingSlices(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var want, lines []string
		for i := range 30 {
			begin := 10 * r.IntN(40)
			s := slice{fmt.Sprintf("f%d", i), begin, begin + 10*(1+r.IntN(20))}
			want, lines = append(want, fmt.Sprint(s)), append(lines, complete(1, s))
		}
		s := openText(t, array(lines...))
		var got []string
		for l := range s.Defs().Locations {
			var open []slice
			for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
				for i, kind := range b.Flow.Kind {
					name, at := s.Defs().RegionName(b.Flow.Region[i]), int(b.Flow.Time[i]/1000)
					if kind.Enters() {
						open = append(open, slice{name: name, begin: at})
						continue
					}
					last := len(open) - 1
					if last < 0 || open[last].name != name {
						t.Fatalf("location %d leaves %s in %v", l, name, open)
					}
					open[last].end = at
					got, open = append(got, fmt.Sprint(open[last])), open[:last]
				}
			}
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("slices %v, want %v", got, want)
		}
	}
}

// A slice that outlasts the one around it by 1 µs ends with it; by more, one of the two goes to a
// location of its own: the later one, or the earlier one if the later is at least twice as long.
func TestOverhang(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		begin, dur float64 // of g; f is 0 to 10 µs
		want       []string
	}{
		{5, 5, []string{"0 Enter f\n5000 Enter g\n10000 Leave g\n10000 Leave f\n"}},
		{5, 6, []string{"0 Enter f\n5000 Enter g\n10000 Leave g\n10000 Leave f\n"}},
		{5, 6.001, []string{"0 Enter f\n10000 Leave f\n", "5000 Enter g\n11001 Leave g\n"}},
		{5, 19, []string{"0 Enter f\n10000 Leave f\n", "5000 Enter g\n24000 Leave g\n"}},
		{5, 20, []string{"5000 Enter g\n25000 Leave g\n", "0 Enter f\n10000 Leave f\n"}},
		{10, 21, []string{"0 Enter f\n10000 Leave f\n10000 Enter g\n31000 Leave g\n"}},
	} {
		g := fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%v,"dur":%v,"name":"g"}`, c.begin, c.dur)
		if got := eventsOf(t, openText(t, array(complete(1, slice{"f", 0, 10}), g))); !slices.Equal(got, c.want) {
			t.Errorf("g is %v µs from %v on: %q, want %q", c.dur, c.begin, got, c.want)
		}
	}
}

// Times are rounded once, from the decimal text: half a nanosecond away from zero.
func TestDecimalTimes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	texts := []string{"0", "-0", "0.0004", "0.0005", "-0.0005", "-0.0004999", "1e-4", "5e-4", "1.5E3", "123456789012345.6785",
		"0.00049999999999999999999", "1e12"}
	for range 300 {
		text := fmt.Sprintf("%d.%0*d", r.Int64N(2e6)-1e6, 1+r.IntN(9), r.IntN(10))
		if r.IntN(3) == 0 {
			text += fmt.Sprintf("e%d", r.IntN(9)-4)
		}
		texts = append(texts, text)
	}
	var want []int64
	var lines []string
	half := big.NewRat(1, 2)
	for _, text := range texts {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		v.Mul(v, big.NewRat(1000, 1))
		sign := v.Sign()
		v.Abs(v).Add(v, half)
		want = append(want, int64(sign)*new(big.Int).Quo(v.Num(), v.Denom()).Int64())
		lines = append(lines, `{"ph":"i","pid":1,"name":"x","ts":`+text+`}`)
	}
	s := openText(t, array(lines...))
	var got []int64
	for b := range tracetest.Batches(t, s, 0) {
		got = append(got, b.Other.Time...)
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
}

// The same events are the same trace in all forms.
func TestForms(t *testing.T) {
	t.Parallel()
	at := 0
	list, want := planted(rand.New(rand.NewPCG(7, 8)), &at, 3)
	var lines []string
	for _, s := range list {
		lines = append(lines, complete(1, s))
	}
	comma, line := strings.Join(lines, ","), strings.Join(lines, "\n")
	for name, text := range map[string]string{
		"array":                 "[" + comma + "]",
		"array on lines":        array(lines...),
		"array without its end": "[\n" + strings.Join(lines, ",\n"),
		"array with a comma":    "[" + comma + ",]",
		"object":                `{"traceEvents":[` + comma + `]}`,
		"object, events last":   `{"displayTimeUnit":"ms","otherData":{"a":[1,{"ph":"X"}]},"traceEvents":[` + comma + `]}`,
		"object, events first":  `{"traceEvents":[` + comma + `],"metadata":{"traceEvents":7}}`,
		"lines":                 line,
		"byte order mark":       "\ufeff[" + comma + "]",
		"blanks":                " \t\r\n[ \n" + strings.Join(lines, " \n , ") + " ] \n",
		"CR LF":                 strings.ReplaceAll(array(lines...), "\n", "\r\n"),
	} {
		if got := eventsOf(t, openText(t, text)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// An event that cannot be used costs that event: it is noticed at its place, and all others are read.
func TestBadEventIsLeftOut(t *testing.T) {
	t.Parallel()
	const (
		before = "[\n" + `{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"f"},` + "\n"
		after  = `,` + "\n" + `{"ph":"X","pid":1,"tid":1,"ts":9,"dur":2,"name":"g"}` + "\n]\n"
	)
	want := []string{"1000 Enter f\n3000 Leave f\n9000 Enter g\n11000 Leave g\n"}
	for event, code := range map[string]trace.Code{
		`{"ph":"X","pid":1,"tid":1,"dur":2,"name":"h"}`:                    trace.CodeBadValue, // no time
		`{"ph":"X","pid":1,"tid":1,"ts":"soon","dur":2,"name":"h"}`:        trace.CodeBadValue,
		`{"ph":"X","pid":1,"tid":1,"ts":1e30,"dur":2,"name":"h"}`:          trace.CodeBadValue,
		`{"ph":"X","pid":1,"tid":1,"ts":[5],"dur":2,"name":"h"}`:           trace.CodeBadValue,
		`{"pid":1,"tid":1,"ts":5,"dur":2,"name":"h"}`:                      trace.CodeUnknownRecord,
		`{"ph":"Q","pid":1,"tid":1,"ts":5,"dur":2,"name":"h"}`:             trace.CodeUnknownRecord,
		`{"ph":"MPI_Barrier","pid":1,"tid":1,"ts":5,"dur":2,"name":"h"}`:   trace.CodeUnknownRecord,
		`{"ph":"X\u0041","pid":1,"tid":1,"ts":5,"dur":2,"name":"h"}`:       trace.CodeUnknownRecord,
		`{"ph":"C","pid":1,"tid":1,"ts":5,"name":"h","args":{}}`:           trace.CodeBadValue, // a counter of nothing
		`{"ph":"C","pid":1,"tid":1,"ts":5,"name":"h","args":{"x":"many"}}`: trace.CodeBadValue,
		`{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":"h]`:              trace.CodeCorrupt,
		`{"ph":"X","pid":1,"tid":1,"ts":5,"dur":2,"name":h"}`:              trace.CodeCorrupt,
		`{"ph":"X","pid":1,"tid":1,"ts":5,"args":[1}}`:                     trace.CodeCorrupt,
		`{"ph":"X" "pid":1}`: trace.CodeCorrupt,
		`7`:                  trace.CodeCorrupt,
	} {
		s := openText(t, before+event+after)
		if got := eventsOf(t, s); !slices.Equal(got, want) {
			t.Errorf("%s: the events are\n%s\nwant\n%s", event, got, want)
		}
		f, at := s.Findings(), int64(len(before))
		if len(f) != 1 || f[0].Code != code || f[0].Count != 1 || f[0].First.Offset < at || f[0].First.Offset > at+int64(len(event)) {
			t.Errorf("%s: found %+v, want %s at %d", event, f, code, at)
		}
	}
}

// The ends of messages are where they were planted, in whatever order the events are written.
func TestPlantedMessages(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"ph":"X","pid":0,"tid":0,"ts":0,"dur":10,"name":"MPI_Send","cat":"mpi"}`,
		`{"ph":"s","pid":0,"tid":0,"ts":5,"id":1,"name":"msg","cat":"mpi.msg","args":{"dst":2,"tag":7,"bytes":64}}`,
		`{"ph":"X","pid":1,"tid":0,"ts":1,"dur":1,"name":"idle"}`,
		`{"ph":"X","pid":2,"tid":0,"ts":1,"dur":12,"name":"MPI_Recv","cat":"mpi"}`,
		`{"ph":"f","bp":"e","pid":2,"tid":0,"ts":12,"id":1,"name":"msg","cat":"mpi.msg","args":{"src":0,"tag":7,"bytes":64}}`,
		`{"ph":"X","pid":2,"tid":0,"ts":20,"dur":4,"name":"MPI_Irecv","cat":"mpi"}`,
		`{"ph":"X","pid":2,"tid":0,"ts":30,"dur":9,"name":"MPI_Wait","cat":"mpi"}`,
		`{"ph":"f","bp":"e","pid":2,"tid":0,"ts":38,"id":2,"name":"msg","cat":"mpi.msg",` +
			`"args":{"src":1,"tag":8,"bytes":9,"req":5,"posted_ts":22}}`,
		`{"ph":"X","pid":1,"tid":0,"ts":40,"dur":3,"name":"MPI_Ssend","cat":"mpi","args":{"dst":2,"tag":8,"bytes":9}}`,
	}
	want := []string{
		"0 Enter MPI_Send\n5000 MpiSend to=2 tag=7 bytes=64\n10000 Leave MPI_Send\n",
		"1000 Enter idle\n2000 Leave idle\n40000 Enter MPI_Ssend\n40000 MpiSend to=2 tag=8 bytes=9\n43000 Leave MPI_Ssend\n",
		"1000 Enter MPI_Recv\n12000 MpiRecv from=0 tag=7 bytes=64\n13000 Leave MPI_Recv\n20000 Enter MPI_Irecv\n" +
			"22000 MpiIrecvRequest req=5\n24000 Leave MPI_Irecv\n" +
			"30000 Enter MPI_Wait\n38000 MpiIrecv from=1 tag=8 bytes=9 req=5\n39000 Leave MPI_Wait\n",
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 10 {
		if got := eventsOf(t, openText(t, array(lines...))); !slices.Equal(got, want) {
			t.Fatalf("events\n%s\nwant\n%s\nof\n%s", got, want, array(lines...))
		}
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
}
