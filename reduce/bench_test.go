package reduce

import (
	"testing"

	"tracekit/samples"
	"tracekit/stats"
	"tracekit/trace"
)

// BenchmarkRules measures events per second through rules and through the trace that they
// leave, on one core.
func BenchmarkRules(b *testing.B) {
	m := generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 500})
	tr := merged(b, m)
	expression, err := NewExpression(`rank < 12 and mpi != "MPI_Iprobe"`, ScriptOptions{})
	if err != nil {
		b.Fatal(err)
	}
	script, err := NewScript("first.star", []byte(`
seen = {}
def trace_event(id):
    n = seen.get(id, 0) + 1
    seen[id] = n
    return n <= 100 or get_mpi_time(id) > 1.0
`), ScriptOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for name, rules := range map[string][]Rule{
		"window":     {Window{From: stats.Instant{Kind: stats.Fraction, Share: 0.3}, To: stats.Instant{Kind: stats.Fraction, Share: 0.5}}},
		"shorter":    {Shorter{Ns: 1000}},
		"three":      {Shorter{Ns: 1000}, Functions{Names: []string{"MPI_Iprobe"}}, Ranks{What: "ranks 0-3", Keep: []uint32{0, 1, 2, 3}}},
		"expression": {expression},
		"script":     {script},
	} {
		b.Run("rule="+name, func(b *testing.B) {
			calls := 0
			for _, n := range callsOf(b, m) {
				calls += n
			}
			for b.Loop() {
				r, err := Apply(b.Context(), tr, rules, Options{Jobs: 1})
				if err != nil {
					b.Fatal(err)
				}
				src := r.Source(m)
				for l := range src.Defs().Locations {
					for _, err := range src.Events(b.Context(), trace.LocationID(l)) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				r.Cuts.Release()
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(tr.Coverage.EventsRead)/seconds, "events/s")
			b.ReportMetric(float64(calls)/seconds, "calls/s")
		})
	}
}
