package reduce

import (
	"strconv"
	"strings"
	"testing"

	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// planted has three ranks: 0 sends to 1, all meet in a barrier, 2 is longest in MPI, and
// computes in short calls; its file operation and what starts a kernel are short too.
const planted = `
attribute 0 correlation type=4
location 0 rank=0
  0 Enter main ; 1 Enter MPI_Init ; 2 Leave MPI_Init
  10 Enter work ; 20 Leave work
  20 Enter MPI_Send ; 21 MpiSend to=1 tag=1 bytes=8 ; 22 Leave MPI_Send
  30 Enter MPI_Iprobe ; 31 Leave MPI_Iprobe
  40 Enter MPI_Barrier ; 40 MpiCollectiveBegin ; 60 MpiCollectiveEnd op=0 ; 60 Leave MPI_Barrier
  99 Leave main
location 1 rank=1
  0 Enter main ; 1 Enter MPI_Init ; 2 Leave MPI_Init
  15 Enter MPI_Recv ; 25 MpiRecv from=0 tag=1 bytes=8 ; 25 Leave MPI_Recv
  40 Enter MPI_Barrier ; 40 MpiCollectiveBegin ; 60 MpiCollectiveEnd op=0 ; 60 Leave MPI_Barrier
  99 Leave main
location 2 rank=2
  0 Enter main ; 1 Enter MPI_Init ; 2 Leave MPI_Init
  3 Enter solve ; 4 Enter step ; 5 Leave step ; 6 Enter step ; 7 Leave step ; 28 Leave solve
  29 Enter MPI_Barrier ; 29 MpiCollectiveBegin ; 60 MpiCollectiveEnd op=0 ; 60 Leave MPI_Barrier
  70 Enter open ; 71 IoSeek 0 0 0 0 0 ; 71 Leave open
  80 Enter launch attr=0:uint64:7 ; 81 Leave launch
  99 Leave main
`

// entered returns the regions that are entered, by location.
func entered(t testing.TB, src trace.Source) string {
	t.Helper()
	var all []string
	for l := range src.Defs().Locations {
		var regions []string
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			for i, k := range b.Flow.Kind {
				if k.Enters() {
					regions = append(regions, src.Defs().RegionName(b.Flow.Region[i]))
				}
			}
		}
		all = append(all, strings.Join(regions, " "))
	}
	return strings.Join(all, "|")
}

// TestEmptyRegions states which regions of the planted run hold nothing that other rules keep, whatever the order of rules: of rank 2 those
// that operate on a file or start a kernel stay. MPI calls stay as without the rule.
func TestEmptyRegions(t *testing.T) {
	m := tracetest.MustParse(t, planted)
	tr := merged(t, m)
	for _, c := range []struct {
		rules []Rule
		want  string
	}{
		{[]Rule{Empty{}}, "main MPI_Init MPI_Send MPI_Iprobe MPI_Barrier|main MPI_Init MPI_Recv MPI_Barrier|main MPI_Init MPI_Barrier open " +
			"launch"},
		{[]Rule{Empty{}, Functions{Names: []string{"MPI_Send"}, Only: true}},
			"main MPI_Init MPI_Send|main MPI_Init MPI_Recv|main MPI_Init open launch"},
		{[]Rule{Functions{Names: []string{"MPI_Init", "MPI_Barrier"}}, Empty{}}, "main MPI_Send MPI_Iprobe|main MPI_Recv|main open launch"},
		{[]Rule{Functions{Names: []string{"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Iprobe", "MPI_Barrier"}}, Empty{}}, "||main open launch"},
	} {
		if s := entered(t, applied(t, tr, c.rules, Options{}).Source(m)); s != c.want {
			t.Errorf("%v: %s, want %s", c.rules, s, c.want)
		}
	}
}

// TestBuiltInRules states what each built-in rule leaves of the planted run, in regions that
// are entered.
func TestBuiltInRules(t *testing.T) {
	m, err := tracetest.Parse(planted)
	if err != nil {
		t.Fatal(err)
	}
	tr := merged(t, m)
	after := func(ns int64) scope.Instant { return scope.Instant{Kind: scope.AfterNs, Ns: ns} }
	for _, c := range []struct {
		rule Rule
		want string // by location
	}{
		{Window{From: after(24)}, "main MPI_Send MPI_Iprobe MPI_Barrier|main MPI_Recv MPI_Barrier|main solve MPI_Barrier open launch"},
		{Window{From: after(26), To: after(35)}, "main MPI_Iprobe MPI_Barrier|main MPI_Barrier|main solve MPI_Barrier"},
		{Window{To: after(10)}, "main MPI_Init work|main MPI_Init|main MPI_Init solve step step"},
		{Shorter{Ns: 3}, "main work MPI_Send MPI_Barrier|main MPI_Recv MPI_Barrier|main solve MPI_Barrier open launch"},
		{Shorter{Ns: 50}, "main MPI_Send MPI_Barrier|main MPI_Recv MPI_Barrier|main MPI_Barrier open launch"},
		{Idle{}, "main MPI_Init work MPI_Send MPI_Barrier|main MPI_Init MPI_Recv MPI_Barrier|main MPI_Init solve step step MPI_Barrier open " +
			"launch"},
		{Functions{Names: []string{"MPI_Send"}},
			"main MPI_Init work MPI_Send MPI_Iprobe MPI_Barrier|main MPI_Init MPI_Recv MPI_Barrier|main MPI_Init solve step step MPI_Barrier open " +
				"launch"},
		{Functions{Names: []string{"MPI_Send", "MPI_Recv"}},
			"main MPI_Init work MPI_Iprobe MPI_Barrier|main MPI_Init MPI_Barrier|main MPI_Init solve step step MPI_Barrier open launch"},
		{Functions{Names: []string{"MPI_Send"}, Only: true},
			"main MPI_Init work MPI_Send|main MPI_Init MPI_Recv|main MPI_Init solve step step open launch"},
		{Ranks{What: "ranks", Keep: []uint32{0, 2}},
			"main MPI_Init work MPI_Send MPI_Iprobe MPI_Barrier||main MPI_Init solve step step MPI_Barrier open launch"},
		{Neighbours{Rank: 1}, "main MPI_Init work MPI_Send MPI_Iprobe MPI_Barrier|main MPI_Init MPI_Recv MPI_Barrier|"},
		{Neighbours{Rank: 2}, "||main MPI_Init solve step step MPI_Barrier open launch"},
		{Slowest{N: 1}, "||main MPI_Init solve step step MPI_Barrier open launch"},
		{Slowest{N: 2}, "|main MPI_Init MPI_Recv MPI_Barrier|main MPI_Init solve step step MPI_Barrier open launch"},
	} {
		src := applied(t, tr, []Rule{c.rule}, Options{}).Source(m)
		if s := entered(t, src); s != c.want {
			t.Errorf("%s leaves\n%s, want\n%s", c.rule.Name(), s, c.want)
		}
		if by := src.Info().ReducedBy(); len(by) != 1 {
			t.Errorf("%s: the trace says that it was reduced by %q", c.rule.Name(), by)
		}
	}
}

// TestRulesTogether states that what any of several rules cuts is cut, that each is counted
// for itself, and that what is left adds up.
func TestRulesTogether(t *testing.T) {
	m, err := tracetest.Parse(planted)
	if err != nil {
		t.Fatal(err)
	}
	tr := merged(t, m)
	r := applied(t, tr, []Rule{Shorter{Ns: 3}, Ranks{What: "rank 2", Keep: []uint32{2}}, Idle{}}, Options{})
	// Short: MPI_Init of all, MPI_Iprobe, both steps: 6 calls of 2 records. Idle: MPI_Iprobe.
	want := []RuleCut{{"calls shorter than 3ns", 12}, {"rank 2", 15 + 11}, {"calls that communicate nothing", 2}}
	for i, w := range want {
		if r.ByRule[i] != w {
			t.Errorf("rule %d: %+v, want %+v", i, r.ByRule[i], w)
		}
	}
	left := merged(t, r.Source(m))
	if n := left.Coverage.EventsRead; n != r.After(tr) || n != 19-6 {
		t.Errorf("%d records are left, %d by the cuts, want 13", n, r.After(tr))
	}
	if r.Kept.Partial != 1 || r.Kept.Messages != 0 || r.Ranks[0] || !r.Ranks[2] {
		t.Errorf("%+v %v", r.Kept, r.Ranks)
	}
}

// TestCertify states which figures are compared, how, and in what order.
func TestCertify(t *testing.T) {
	type document map[string]any
	name := func(x any) string { return x.(map[string]any)["region"].(string) }
	full := document{"schema": "x", "trace": document{"duration_ns": 10, "events": 7}, "messages": document{"count": 0, "bytes": 0},
		"profile": []document{{"region": "a", "time_ns": 100, "min_rank": 3}, {"region": "b", "time_ns": 50},
			{"region": "b", "time_ns": 4}}, "shares": []float64{0.5, 0.25}}
	left := document{"schema": "x", "trace": document{"duration_ns": 10, "events": 3}, "messages": document{"count": 2, "bytes": 0},
		"profile": []document{{"region": "a", "time_ns": 90, "min_rank": 1}, {"region": "c", "time_ns": 1},
			{"region": "b", "time_ns": 50}}, "shares": []float64{0.5, 1}}
	figures, err := Certify(full, left, name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range figures {
		text := f.Metric
		for _, v := range []*float64{f.Full, f.Reduced, f.Difference} {
			if v == nil {
				text += " -"
			} else {
				text += " " + strconv.FormatFloat(*v, 'g', -1, 64)
			}
		}
		got = append(got, text)
	}
	want := []string{"messages.count 0 2 -", "profile[c].time_ns - 1 -", "shares[1] 0.25 1 3", "profile[b#2].time_ns 4 - -1",
		"profile[a].time_ns 100 90 -0.1", "messages.bytes 0 0 0", "profile[b].time_ns 50 50 0", "shares[0] 0.5 0.5 0",
		"trace.duration_ns 10 10 0"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("figures\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if e := Error(figures); e != (1+1+1+1+0.1)/8 {
		t.Errorf("error %v", e)
	}
	if e := Error(nil); e != 0 {
		t.Errorf("error %v without figures", e)
	}
}

// TestCertifySample states that sums over sampled messages are compared as what they estimate.
func TestCertifySample(t *testing.T) {
	document := func(count, late, lateCollective float64, of ...map[string]any) map[string]any {
		waits := map[string]any{"late_sender": map[string]any{"time_ns": late}, "wait_at_nxn": map[string]any{"time_ns": lateCollective}}
		return map[string]any{"trace": map[string]any{"reduced": map[string]any{"estimates": of}}, "wait_states": waits,
			"messages": map[string]any{"count": count, "sizes": []any{map[string]any{"from": 1.0, "count": count}}}}
	}
	left := document(5, 70, 70, map[string]any{"key": "messages.count", "value": 20.0},
		map[string]any{"key": "wait_states.late_sender.time_ns", "value": 280.0})
	figures, err := Certify(document(20, 280, 280), left, func(any) string { return "x" })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		if want := map[bool]float64{true: -0.75}[f.Metric == "wait_states.wait_at_nxn.time_ns"]; *f.Difference != want {
			t.Errorf("%s: difference %g, want %g", f.Metric, *f.Difference, want)
		}
	}
	if len(figures) != 4 {
		t.Errorf("%d figures", len(figures))
	}
}
