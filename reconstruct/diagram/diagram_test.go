package diagram

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/plots"
	"tracekit/samples"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/stats/waits"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func waitsOf(t testing.TB, tr *trace.Trace) waits.ByCall {
	t.Helper()
	w, err := waits.Find(context.Background(), tr, 0)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A script is a diagram in words.
type script struct {
	d     *diagram
	lines []string
}

func (s *script) Message(m plots.Message) {
	s.lines = append(s.lines, fmt.Sprintf("message %d at %d to %d at %d, %d bytes", m.From, m.Sent, m.To, m.Done, m.Bytes))
}

func (s *script) Collective(c plots.Collective) {
	var parts []string
	for i, r := range c.Ranks {
		parts = append(parts, fmt.Sprintf("%d %d-%d", r, c.Begin[i], c.End[i]))
	}
	if len(parts) > 1 { // a timeline leaves the others out
		s.lines = append(s.lines, "collective "+strings.Join(parts, ", "))
	}
}

// scriptLane is a bar in words.
type scriptLane struct {
	s     *script
	parts []string
}

func (l *scriptLane) Segment(start, end int64, category int, kind plots.Kind) {
	text := fmt.Sprintf("%d-%d %s", start, end, l.s.d.colors.categories[category].Name)
	if kind == plots.Wait {
		text = fmt.Sprintf("%d-%d wait", start, end)
	}
	l.parts = append(l.parts, text)
}

// scriptOf returns what is drawn of a trace, line by line.
func scriptOf(t *testing.T, tr *trace.Trace, o Options) []string {
	t.Helper()
	d, err := newDiagram(t.Context(), tr, waitsOf(t, tr), o)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{d: d}
	d.joins = s
	rows := make([]string, len(d.bars))
	for l := range tr.Defs.Locations {
		id := trace.LocationID(l)
		row := d.bars[id]
		if row < 0 {
			continue
		}
		lane := &scriptLane{s: s}
		if err := newBar(d, id, lane).run(tr.Source.Events(context.Background(), id)); err != nil {
			t.Fatal(err)
		}
		rows[row] = fmt.Sprintf("row %d: %s", row, strings.Join(lane.parts, ", "))
	}
	for _, r := range rows {
		if r != "" {
			s.lines = append(s.lines, r)
		}
	}
	d.join(t.Context())
	return s.lines
}

func TestDiagramsByHand(t *testing.T) {
	tracetest.Cases(t, "diagram-*.txtar", func(t *testing.T, parts map[string]string) {
		o := Options{ColorBy: ByRegion}
		clock, overheads := merge.ClockNone, ""
		for _, word := range strings.Fields(parts["options"]) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "color":
				o.ColorBy = ColorBy(value)
			case "messages":
				o.Messages = plots.NoMessages
			case "rows":
				o.Rows = Rows(value)
			case "sort":
				o.Sort = Sort(value)
			case "overhead":
				overheads = value
			case "clock":
				clock = merge.ClockMode(value)
			case "ranks":
				for _, r := range strings.Split(value, ",") {
					n, err := strconv.Atoi(r)
					if err != nil {
						t.Fatal(err)
					}
					o.Ranks = append(o.Ranks, uint32(n))
				}
			default:
				t.Fatalf("unknown option %q", key)
			}
		}
		tr := statstest.Merged(t, tracetest.MustParseSplit(t, parts["trace"]), merge.Options{Clock: clock})
		o.Overhead = overheadOf(t, tr, overheads)
		want := strings.Split(strings.TrimSpace(parts["want"]), "\n")
		if diff := cmp.Diff(want, scriptOf(t, tr, o)); diff != "" {
			t.Errorf("- is wanted, + is drawn:\n%s", diff)
		}
	})
}

// overheadOf reads overheads in ns such as 0:2:500, of a location's call; of others none is known.
func overheadOf(t *testing.T, tr *trace.Trace, text string) overhead.ByCall {
	known := make(map[[2]int]int)
	for _, word := range strings.Split(text, ",") {
		var l, call, ns int
		if _, err := fmt.Sscanf(word, "%d:%d:%d", &l, &call, &ns); err != nil && word != "" {
			t.Fatal(word, err)
		} else if word != "" {
			known[[2]int{l, call}] = ns + 1
		}
	}
	out := make(overhead.ByCall, len(tr.Calls))
	for l, calls := range tr.Calls {
		for call := range calls.Len() {
			out.Add(tr.Store, trace.LocationID(l), int64(known[[2]int{l, call}])-1)
		}
	}
	return out
}

// picture draws a trace as an SVG.
func picture(t *testing.T, tr *trace.Trace, o Options) string {
	t.Helper()
	timeline, err := Draw(context.Background(), tr, waitsOf(t, tr), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := timeline.Figure().Encode(&out, plots.SVG); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPictureDoesNotDependOnJobs(t *testing.T) {
	for _, program := range []string{"halo", "masterworker", "collectives"} {
		tr := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: program, Ranks: 8, Iterations: 30, Threads: 2}),
			merge.Options{Clock: merge.ClockAuto})
		one := picture(t, tr, Options{Jobs: 1})
		if many := picture(t, tr, Options{Jobs: 7}); one != many {
			t.Errorf("%s: the pictures of 1 and 7 jobs differ", program)
		}
	}
}

// White and hatched time and code of a random program fill its bars from the first event
// to the last, in order; the white is the time that the analysis says ranks wait.
func TestBarsOfRandomPrograms(t *testing.T) {
	for seed := range uint64(60) {
		m, _ := samples.Random(seed)
		tr := statstest.Merged(t, m, merge.Options{Clock: merge.ClockNone})
		waits := waitsOf(t, tr)
		d, err := newDiagram(t.Context(), tr, waits, Options{ColorBy: ByRegion})
		if err != nil {
			t.Fatal(err)
		}
		for l := range tr.Defs.Locations {
			id := trace.LocationID(l)
			sum := &sums{now: d.ns(tr.Span[l].First)}
			if err := newBar(d, id, sum).run(m.Events(context.Background(), id)); err != nil {
				t.Fatal(err)
			}
			var wait int64
			for i := range waits[l].Len() {
				wait += waits[l].At(i).Time
			}
			if sum.gaps || sum.now != d.ns(tr.Span[l].Last) || sum.wait != wait {
				t.Errorf("seed %d, location %d: white for %d ns until %d (gaps: %v), want %d until %d",
					seed, l, sum.wait, sum.now, sum.gaps, wait, d.ns(tr.Span[l].Last))
			}
		}
	}
}

// sums is a lane that adds up.
type sums struct {
	now, wait int64
	gaps      bool
}

func (s *sums) Segment(start, end int64, _ int, kind plots.Kind) {
	s.gaps = s.gaps || start != s.now || end <= start
	s.now = end
	if kind == plots.Wait {
		s.wait += end - start
	}
}

func TestReconstructedTimesStandOnGrey(t *testing.T) {
	src := tracetest.MustParseSplit(t, "location 0 r rank=0\n  0 Enter main ; 10 Leave main\n").(*trace.MemorySource)
	if s := picture(t, statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone}), Options{}); strings.Contains(s, "rebuilt") {
		t.Error("recorded times are called rebuilt")
	}
	src.About.Properties = map[string]string{trace.PropertyReconstructed: "true"}
	if s := picture(t, statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone}), Options{}); !strings.Contains(s, "rebuilt") {
		t.Error("the legend does not say that times are rebuilt")
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	const two = "location 0 a rank=0\n  0 Enter main ; 10 Leave main\nlocation 1 b rank=1\n"
	for _, c := range []struct {
		name, text string
		opts       Options
		want       string
	}{
		{"no ranks", "", Options{}, "no processes"},
		{"no events", "location 0 a rank=0\n", Options{}, "the same time"},
		{"unknown rank", two, Options{Ranks: []uint32{2}}, "no rank 2; it has ranks 0 to 1"},
		{"backwards", two, Options{From: scope.Instant{Kind: scope.AfterNs, Ns: 7}, To: scope.Instant{Kind: scope.AfterNs, Ns: 7}},
			"the run of 10ns has no events from 7ns to 7ns"},
	} {
		tr := statstest.Merged(t, tracetest.MustParseSplit(t, c.text), merge.Options{Clock: merge.ClockNone})
		_, err := Draw(context.Background(), tr, waitsOf(t, tr), c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// A rank without events has a bar with nothing on it; a part of the run can be drawn.
func TestPartOfARun(t *testing.T) {
	tr := statstest.Merged(t, tracetest.MustParseSplit(t, "location 0 a rank=0\n  0 Enter main ; 10 Leave main\nlocation 1 b rank=1\n"),
		merge.Options{Clock: merge.ClockNone})
	picture(t, tr, Options{From: scope.Instant{Kind: scope.Fraction, Share: 0.5}})
	if got := scriptOf(t, tr, Options{}); !cmp.Equal(got, []string{"row 0: 0-10 main", "row 1: "}) {
		t.Errorf("got %q", got)
	}
}
