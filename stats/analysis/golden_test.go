package analysis_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tracekit/document"
	"tracekit/document/counter"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/scope"
	"tracekit/trace/tracetest"
)

// TestGoldens runs the hand-worked cases of testdata. The arithmetic stands in each file.
// A case wants some kinds of lines; of these kinds it wants all.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			parts := parts(t, file)
			src := tracetest.MustParse(t, parts["trace"])
			tr, a := analyzed(t, src, merge.ClockNone, goldenOptions(t, parts["options"]))
			if parts["options"] == "" {
				conserved(t, tr, a)
			}
			want := strings.TrimSpace(parts["want"])
			if diff := cmp.Diff(strings.Split(want, "\n"), linesLike(want, brief(a))); diff != "" {
				t.Errorf("- is wanted, + is found:\n%s", diff)
			}
		})
	}
}

func parts(t *testing.T, file string) map[string]string {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string)
	for _, f := range a.Files {
		parts[f.Name] = string(f.Data)
	}
	return parts
}

// goldenOptions reads "ranks=1 from=20 to=60".
func goldenOptions(t *testing.T, text string) analysis.Options {
	var o analysis.Options
	for _, word := range strings.Fields(text) {
		var n int64
		key, value, _ := strings.Cut(word, "=")
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatal(word, err)
		}
		switch key {
		case "ranks":
			o.Ranks = append(o.Ranks, uint32(n))
		case "from":
			o.From = scope.Instant{Kind: scope.AfterNs, Ns: n}
		case "to":
			o.To = scope.Instant{Kind: scope.AfterNs, Ns: n}
		}
	}
	return o
}

// linesLike returns the lines that begin with a word with which some wanted line begins.
func linesLike(want, found string) []string {
	wanted := make(map[string]bool)
	for line := range strings.Lines(want) {
		wanted[strings.Fields(line)[0]] = true
	}
	var out []string
	for line := range strings.Lines(found) {
		if wanted[strings.Fields(line)[0]] {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// brief writes an analysis in lines, a word for the kind of line first. Ratios of integers
// are written as such, to be compared without rounding.
func brief(a *analysis.Result) string {
	var b bytes.Buffer
	for _, w := range namedWaits(a.WaitStates) {
		if w.state.Count > 0 {
			top := w.state.Top[0]
			fmt.Fprintf(&b, "wait %s %d %d : %s in %s, rank %d at %d for %d\n", w.name, w.state.Count, w.state.TimeNs, top.Operation, top.Region,
				top.Rank, top.StartNs, top.TimeNs)
		}
	}
	briefDelays(&b, a)
	for i := range a.Path.Len() {
		s := a.Path.At(i)
		fmt.Fprintf(&b, "path %d..%d location %d\n", s.FromNs, s.ToNs, s.Location)
	}
	for _, r := range a.CriticalPath.Regions {
		operation := string(r.Operation)
		if operation == "" {
			operation = "-"
		}
		fmt.Fprintf(&b, "critical %s %d imbalance %d\n", strings.TrimSpace(string(r.Region)+" "+operation), r.TimeNs, r.ImbalanceNs)
	}
	e := a.Efficiency
	if e == nil {
		e = new(document.Efficiency)
		fmt.Fprintln(&b, "no MPI")
	} else {
		briefRatios(&b, "", &e.Ratios)
	}
	if r := e.WithoutInitFinalize; r != nil {
		briefRatios(&b, "without ", r)
	}
	if w := e.WorkerThreads; w != nil {
		fmt.Fprintf(&b, "workers %d useful %d span %d min %d (%d) max %d (%d)\n", w.Threads, w.UsefulNs, w.SpanNs, w.Min.TimeNs, w.Min.Rank,
			w.Max.TimeNs, w.Max.Rank)
	}
	briefProfile(&b, a)
	briefThreads(&b, a.Threads)
	if p := a.Phases; p != nil {
		fmt.Fprintf(&b, "phases %s every %d: %d of %d %d %d, %d far\n", p.Operation, p.Every, p.Count, p.Period.Min, p.Period.P50, p.Period.Max,
			p.Outliers)
		for _, r := range p.Rows {
			fmt.Fprintf(&b, "phase %d from %d to %d lasts %d parallel %.6g load %.6g communication %.6g\n", r.Phase, r.FromNs, r.ToNs, r.DurationNs,
				*r.ParallelEfficiency, *r.LoadBalance, *r.CommunicationEfficiency)
		}
	}
	m := a.Messages
	fmt.Fprintf(&b, "messages %d bytes %d", m.Count, m.Bytes)
	if m.OutsideSelection > 0 {
		fmt.Fprintf(&b, " outside %d", m.OutsideSelection)
	}
	if l := m.Latency; l != nil {
		fmt.Fprintf(&b, " latency %d %d %d", l.Min, l.Mean, l.Max)
	}
	b.WriteByte('\n')
	for _, f := range a.Findings {
		fmt.Fprintf(&b, "finding %s %d\n", f.Code, f.Count)
	}
	return b.String()
}

type namedWait struct {
	name  string
	state waitstate.State
}

func namedWaits(w *waitstate.States) (list []namedWait) {
	for k, state := range w.All {
		list = append(list, namedWait{k.Info().Key, *state})
	}
	return list
}

// briefDelays writes what the waits of each state are caused by, and what they cause.
func briefDelays(b *bytes.Buffer, a *analysis.Result) {
	for k, w := range a.WaitStates.All {
		if t := a.DelayTotals[k]; t != (waitstate.DelayTotal{}) {
			fmt.Fprintf(b, "caused %s direct %d indirect %d propagating %d terminal %d short %d long %d unexplained %d\n", k.Info().Key,
				w.DirectNs, w.IndirectNs, w.PropagatingNs, w.TerminalNs, t.ShortNs, t.LongNs, t.UnexplainedNs)
		}
	}
	for _, d := range a.Delays {
		fmt.Fprintf(b, "delay %s short %d long %d on", strings.TrimSpace(string(d.Region)+" "+string(d.Operation)), d.ShortNs, d.LongNs)
		for _, r := range d.Ranks {
			fmt.Fprintf(b, " %d:%d", r.Rank, r.TimeNs)
		}
		b.WriteByte('\n')
		fmt.Fprintf(b, "longest %s : %s in %s %d\n", d.Region, d.Longest.Operation, d.Longest.Region, d.Longest.TimeNs)
	}
}

func briefRatios(b *bytes.Buffer, prefix string, r *document.Ratios) {
	fmt.Fprintf(b, "%srun %d", prefix, r.RuntimeNs)
	if r.ZeroCostRuntimeNs != nil {
		fmt.Fprintf(b, " ideal %d", *r.ZeroCostRuntimeNs)
	}
	fmt.Fprint(b, " useful")
	var sum, longest int64
	for _, u := range r.UsefulNs {
		fmt.Fprintf(b, " %d", u)
		sum, longest = sum+u, max(longest, u)
	}
	fmt.Fprintf(b, "\n%sparallel", prefix)
	n := int64(len(r.UsefulNs))
	fraction(b, "", r.ParallelEfficiency, sum, n*r.RuntimeNs)
	fraction(b, " load", r.LoadBalance, sum, n*longest)
	fraction(b, " communication", r.CommunicationEfficiency, longest, r.RuntimeNs)
	if r.ZeroCostRuntimeNs != nil {
		fraction(b, " serialization", r.SerializationEfficiency, longest, *r.ZeroCostRuntimeNs)
		fraction(b, " transfer", r.TransferEfficiency, *r.ZeroCostRuntimeNs, r.RuntimeNs)
	}
	fmt.Fprintln(b)
}

func fraction(b *bytes.Buffer, name string, ratio *float64, above, below int64) {
	switch {
	case ratio == nil:
		fmt.Fprintf(b, "%s undefined", name)
	case *ratio != float64(above)/float64(below):
		fmt.Fprintf(b, "%s %v instead of %d/%d", name, *ratio, above, below)
	default:
		fmt.Fprintf(b, "%s %d/%d", name, above, below)
	}
}

func briefProfile(b *bytes.Buffer, a *analysis.Result) {
	for _, r := range a.Profile {
		fmt.Fprintf(b, "profile %s %d inclusive %d exclusive %d min %d (%d) max %d (%d) mean %d\n", r.Region, r.Count, r.InclusiveNs,
			r.ExclusiveNs, r.MinNs, int32(r.MinRank), r.MaxNs, int32(r.MaxRank), r.MeanNs)
		for _, c := range r.Counters {
			fmt.Fprintf(b, "counter %s %s %s %d", r.Region, c.Name, c.Unit, c.Samples)
			switch {
			case c.Sum != nil:
				fmt.Fprintf(b, " sum %v\n", *c.Sum)
			case c.Mean == nil:
				fmt.Fprintf(b, " sum unknown\n")
			default:
				fmt.Fprintf(b, " mean %v from %v to %v\n", *c.Mean, *c.Min, *c.Max)
			}
		}
	}
	if a.Counters != nil {
		briefCounters(b, "all", a.Counters.Totals)
		for _, r := range a.Counters.Ranks {
			briefCounters(b, fmt.Sprint(r.Rank), r.Totals)
		}
	}
	parent := make(map[field.Path]document.CallPathRow)
	for _, r := range a.CallPaths {
		parent[r.ID] = r
	}
	for _, r := range a.CallPaths {
		path := r.Region
		for up, ok := parent[r.Parent]; ok; up, ok = parent[up.Parent] {
			path = up.Region + "/" + path
		}
		fmt.Fprintf(b, "callpath %s %d inclusive %d exclusive %d\n", path, r.Count, r.InclusiveNs, r.ExclusiveNs)
	}
	for _, r := range a.CallSites {
		fmt.Fprintf(b, "callsite %s %s %d time %d min %d (%d) max %d (%d) mean %d p50 %d p99 %d bytes %d\n", r.Operation, r.Region, r.Calls,
			r.TimeNs,
			r.MinNs, r.MinRank, r.MaxNs, r.MaxRank, r.MeanNs, r.P50Ns, r.P99Ns, r.Bytes)
	}
}

func briefCounters(b *bytes.Buffer, of string, c counter.Totals) {
	fmt.Fprintf(b, "useful-counters %s time %d", of, c.UsefulNs)
	for _, v := range []struct {
		name  string
		value *float64
	}{{"instructions", c.Instructions}, {"cycles", c.Cycles}, {"ipc", c.IPC}, {"GHz", c.FrequencyGHz}} {
		if v.value != nil {
			fmt.Fprintf(b, " %s %v", v.name, *v.value)
		}
	}
	fmt.Fprintln(b)
}

func briefThreads(b *bytes.Buffer, t *document.Threads) {
	if t == nil {
		return
	}
	ratio := func(name string, x *float64) {
		if x != nil {
			fmt.Fprintf(b, " %s %.6g", name, *x)
		}
	}
	e := t.Efficiency
	fmt.Fprintf(b, "efficiency of %d threads:", t.Threads)
	ratio("parallel", e.Parallel)
	ratio("process", e.Process)
	ratio("thread", e.Thread)
	ratio("region", e.Region)
	ratio("serial", e.Serial)
	ratio("master", e.Master)
	fmt.Fprintf(b, "\nteams regions %d parallel %d idle %d unpaired %d\n", t.ParallelRegions, t.ParallelNs, t.IdleNs, t.UnpairedBarriers)
	for _, r := range t.Rows {
		fmt.Fprintf(b, "thread %d.%d useful %d MPI %d barrier %d waiting %d scheduling %d idle %d measurement %d\n", r.Rank, r.Thread,
			r.UsefulNs, r.CommunicationNs, r.BarrierNs, r.WaitingNs, r.SchedulingNs, r.IdleNs, r.MeasurementNs)
	}
}
