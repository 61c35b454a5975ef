package headers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/analysis"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/stats/studies/headers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// made analyses a trace and makes its profile.
func made(t testing.TB, src trace.Source, m merge.Options, o analysis.Options, h headers.Options) (*trace.Trace, *analysis.Result,
	*headers.Profile) {
	t.Helper()
	tr, a := statstest.Analyzed(t, src, m, o)
	if h.Layout == 0 {
		h.Layout = headers.Layout92
	}
	p, err := headers.Make(context.Background(), tr, a, h)
	if err != nil {
		t.Fatal(err)
	}
	return tr, a, p
}

func total(rows []headers.MetricRow) (sum int64) {
	for _, r := range rows {
		sum += r.TimeNs
	}
	return sum
}

// balanced checks what must hold of a profile of a whole run: the host's view is the time of
// the ranks, the path is as long as the critical path, and a header that knows the time of
// transfers has the time of its rank.
func balanced(t *testing.T, name string, tr *trace.Trace, a *analysis.Result, p *headers.Profile, exact bool) {
	t.Helper()
	first, last := scope.Run(tr)
	var ranks int64
	for _, l := range tr.World {
		ranks += tr.Span[l].Last - first
	}
	if got := total(p.Host); got != ranks {
		t.Errorf("%s: hosts have %d ns, ranks have run for %d", name, got, ranks)
	}
	if got := total(p.Message); got != last-first || p.Path.LengthNs != last-first {
		t.Errorf("%s: the path has %d ns, the critical path %d, the run %d", name, got, p.Path.LengthNs, last-first)
	}
	onPath := make(map[string]int64)
	for _, m := range p.Message {
		onPath[m.Metric] = m.TimeNs
	}
	transfers, calls, missing := int64(0), int64(0), int64(0)
	for _, x := range p.Beyond.Parts {
		transfers, calls = transfers+x.TransfersNs, calls+x.CallsNs
		want := x.TransfersNs
		if x.Metric != "unexplained" { // of calls it stays overhead
			want += x.CallsNs
		} else {
			missing = x.TransfersNs
		}
		if x.TransfersNs < 0 || x.CallsNs < 0 || onPath[x.Metric] != want {
			t.Errorf("%s: parts %+v, %d on the path", name, x, onPath[x.Metric])
		}
	}
	for _, m := range p.Beyond.Missing {
		missing -= m.TimeNs
	}
	if transfers != p.Beyond.TransfersNs || calls != p.Beyond.CallsNs || missing != 0 {
		t.Errorf("%s: parts of %+v do not add up", name, p.Beyond)
	}
	for _, s := range p.Sizes {
		if total(s.Host) < 0 || total(s.Message) < 0 || s.From >= s.To {
			t.Errorf("%s: sizes %+v", name, s)
		}
	}
	for _, r := range p.Ranks {
		if want := tr.Span[tr.World[r.Rank]].Last - first; exact && r.TotalNs != want {
			t.Errorf("%s: the header of rank %d has %d ns, it has run for %d", name, r.Rank, r.TotalNs, want)
		}
		sum := r.OtherNs
		for i, c := range r.Counters {
			if sum += c.TimeNs; i > 0 && c.TimeNs > r.Counters[i-1].TimeNs {
				t.Errorf("%s: counters of rank %d do not descend: %v", name, r.Rank, r.Counters)
			}
		}
		if sum != r.TotalNs {
			t.Errorf("%s: counters of rank %d have %d ns together, their total is %d", name, r.Rank, sum, r.TotalNs)
		}
	}
}

// computesWhere checks that the path computes where the critical path does, if no wait is left
// on it.
func computesWhere(t *testing.T, name string, a *analysis.Result, p *headers.Profile) {
	t.Helper()
	onPath := make(map[string]int64)
	for _, r := range a.CriticalPath.Regions {
		if r.Operation == "" && r.Region[0] != '(' {
			onPath["compute: "+string(r.Region)] += r.TimeNs
		}
	}
	waits := false
	for _, m := range p.Message {
		waits = waits || m.Metric == "wait"
	}
	for _, m := range p.Message {
		if strings.HasPrefix(m.Metric, "compute: ") && !waits && m.TimeNs != onPath[m.Metric] {
			t.Errorf("%s: %s has %d ns on the path, %d on the critical path", name, m.Metric, m.TimeNs, onPath[m.Metric])
		}
	}
}

// TestRandomPrograms: invariants hold on small programs of all kinds of calls, with the model's
// transfers and with the trace's.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(300) {
		m, _ := samples.Random(seed)
		for _, exact := range []bool{false, true} {
			tr, a, p := made(t, &m.MemorySource, merge.Options{Clock: merge.ClockNone}, analysis.Options{}, headers.Options{Exact: exact})
			balanced(t, fmt.Sprint("seed ", seed, " exact ", exact), tr, a, p, exact)
			computesWhere(t, fmt.Sprint("seed ", seed), a, p)
			if p.Path.Unmerged > 0 {
				t.Errorf("seed %d: %d waits ended before their cause was met", seed, p.Path.Unmerged)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// TestPrograms: invariants hold on all sample programs, with clocks that are repaired, and
// neither jobs nor memory nor a second run show in the document.
func TestPrograms(t *testing.T) {
	for _, program := range samples.Programs() {
		src := statstest.Generated(t, samples.Options{Program: program.Name, Ranks: 6, Iterations: 30, Bytes: 9000, Seed: 5,
			Plant: samples.Plant{LateSender: 5000, LateReceiver: 3000, EarlyReduce: 700, LateBroadcast: 300, Imbalance: 2000, CriticalPath: 900}})
		var want []byte
		for i, m := range []merge.Options{{Jobs: 1}, {Jobs: 4}, {Jobs: 2, Store: spill.NewStore(1<<20, t.TempDir())}} {
			tr, a, p := made(t, src, m, analysis.Options{Jobs: m.Jobs}, headers.Options{Jobs: m.Jobs, Exact: true})
			balanced(t, program.Name, tr, a, p, true)
			computesWhere(t, program.Name, a, p)
			got, err := json.MarshalIndent(p, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: with %d jobs another document", program.Name, m.Jobs)
			}
		}
	}
}

// TestCancelled: a cancelled profile is an error.
func TestCancelled(t *testing.T) {
	tr, a, _ := made(t, statstest.Generated(t, samples.Options{Program: "ring", Ranks: 4, Iterations: 10}), merge.Options{},
		analysis.Options{}, headers.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := headers.Make(ctx, tr, a, headers.Options{Layout: headers.Layout92}); err == nil {
		t.Error("no error")
	}
}

var _ = tracetest.MustParse
