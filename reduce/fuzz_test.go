package reduce

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestRules: what rule files leave is a sound trace without new findings; those that do not end are refused.
func TestRules(t *testing.T) {
	sources := []string{
		"d = {}\ndef trace_event(id):\n  d[id, 1] = d.get((id, 1), 0) + 1\n  return d[id, 1] % 3 == 1\n",
		"def trace_event(id):\n  while True:\n    id += id\n",
		"l = [1]\nwhile True:\n  l += l\n",
		"x = [[0] * 99] * 99\ndef output_text():\n  return str(x * 3) + '%s' % x[1:3]\n",
		"def output_trace(rank):\n  return sorted([(rank, x) for x in range(99)], key=lambda p: -p[1])[0][1] > get_time()\n",
		"s = set([1]) | set([2])\ns2 = {1: 2} | {3: 4}\ndef trace_event(id):\n  return ','.join([id] * 3).replace('M', id).format(1) in s\n",
	}
	files, _ := filepath.Glob("../samples/rules/*.star")
	for _, file := range files {
		sources = append(sources, string(tracetest.ReadFile(t, file)))
	}
	for _, source := range sources {
		s, err := NewScript("r.star", []byte(source), ScriptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.growth = 16 << 20
		m, _ := samples.Random(1)
		r, err := Apply(t.Context(), merged(t, m), []Rule{s}, Options{Jobs: 1})
		if err == nil {
			merged(t, r.Source(m))
		}
		if (err == nil) == strings.Contains(source, "while True") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// FuzzExpressions: whatever an expression says, it is refused or becomes a rule.
func FuzzExpressions(f *testing.F) {
	for _, text := range []string{`rank < 32 and mpi != "MPI_Iprobe"`, `(rank % 2 == 0) and ranks > 1`, `bytes > 8 or count in [1, 3]`,
		`time < 1.5 if caller == "main" else line * "x" > file`, `[x for x in mpi.elems()] and seconds`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := NewExpression(text, ScriptOptions{}); err != nil && !strings.HasPrefix(err.Error(), "--keep") {
			t.Error(err)
		}
	})
}

// FuzzReduced: whatever a trace says, what rules and random cuts leave of it has sound
// batches, is merged, and has no messages with one end that had two.
func FuzzReduced(f *testing.F) {
	files, _ := filepath.Glob("../merge/testdata/*.txtar")
	for _, file := range files {
		data := tracetest.ReadFile(f, file)
		for _, part := range txtar.Parse(data).Files {
			if part.Name == "trace" {
				f.Add(string(part.Data), uint64(1))
			}
		}
	}
	f.Add(planted, uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		m, err := tracetest.Parse(text)
		if err != nil || m.Definitions.Check() != nil {
			t.Skip("not a trace")
		}
		tr, err := merge.Merge(t.Context(), m, merge.Options{Store: spill.NewStore(1, "")})
		if err != nil {
			t.Skip("not merged: ", err)
		}
		defer tr.Store.Close()
		rng := rand.New(rand.NewPCG(seed, 3))
		rules := [][]Rule{{Shorter{Ns: int64(rng.IntN(100))}, Idle{}}, {Slowest{N: 1 + rng.IntN(3)}},
			{Window{From: share(rng.Float64() / 2), To: share(0.5 + rng.Float64()/2)}}, {&anything{rng.Uint64()}}}
		for _, some := range rules {
			r := applied(t, tr, some, Options{Jobs: 1})
			checkReduced(t, tr, r, m)
		}
	})
}

// anything cuts calls at random.
type anything struct{ seed uint64 }

func (*anything) Name() string { return "anything" }

func (a *anything) Judge(_ *trace.Trace, l trace.LocationID) (Judge, error) {
	return &dice{rand.New(rand.NewPCG(a.seed, uint64(l)))}, nil
}

type dice struct{ *rand.Rand }

func (d *dice) Cut(*Call) (bool, error) { return d.IntN(2) == 0, nil }

func checkReduced(t *testing.T, tr *trace.Trace, r *Reduction, m *trace.MemorySource) {
	t.Helper()
	src := r.Source(m)
	for l := range m.Defs().Locations {
		next := uint64(0)
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			if b.First != next {
				t.Fatalf("a batch begins with record %d, want %d", b.First, next)
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			next += uint64(b.Len())
		}
	}
	left := statstest.Merged(t, src, merge.Options{Store: spill.NewStore(1, "")})
	if err := tracetest.CheckTrace(left); err != nil {
		t.Fatal(err)
	}
	for l := range tr.Sends {
		for _, rows := range tr.Sends[l].Rows {
			for _, s := range rows {
				if s.State != trace.Matched {
					continue
				}
				v := tr.Recvs[s.RecvLoc].At(int(s.Recv))
				if r.Cuts.holds(trace.LocationID(l), s.Seq()) != r.Cuts.holds(s.RecvLoc, v.Seq()) {
					t.Fatalf("of message %d:%d to %d:%d one end is cut", l, s.Seq(), s.RecvLoc, v.Seq())
				}
			}
		}
	}
}
