package sampling

import (
	"strings"
	"testing"
)

// parses are names with the configuration that they stand for, and the name that it is given.
var parses = []struct {
	name string
	d    Defaults
	want Config
	text string // "": name
}{
	{"P-0.01-FREQ", Defaults{Seed: 1}, Config{Strategy: Random, Threshold: 0.01, Seed: 1, Analysis: Freq}, ""},
	{"p-1.0-stat", Defaults{Seed: 1}, Config{Strategy: Random, Threshold: 1, Seed: 1}, "P-1-STAT"},
	{"P-0.5-S9-STAT", Defaults{Seed: 1, Variance: "3", SinceSample: true}, Config{Strategy: Random, Threshold: 0.5, Seed: 9}, ""},
	{"C-256-STAT", Defaults{Seed: 1}, Config{Strategy: Counter, Period: 256, Seed: 1}, ""},
	{"C-256-STAT", Defaults{Seed: 2, Variance: "16", SinceSample: true}, Config{Strategy: Counter, Period: 256, Variance: 16, Seed: 2},
		"C-256-V16-S2-STAT"},
	{"C-256-V32-STAT", Defaults{Seed: 1, Variance: "16"}, Config{Strategy: Counter, Period: 256, Variance: 32, Seed: 1}, ""},
	{"C-10-V50%-STAT", Defaults{Seed: 1}, Config{Strategy: Counter, Period: 10, Variance: 5, Seed: 1}, "C-10-V5-STAT"},
	{"C-0-STAT", Defaults{Seed: 1}, Config{Strategy: Counter, Seed: 1}, ""},
	{"T-0.001-WRITE", Defaults{Seed: 1}, Config{Strategy: Timer, Period: 1_000_000, Seed: 1, Analysis: Write}, ""},
	{"T-0.3-V0.1-SAMPLE-S3-FREQ", Defaults{Seed: 1},
		Config{Strategy: Timer, Period: 300_000_000, Variance: 100_000_000, Seed: 3, SinceSample: true, Analysis: Freq}, ""},
	{"T-0.000000001-STAT", Defaults{Seed: 1, SinceSample: true, Variance: "100%"},
		Config{Strategy: Timer, Period: 1, Variance: 1, Seed: 1, SinceSample: true}, "T-0.000000001-V0.000000001-SAMPLE-STAT"},
}

// refusals are names that stand for nothing, with a word of the reason.
var refusals = []struct{ name, reason string }{
	{"", "want a strategy"}, {"P-0.1", "want a strategy"}, {"PC-1-STAT", "want a strategy"}, {"X-1-STAT", "no strategy X"},
	{"P-1.1-STAT", "is not a threshold"}, {"P-nan-STAT", "is not a threshold"}, {"P-1e-3-STAT", "is not a threshold"},
	{"P--1-STAT", "is not a threshold"},
	{"P-0.1-MEAN", "unknown analysis"}, {"C-1.5-STAT", "not a number of messages"}, {"C-x-STAT", "is not a number"},
	{"C-8-V9-STAT", "more than the period"},
	{"C-8-V101%-STAT", "not a share"}, {"T-99999999999-STAT", "too long"}, {"C-8-SAMPLE-STAT", "is not a seed"},
	{"P-0.1-V3-STAT", "not understood"},
	{"C-8-S-1-STAT", "is not a seed"}, {"C-8--STAT", "not understood"}, {"C-8-V-STAT", "not understood"}, {"T-.-STAT", "period"},
}

func TestParse(t *testing.T) {
	for _, x := range parses {
		got, err := Parse(x.name, x.d)
		if err != nil || got != x.want {
			t.Errorf("%s: %+v, %v; want %+v", x.name, got, err, x.want)
		}
		want := x.text
		if want == "" {
			want = x.name
		}
		if got.String() != want {
			t.Errorf("%s: its name is %s, want %s", x.name, got, want)
		}
	}
	for _, x := range refusals {
		if c, err := Parse(x.name, Defaults{Seed: 1}); err == nil || !strings.Contains(err.Error(), x.reason) {
			t.Errorf("%s: %+v, %v; want %q", x.name, c, err, x.reason)
		}
	}
}

// FuzzParse: the name of a configuration stands for it, and what Parse accepts is within bounds.
func FuzzParse(f *testing.F) {
	for _, x := range parses {
		f.Add(x.name, x.d.Variance)
	}
	for _, x := range refusals {
		f.Add(x.name, "")
	}
	f.Fuzz(func(t *testing.T, name, variance string) {
		c, err := Parse(name, Defaults{Seed: DefaultSeed, Variance: variance})
		if err != nil {
			return
		}
		if c.Variance < 0 || c.Variance > c.Period || c.Period > maxPeriod || c.Strategy == Random && !(c.Threshold > 0 && c.Threshold <= 1) {
			t.Fatalf("%q: %+v", name, c)
		}
		if again, err := Parse(c.String(), Defaults{Seed: DefaultSeed}); err != nil || again != c {
			t.Fatalf("%q: %+v becomes %q and that %+v, %v", name, c, c, again, err)
		}
	})
}

func TestParseGoal(t *testing.T) {
	for s, want := range map[string]Goal{"error<5%": {"error", 0.05}, "latency < 0.02": {"latency", 0.02}, "bytes<=1%": {"bytes", 0.01}} {
		if got, err := ParseGoal(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "error", "error<", "error<0%", "error<-1%", "error<x", "speed<5%", "error>5%"} {
		if g, err := ParseGoal(s); err == nil {
			t.Errorf("%s: %+v", s, g)
		}
	}
}
