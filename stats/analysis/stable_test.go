package analysis_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// documentOf analyses a trace and returns the JSON document.
func documentOf(t *testing.T, src trace.Source, m merge.Options, o analysis.Options) []byte {
	t.Helper()
	tr, err := merge.Merge(context.Background(), src, m)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	a, err := analysis.Analyze(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSameBytes checks that neither the number of jobs nor the memory for tables, which
// decides what lies in temporary files, shows in the document.
func TestSameBytes(t *testing.T) {
	for _, program := range []string{"halo", "masterworker", "collectives"} {
		src, _ := generated(t, samples.Options{Program: program, Ranks: 6, Threads: 2, Iterations: 30, Seed: 9,
			Plant: samples.Plant{LateSender: 5000, WrongOrder: 7000, Lost: 3, Skew: 3000, Drift: 20, Offsets: samples.OffsetsWrong}})
		want := documentOf(t, src, merge.Options{Jobs: 1}, analysis.Options{Jobs: 1})
		for name, got := range map[string][]byte{
			"again":        documentOf(t, src, merge.Options{Jobs: 1}, analysis.Options{Jobs: 1}),
			"four jobs":    documentOf(t, src, merge.Options{Jobs: 4}, analysis.Options{Jobs: 4}),
			"little space": documentOf(t, src, merge.Options{Jobs: 2, Store: spill.NewStore(2<<20, t.TempDir())}, analysis.Options{Jobs: 2}),
		} {
			if !bytes.Equal(want, got) {
				t.Errorf("%s, %s: the document differs:\n%s", program, name, firstDifference(want, got))
			}
		}
	}
}

func firstDifference(a, b []byte) []byte {
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(la), len(lb)) {
		if !bytes.Equal(la[i], lb[i]) {
			return append(append(la[i], " / "...), lb[i]...)
		}
	}
	return nil
}

// TestWholeSelection checks that selecting everything gives what selecting nothing gives.
func TestWholeSelection(t *testing.T) {
	src, _ := generated(t, samples.Options{Program: "multigrid", Ranks: 4, Iterations: 5, Seed: 2, Plant: samples.Plant{LateSender: 400}})
	tr, whole := analyzed(t, src, merge.ClockNone, analysis.Options{})
	all, err := analysis.Analyze(context.Background(), tr,
		analysis.Options{Ranks: []uint32{3, 1, 0, 2}, To: scope.Instant{Kind: scope.Fraction, Share: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if s := all.Selection; s == nil || len(s.Ranks) != 4 || s.FromNs != whole.Trace.StartNs || s.ToNs != whole.Trace.EndNs {
		t.Errorf("selection is %+v", s)
	}
	all.Selection = nil
	want, _ := json.Marshal(whole)
	if got, _ := json.Marshal(all); !bytes.Equal(want, got) {
		t.Errorf("everything selected: %s", firstDifference(bytes.ReplaceAll(want, []byte(","), []byte("\n")),
			bytes.ReplaceAll(got, []byte(","), []byte("\n"))))
	}
}

// TestSelectionsAddUp checks that the parts of a run sum to the run.
func TestSelectionsAddUp(t *testing.T) {
	src, truth := generated(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 9, Seed: 2,
		Plant: samples.Plant{LateSender: 4000, LateReceiver: 300}})
	tr, whole := analyzed(t, src, merge.ClockNone, analysis.Options{})
	bounds := []float64{0, 0.1, 0.35, 0.5, 0.9, 1}
	sum := make(map[string]int64)
	for i := range len(bounds) - 1 {
		part, err := analysis.Analyze(context.Background(), tr, analysis.Options{
			From: scope.Instant{Kind: scope.Fraction, Share: bounds[i]}, To: scope.Instant{Kind: scope.Fraction, Share: bounds[i+1]}})
		if err != nil {
			t.Fatal(err)
		}
		addTimes(sum, part)
	}
	want := make(map[string]int64)
	addTimes(want, whole)
	for key, w := range want {
		if sum[key] != w {
			t.Errorf("%s: the parts sum to %d, the whole is %d", key, sum[key], w)
		}
	}
	ranks := make(map[string]int64)
	for r := range uint32(4) {
		part, err := analysis.Analyze(context.Background(), tr, analysis.Options{Ranks: []uint32{r}})
		if err != nil {
			t.Fatal(err)
		}
		if part.Messages.Count != 0 || part.Messages.UnmatchedSends+part.Messages.UnmatchedReceives != 0 {
			t.Errorf("rank %d alone has messages %+v", r, part.Messages)
		}
		ranks["outside"] += int64(part.Messages.OutsideSelection)
		addTimes(ranks, part)
	}
	if ranks["outside"] != 2*int64(truth.Messages) {
		t.Errorf("%d ends of messages outside, there are %d messages", ranks["outside"], truth.Messages)
	}
	for key, w := range want {
		if key != "path" && key != "length" && ranks[key] != w {
			t.Errorf("%s: the ranks sum to %d, the whole is %d", key, ranks[key], w)
		}
	}
}

// addTimes adds the times of an analysis by name.
func addTimes(sum map[string]int64, a *analysis.Result) {
	for _, r := range a.Profile {
		sum["profile "+r.Region] += r.ExclusiveNs
	}
	for _, w := range namedWaits(a.WaitStates) {
		sum[w.name] += w.state.TimeNs
	}
	for _, c := range a.Collectives {
		sum[c.Operation+" skew"] += c.SkewNs
		sum[c.Operation+" completion"] += c.CompletionNs
	}
	for _, u := range a.Efficiency.UsefulNs {
		sum["useful"] += u
	}
	for _, r := range a.CriticalPath.Regions {
		sum["path"] += r.TimeNs
	}
	sum["length"] += a.CriticalPath.LengthNs
}

// TestRefusesNonsense checks the options that make no sense.
func TestRefusesNonsense(t *testing.T) {
	src, _ := generated(t, samples.Options{Program: "ring", Ranks: 2, Iterations: 1})
	tr, _ := analyzed(t, src, merge.ClockNone, analysis.Options{})
	for _, c := range []struct {
		options analysis.Options
		want    string
	}{
		{analysis.Options{Ranks: []uint32{0, 2}}, "selecting ranks: the trace has no rank 2; it has ranks 0 to 1"},
		{analysis.Options{From: scope.Instant{Kind: scope.AfterNs, Ns: 2000}, To: scope.Instant{Kind: scope.AfterNs, Ns: 1000}},
			"the selection ends before it begins; check --from and --to"},
		{analysis.Options{From: scope.Instant{Kind: scope.AfterNs, Ns: 3_000_000_000}},
			"the selection begins at 3s, but the run ends at 17.479µs"},
	} {
		if _, err := analysis.Analyze(context.Background(), tr, c.options); err == nil || err.Error() != c.want {
			t.Errorf("%+v: error %v, want %q", c.options, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := analysis.Analyze(ctx, tr, analysis.Options{}); err == nil {
		t.Error("a cancelled analysis has a result")
	}
}

// TestNothing checks traces without ranks, events or locations.
func TestNothing(t *testing.T) {
	for _, text := range []string{"", "location 0 lonely kind=2\n", "location 0 rank0 rank=0\nlocation 1 rank1 rank=1\n",
		"location 0 metrics kind=3\n 5 Enter x ; 9 Leave x\n"} {
		src := tracetest.MustParse(t, text)
		tr, a := analyzed(t, src, merge.ClockAuto, analysis.Options{})
		conserved(t, tr, a)
		if doc, err := json.Marshal(a); err != nil {
			t.Errorf("%q: %v\n%s", text, err, doc)
		}
	}
}
