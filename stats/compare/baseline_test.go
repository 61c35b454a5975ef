package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/samples"
	"tracekit/stats/compare"
)

// runsOf returns runs of one program whose seeds differ.
func runsOf(t testing.TB, plant samples.Plant, seeds ...uint64) (out []*compare.Sample) {
	t.Helper()
	for _, seed := range seeds {
		s := *sampled(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 40, Seed: seed, Plant: plant})
		s.Trace.Path = fmt.Sprint("run", seed)
		out = append(out, &s)
	}
	return out
}

// written returns the file of a baseline of some runs.
func written(t testing.TB, runs ...*compare.Sample) string {
	t.Helper()
	b := compare.NewBaseline("auto", 0)
	for _, s := range runs {
		if err := b.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func read(t testing.TB, text string) *compare.Baseline {
	t.Helper()
	b, err := compare.ReadBaseline(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t testing.TB, x any) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBaselineIsItsRuns states that a baseline judges as its runs do, byte for byte, that it is written again as it was read, and that
// runs may be added in any order.
func TestBaselineIsItsRuns(t *testing.T) {
	runs, after := runsOf(t, samples.Plant{}, 1, 2, 3), runsOf(t, samples.Plant{Imbalance: 2000}, 9)
	text := written(t, runs...)
	b := read(t, text)
	var again bytes.Buffer
	if err := b.Write(&again); err != nil || again.String() != text {
		t.Errorf("written again it differs (%v)", err)
	}
	if got, want := asJSON(t, compare.Of(b.Samples(), after)), asJSON(t, compare.Of(runs, after)); got != want {
		t.Errorf("judged by the baseline:\n%s\nby its runs:\n%s", got, want)
	}
	if other := written(t, runs[2], runs[0], runs[1]); other != text {
		t.Error("the order in which runs are added changes the file")
	}
	for _, s := range runs {
		s.Trace.Path = "traces.otf2" // as each job names its own
	}
	if written(t, runs...) != written(t, runs[1], runs[2], runs[0]) {
		t.Error("the order in which runs of one name are added changes the file")
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.Count(line, `":`) > 1 {
			t.Errorf("line %d has several figures: %s", i+1, line)
		}
	}
}

// TestBaselineVerdicts states what baselines of three runs judge: its own runs have not changed, nor have those of other seeds; of what
// is planted the first place is where it is, on the rank that it is on.
func TestBaselineVerdicts(t *testing.T) {
	for first := uint64(1); first <= 31; first += 10 {
		runs := runsOf(t, samples.Plant{}, first, first+1, first+2)
		b := read(t, written(t, runs...)).Samples()
		if c := compare.Of(b, runs); c.Significant != 0 || *c.Run.Significant || *c.Run.Change != 0 {
			t.Errorf("seed %d: %d changes in the same runs, %g of all", first, c.Significant, *c.Run.Change)
		}
		for seed := first + 3; seed < first+8; seed++ {
			if c := compare.Of(b, runsOf(t, samples.Plant{}, seed)); c.Significant != 0 || c.Slower != 0 || *c.Run.Significant {
				t.Errorf("seeds %d and %d: noise is taken for %d changes", first, seed, c.Significant)
			}
		}
		c := compare.Of(b, runsOf(t, samples.Plant{Imbalance: 2000}, first+9))
		place := c.Changes[0]
		if c.Slower == 0 || !*c.Run.Significant || place.Region != "interior" || place.Kind != compare.KindTime || len(place.Ranks) != 1 ||
			place.Ranks[0] != 3 {
			t.Errorf("seed %d: a slow rank 3 is not found: %s", first, asJSON(t, place))
		}
	}
}

// TestBaselineRefusesRuns: one that is there, whatever it is called; one of another shape; and one more than a file may have.
func TestBaselineRefusesRuns(t *testing.T) {
	run := runsOf(t, samples.Plant{}, 1)[0]
	again, other := *run, *sampled(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 40, Seed: 1})
	again.Trace.Path = "copy"
	full := compare.NewBaseline("auto", 0)
	for i := range 101 {
		next := *run
		next.Trace.StartNs = int64(i)
		if err := full.Add(&next); (err != nil) != (i == 100) {
			t.Errorf("run %d: %v", i+1, err)
		}
	}
	for want, s := range map[string]*compare.Sample{"copy equals run1": &again, "differs in shape": &other} {
		if err := read(t, written(t, run)).Add(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestHostileBaselines: what is no baseline is refused, and the message says what is wrong.
func TestHostileBaselines(t *testing.T) {
	text := written(t, runsOf(t, samples.Plant{}, 1)...)
	change := func(old, replacement string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the file has no %s", old)
		}
		return strings.Replace(text, old, replacement, 1)
	}
	own := text[strings.Index(text, `"own_ns"`):]
	own = own[:strings.Index(own, ",")]
	parts := text[strings.Index(text, `"own_parts_ns"`):]
	parts = parts[:strings.Index(parts, "]")+1]
	const bare = `{"trace": {}, "findings": [], "figures": {"trace.duration_ns": 0, "trace.events": 0}, "regions": [], "communicators": [], "places": []}`
	for _, c := range []struct{ text, want string }{
		{"", "not a baseline: byte 0"},
		{"[]", "not a baseline"},
		{"{}", "it has no schema"},
		{`{"schema": 7}`, "schema cannot be a number"},
		{`{"schema": "tracekit.compare/1"}`, `it has schema "tracekit.compare/1"`},
		{`{"schema": "tracekit.baseline/2"}`, "it is tracekit.baseline/2, this tracekit knows tracekit.baseline/1"},
		{`{"schema": "tracekit.baseline/1"}`, "clock is missing"},
		{`{"schema": "tracekit.baseline/1", "clock": "auto", "min_latency_ns": 0, "runs": []}`, "it has no runs"},
		{`{"schema": "tracekit.baseline/1", "clock": "auto", "min_latency_ns": 0, "runs": null}`, "a list has to be here"},
		{`{"schema": "tracekit.baseline/1", "clock": "auto", "min_latency_ns": 0, "runs": [{}]}`, "run 1: communicators is missing"},
		{`{"schema": "tracekit.baseline/1", "clock": "auto", "min_latency_ns": 0, "runs": [7]}`, "run 1: it is no object"},
		{text[:strings.Index(text, "[")+1] + strings.Repeat(bare+",", 100) + bare + "]}", "it has 101 runs, more than 100"},
		{text[:len(text)/2], "byte "},
		{text + "x", "byte "},
		{change(own, `"own_ns": NaN`), "invalid character 'N'"},
		{change(own, `"own_ns": 1e400`), "run 1: place 1: own_ns cannot be a number 1e400"},
		{change(own, `"own_ns": "1"`), "own_ns cannot be a string"},
		{change(own, `"own_ns": 0.5`), "own_ns cannot be a number 0.5"},
		{change(own, `"own_ns": 1`), "own_ns is not the sum of its parts"},
		{change(own, `"own_us": 1`), `"own_us" does not belong here`},
		{change(own, own+","+own), `"own_ns" does not belong here, or is there twice`},
		{change(own+",", ""), "own_ns is missing"},
		{change(parts, `"own_parts_ns": [1,2]`), "own_ns has 2 parts, not 32"},
		{change(own, `"own_ns": 9223372036854775807`), "own_ns is not the sum"},
		{strings.Replace(change(parts, `"own_parts_ns": [9223372036854775807`+strings.Repeat(",0", 31)+"]"), own, `"own_ns": 9223372036854775807`,
			1), "the times of the run are too large"},
		{change(`"ranks": [0,1,2,3]`, `"ranks": [0,1,1,3]`), "ranks are not in ascending order"},
		{change(`"ranks": [0,1,2,3]`, `"ranks": [0,1]`), "ranks and their times differ in number"},
		{change(`"ranks": [0,1,2,3]`, `"ranks": [0,1,2,-3]`), "ranks cannot be a number -3"},
		{change(`"trace.events"`, `"trace.event"`), `figures: "trace.event" does not belong here`},
		{change(`"messages.bytes": 327680`, `"messages.bytes": 1e300`), "figure messages.bytes is too large"},
		{change(`"processes": 4`, `"processes": -4`), "negative"},
	} {
		b, err := compare.ReadBaseline(strings.NewReader(c.text))
		if b != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.want)
		}
	}
	// Traces whose files have no common time sum up to half a million hours and more.
	read(t, strings.Replace(change(parts, `"own_parts_ns": [3200000000000000000`+strings.Repeat(",0", 31)+"]"), own,
		`"own_ns": 3200000000000000000`, 1))
	if _, err := compare.ReadBaseline(io.LimitReader(endless{}, 100_000_000)); err == nil || !strings.Contains(err.Error(), "more than 32") {
		t.Errorf("100 MB: %v", err)
	}
}

// TestDamagedBaselines: whatever bytes of a file change, it is read or refused, and what is read can be compared.
func TestDamagedBaselines(t *testing.T) {
	runs := runsOf(t, samples.Plant{}, 1, 2)
	text := []byte(written(t, runs[0]))
	r := rand.New(rand.NewPCG(1, 2))
	sound := 0
	for range 2000 {
		damaged := bytes.Clone(text)
		for range 1 + r.IntN(3) {
			damaged[r.IntN(len(damaged))] = "0123456789-e.,[]{}\":n\x00\xff"[r.IntN(23)]
		}
		if b, err := compare.ReadBaseline(bytes.NewReader(damaged)); err == nil {
			sound++
			compare.Of(b.Samples(), runs[1:])
			b.Places()
		}
	}
	if sound == 0 {
		t.Error("no change of a digit is harmless")
	}
}
