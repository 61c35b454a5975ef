package reduce

import (
	"maps"
	"os"
	"strings"
	"testing"

	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// callsOf counts the outermost MPI calls of a trace by name.
func callsOf(t testing.TB, src trace.Source) map[string]int {
	t.Helper()
	out := make(map[string]int)
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			for i, k := range b.Flow.Kind {
				if name := src.Defs().RegionName(b.Flow.Region[i]); k.Enters() && strings.HasPrefix(name, "MPI_") {
					out[name]++
				}
			}
		}
	}
	return out
}

// TestFaultyRules states that rules which run for ever, or take ever more memory, end with an error that names the place,
// and so do those that are wrong.
func TestFaultyRules(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 2, Iterations: 3})
	tr := merged(t, m)
	for name, c := range map[string]struct{ source, want string }{
		"endless loop": {"def trace_event(id):\n  while True:\n    x = len(id)\n", "it takes too long"},
		"endless recursion": {"def f(n):\n  return f(n)\ndef trace_event(id):\n  return f(1)\n",
			"r.star:2:10: function f called recursively"},
		"endless at once": {"x = [i for i in range(1000000) for j in range(1000000)]\n", "it takes too long"},
		"long text":       {"def trace_event(id):\n  return 'x' * (1 << 40)\n", "r.star:2:14: repeat count 1099511627776 too large"},
		"doubled list": {"def trace_event(id):\n  l = [1]\n  for i in range(60):\n    l += l\n  return True\n",
			": it takes too much memory"},
		"doubled text": {"def trace_event(id):\n  l = 'x'\n  for i in range(60):\n    l = l + l\n  return True\n",
			"it takes too much memory"},
		"kept": {"l = []\ndef trace_event(id):\n  while True:\n    l.append('x' * 40000 + str(len(l)))\n",
			"it takes too much memory"},
		"copied": {"def trace_event(id):\n  l = []\n  while True:\n    l.append(list(range(60000)))\n",
			"it takes too much memory"},
		"load":        {"load('other.star', 'x')\n", "a rule cannot load files"},
		"print":       {"print('x')\n", "r.star:1:6: print has no place in a rule"},
		"syntax":      {"def trace_event(id):\n  return (\n", "r.star:3:1: got"},
		"unknown":     {"def trace_event(id):\n  return get_mpi_count(id)\n", "r.star:2:10: undefined: get_mpi_count"},
		"no function": {"x = 1\n", "it defines none"},
		"parameters":  {"def trace_event(id, x):\n  return True\n", "r.star:1:1: trace_event has 2 parameters, want 1"},
		"none":        {"def trace_event(id):\n  pass\n", "r.star:1:1: trace_event returns None for MPI_Init"},
		"no text":     {"def output_text():\n  return 3\n", "r.star:1:1: output_text returns a int"},
		"future":      {"def trace_event(id):\n  return get_allresults()\n", "r.star:2:24: get_allresults is available only"},
		"deep source": {"x = " + strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000), "excessive nesting"},
		"misspelled":  {"def trace_evnt(id):\n  return False\n", "r.star:1:5: nothing calls trace_evnt; did you mean trace_event?"},
		"uncalled": {"def output_text():\n  return text\ntext = 'x'\ndef rank_of_trace(r):\n  return r\n",
			"r.star:4:5: nothing calls rank_of_trace; did you mean output_trace?"},
		"counter": {"def trace_event(id):\n  return get_counter('x')\n", "r.star:2:21: the trace has no counters"},
		"failed":  {"fail('no', 3)\n", "r.star:1:5: fail: no 3"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewScript("r.star", []byte(c.source), ScriptOptions{})
			if err == nil {
				s.growth = 16 << 20
				_, err = Apply(t.Context(), tr, []Rule{s}, Options{Jobs: 1})
			}
			if err == nil || !strings.HasPrefix(err.Error(), "r.star:") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestManyRules: what a rule keeps and says in many locations is taken together.
func TestManyRules(t *testing.T) {
	tr := merged(t, statstest.Generated(t, samples.Options{Program: "ring", Ranks: 100, Iterations: 3}))
	for source, want := range map[string]string{
		"l = ['x' * 500000 + str(i) for i in range(20)]\ndef output_text():\n  return None\n":                                        "it takes too much memory",
		"l = []\ndef trace_event(id):\n  l.append('x' * 300000 + str(len(l)))\n  return True\n":                                      "it takes too much memory",
		"def output_text():\n  return 'x' * 1000000\n":                                                                               "r.star:1:1: output_text returns more than 64 MiB for all ranks together",
		"seen = {}\ndef trace_event(id):\n  seen[id] = seen.get(id, 0) + 1\n  return True\ndef output_text():\n  return str(seen)\n": "",
	} {
		s, err := NewScript("r.star", []byte(source), ScriptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.growth = 128 << 20
		_, err = Apply(t.Context(), tr, []Rule{s}, Options{Jobs: 1})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", source, err, want)
		}
	}
}

// TestScript states what rules see, by rules that keep what they should on a ring whose calls
// are known: each of 3 ranks has 5 iterations of Isend, Recv, Wait.
func TestScript(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 5, Bytes: 100, Steady: true})
	tr := merged(t, m)
	all := callsOf(t, m)
	t.Log(all)
	for name, c := range map[string]struct {
		source string
		check  func(t *testing.T, calls map[string]int, texts []string)
	}{
		"counts": {`
def trace_event(id):
    return get_mpi_counts("MPI_Isend") <= 2
`, func(t *testing.T, calls map[string]int, _ []string) {
			if calls["MPI_Isend"] != 3*2 || calls["MPI_Recv"] != 3*2 || calls["MPI_Init"] != 3 {
				t.Errorf("%v", calls)
			}
		}},
		"state": {`
seen = {}
def trace_event(id):
    seen[id] = seen.get(id, 0) + 1
    return seen[id] % 2 == 1
def output_text():
    return "%s %d" % (id_of(), seen["MPI_Recv"])
def id_of():
    return "rank " + str(get_environment().rank)
`, func(t *testing.T, calls map[string]int, texts []string) {
			if texts[2] != "rank 2 5" || calls["MPI_Isend"] != 9 {
				t.Errorf("%v %q", calls, texts)
			}
		}},
		"the whole language": {`
join, cut = ",".join, lambda *args: len(args) < 3
def trace_event(id):
    return join([id] * 3).count(",") == 2 and cut(*id.split("_")) and [id, 1][0] == getattr("x", "replace")("x", id)
`, func(t *testing.T, calls map[string]int, _ []string) {
			if calls["MPI_Isend"] != all["MPI_Isend"] {
				t.Errorf("%v", calls)
			}
		}},
		"ranks": {`
def output_trace(rank):
    r = get_allresults()
    return rank == 1 and r["MPI_Recv"].counts.max == 5 and r["MPI_Isend"].bytes.median == 500
`, func(t *testing.T, calls map[string]int, _ []string) {
			if calls["MPI_Init"] != 1 || calls["MPI_Isend"] != 5 {
				t.Errorf("%v", calls)
			}
		}},
		"everything": {`
def trace_event(id):
    b, e, c = get_tracebufferinfo(), get_environment(), get_callerinfo()
    if b.used > b.size or e.ranks != 3 or e.dimensions != (3,) or get_mpi_name(id) != id:
        fail("wrong")
    return get_elapsed_time() <= get_time() and len(get_memoryinfo()) == 0 and c.line >= 0
def output_text():
    return "%s %d %s" % (get_avg_hops(), get_mpi_bytes("MPI_Isend"), get_mpi_time("MPI_Recv") > 0.0)
`, func(t *testing.T, calls map[string]int, texts []string) {
			if texts[0] != "1.0 500 True" || texts[2] != "2.0 500 True" || calls["MPI_Isend"] != all["MPI_Isend"] {
				t.Errorf("%v %q", calls, texts)
			}
		}},
		"all functions": {`
total = [0]
def trace_event(id):
    total[0] += 1
    if get_mpi_counts("") != total[0] or get_mpi_bytes("") != get_mpi_bytes("MPI_Isend") + get_mpi_bytes("MPI_Recv") + get_mpi_bytes("MPI_Wait"):
        fail("wrong")
    return True
def output_text():
    return str(get_mpi_time("") == get_allresults()[""].time.mean or get_environment().ranks > 1)
`, func(t *testing.T, calls map[string]int, texts []string) {
			if texts[1] != "True" || calls["MPI_Isend"] != all["MPI_Isend"] {
				t.Errorf("%v %q", calls, texts)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewScript("r.star", []byte(c.source), ScriptOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := applied(t, tr, []Rule{s}, Options{})
			c.check(t, callsOf(t, r.Source(m)), s.Texts())
		})
	}
}

// TestCounters: a rule sees the latest value of a counter at its location, and of a misspelled one the nearest name.
func TestCounters(t *testing.T) {
	m := tracetest.MustParse(t, `member 0 PAPI_TOT_INS value=5
member 1 "heap size" value=5
member 2 power value=10
metric 0 members=0,1,2
location 0 rank=0
  0 Enter MPI_Init ; 1 Leave MPI_Init
  2 Metric 0 uint64:7 uint64:100 double:1.5
  3 Enter MPI_Send ; 4 MpiSend to=0 bytes=1 ; 5 Leave MPI_Send
  6 Metric 0 uint64:9 uint64:200 double:-2.5
  7 Enter MPI_Recv ; 8 MpiRecv from=0 bytes=1 ; 9 Leave MPI_Recv
`)
	script := func(source string) (string, error) {
		s, err := NewScript("r.star", []byte(source), ScriptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Apply(t.Context(), merged(t, m), []Rule{s}, Options{Jobs: 1}); err != nil {
			return "", err
		}
		return s.Texts()[0], nil
	}
	got, err := script(`
seen = []
def trace_event(id):
    seen.append((id, get_counter("PAPI_TOT_INS"), get_counter("power"), get_memoryinfo()))
    return True
def output_text():
    return str(seen)
`)
	want := `[("MPI_Init", None, None, {}), ("MPI_Send", 7, 1.5, {"heap size": 100}), ("MPI_Recv", 9, -2.5, {"heap size": 200})]`
	if err != nil || got != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if _, err = script("def trace_event(id):\n  return get_counter('PAPI_TOT_CYC') == 1\n"); err == nil ||
		err.Error() != `r.star:2:21: the trace has no counter "PAPI_TOT_CYC"; did you mean "PAPI_TOT_INS"?` {
		t.Error(err)
	}
}

// TestUnreadableExpressions states that mistakes are named with their place, in words that are none of the parser.
func TestUnreadableExpressions(t *testing.T) {
	const condition = "write a condition such as 'rank < 32'"
	for text, want := range map[string]string{
		`rank<`:         `--keep "rank<": the expression ends too early; ` + condition,
		``:              `--keep "": the expression ends too early; ` + condition,
		`(rank < 3`:     `--keep "(rank < 3": the expression ends too early; ` + condition,
		`rank < < 3`:    `--keep "rank < < 3": "< 3" (character 8) is not understood; ` + condition,
		`rank >= 3 3`:   `--keep "rank >= 3 3": "3" (character 11) is not understood; ` + condition,
		`rank = 3`:      `--keep "rank = 3": "= 3" (character 6) is not understood; instead of = write ==`,
		`rank < 3 || 1`: `--keep "rank < 3 || 1": "| 1" (character 11) is not understood; instead of | write or`,
		`!mpi`:          `--keep "!mpi": "!mpi" (character 1) is not understood; instead of ! write not`,
	} {
		if _, err := NewExpression(text, ScriptOptions{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestExpressions states what short expressions keep.
func TestExpressions(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 5, Bytes: 100})
	tr := merged(t, m)
	for text, want := range map[string][2]int{ // calls of MPI_Isend and of MPI_Init
		`mpi != "MPI_Init"`:                                  {15, 0},
		`rank < 2`:                                           {10, 2},
		`rank < 2 and ranks == 3`:                            {10, 2},
		`rank < 2 and mpi != "MPI_Init"`:                     {10, 0},
		`(mpi == "MPI_Init" or count <= 3)`:                  {9, 3},
		`not (mpi in ["MPI_Isend", "MPI_Recv", "MPI_Wait"])`: {0, 3},
		`bytes > 0 or mpi == "MPI_Wait"`:                     {15, 0},
		`seconds < 0`:                                        {0, 0},
	} {
		s, err := NewExpression(text, ScriptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := applied(t, tr, []Rule{s}, Options{})
		calls := callsOf(t, r.Source(m))
		if got := [2]int{calls["MPI_Isend"], calls["MPI_Init"]}; got != want {
			t.Errorf("%s keeps %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"rank <", "ranq < 3", "rank < 3; x", "print(rank)"} {
		if _, err := NewExpression(text, ScriptOptions{}); err == nil || !strings.HasPrefix(err.Error(), "--keep") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

// TestFiles states that io_event is asked of each call outside of MPI that works on a file and completes what it begins, and what it sees:
// not of an MPI function, nor of a call whose operation goes on.
func TestFiles(t *testing.T) {
	m := tracetest.MustParse(t, `location 0 rank=0
  0 Enter MPI_Init ; 1 Leave MPI_Init
  2 Enter dump
  3 Enter write ; 3 IoOperationBegin 3 1 0 4096 7 ; 8 IoOperationComplete 3 4096 7 ; 9 Leave write
  10 Enter write ; 10 IoOperationBegin 3 1 0 100 8 ; 11 IoOperationComplete 3 60 8 ; 12 Leave write
  13 Enter aio_write ; 13 IoOperationBegin 3 1 0 100 9 ; 14 Leave aio_write
  15 Enter wait ; 15 IoOperationComplete 3 100 9 ; 16 Leave wait
  17 Leave dump
  20 Enter MPI_File_write ; 21 Enter write ; 21 IoOperationBegin 3 1 0 9 9 ; 22 IoOperationComplete 3 9 9 ; 23 Leave write ; 24 Leave MPI_File_write
`)
	s, err := NewScript("r.star", []byte(`
seen = []
def io_event(id):
    seen.append((id, get_callerinfo().function, get_io_counts(id), get_io_bytes("")))
    return get_io_bytes(id) < 4100
def output_text():
    return "%s %d %d %g" % (seen, get_mpi_counts(""), get_io_counts(""), get_io_time("write") * 1e9)
`), ScriptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := applied(t, merged(t, m), []Rule{s}, Options{})
	if got, want := s.Texts()[0], `[("write", "dump", 1, 4096), ("write", "dump", 2, 4156)] 2 2 8.0`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	calls := make(map[string]int)
	for b := range tracetest.Batches(t, r.Source(m), 0) {
		for i, kind := range b.Flow.Kind {
			if kind.Enters() {
				calls[m.Defs().RegionName(b.Flow.Region[i])]++
			}
		}
	}
	if calls["write"] != 2 || calls["aio_write"] != 1 || calls["MPI_File_write"] != 1 { // the second of three is cut
		t.Errorf("%v", calls)
	}
	if _, err := NewScript("r.star", []byte("def io_evnt(id): return True\n"), ScriptOptions{}); err == nil ||
		!strings.Contains(err.Error(), "did you mean io_event?") {
		t.Error(err)
	}
}

// TestPatternRule states what samples/rules/pattern.star keeps: of a program that repeats, what each rank calls until its pattern begins
// again, and MPI_Finalize; of ranks beyond the first 32 nothing; of a program that never repeats everything.
func TestPatternRule(t *testing.T) {
	source, err := os.ReadFile("../samples/rules/pattern.star")
	if err != nil {
		t.Fatal(err)
	}
	kept := func(iterations, ranks int) (map[string]int, []string) {
		m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: ranks, Iterations: iterations, Bytes: 100, Steady: true})
		s, err := NewScript("pattern.star", source, ScriptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := applied(t, merged(t, m), []Rule{s}, Options{})
		return callsOf(t, r.Source(m)), s.Texts()
	}
	few, texts := kept(10, 4)
	if many, _ := kept(100, 4); !maps.Equal(few, many) {
		t.Errorf("of 10 iterations it keeps %v, of 100 %v", few, many)
	}
	for _, mpi := range []string{"MPI_Isend", "MPI_Recv", "MPI_Wait"} {
		if few[mpi] < 4 || few[mpi] > 4*3 {
			t.Errorf("%s: %d calls are kept of 4 ranks", mpi, few[mpi])
		}
	}
	if few["MPI_Finalize"] != 4 || !strings.Contains(texts[3], "rank 3: recorded until call") {
		t.Errorf("%v %q", few, texts)
	}
	if all, texts := kept(1, 4); all["MPI_Isend"] != 4 || texts[0] != "" {
		t.Errorf("of one iteration it keeps %v: %q", all, texts)
	}
	if wide, _ := kept(10, 40); wide["MPI_Init"] != 32 {
		t.Errorf("%d of 40 ranks are kept", wide["MPI_Init"])
	}
}
