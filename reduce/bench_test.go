package reduce

import (
	"testing"

	"tracekit/samples"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// BenchmarkRules measures events and MPI calls through rules, what must stay with them, and
// the trace that they leave, per second of one core's work, however busy the machine is.
func BenchmarkRules(b *testing.B) {
	m := statstest.Generated(b, samples.Options{Program: "halo", Ranks: 16, Iterations: 500})
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
	counting, err := NewScript("few.star", []byte("def trace_event(id):\n  return get_mpi_counts(id) <= 100\n"), ScriptOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for name, rules := range map[string][]Rule{
		"window":     {Window{From: scope.Instant{Kind: scope.Fraction, Share: 0.3}, To: scope.Instant{Kind: scope.Fraction, Share: 0.5}}},
		"shorter":    {Shorter{Ns: 1000}},
		"three":      {Shorter{Ns: 1000}, Functions{Names: []string{"MPI_Iprobe"}}, Ranks{What: "ranks 0-3", Keep: []uint32{0, 1, 2, 3}}},
		"expression": {expression},
		"counting":   {counting},
		"script":     {script},
	} {
		b.Run("rule="+name, func(b *testing.B) {
			calls := 0
			for _, n := range callsOf(b, m) {
				calls += n
			}
			before := tracetest.ProcessorTime(b).Seconds()
			for b.Loop() {
				r := applied(b, tr, rules, Options{Jobs: 1})
				src := r.Source(m)
				for l := range src.Defs().Locations {
					for range tracetest.Batches(b, src, trace.LocationID(l)) {
					}
				}
				r.Cuts.Release()
			}
			seconds := (tracetest.ProcessorTime(b).Seconds() - before) / float64(b.N)
			b.ReportMetric(float64(tr.Coverage.EventsRead)/seconds/1e6, "Mevents/cpu-s")
			b.ReportMetric(float64(calls)/seconds/1e6, "Mcalls/cpu-s")
		})
	}
}
