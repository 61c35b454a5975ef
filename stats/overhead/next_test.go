package overhead_test

import (
	"testing"

	"tracekit/stats/fit"
	"tracekit/stats/overhead"
)

// TestNextPoints states that a profile's points are not asked for again, that the point on which overhead depends most comes first, with
// the overhead at both ends; and that a verdict that hangs on it says so.
func TestNextPoints(t *testing.T) {
	entry := func(operation string, p int, b, tMax int64) fit.Entry {
		return fit.Entry{Key: fit.Key{Operation: operation, Processes: p, Bytes: b}, TMax: tMax}
	}
	p := &fit.Profile{Entries: []fit.Entry{
		entry("MPI_Recv", 2, 10, 100), entry("MPI_Recv", 2, 1000, 1100), entry("MPI_Recv", 2, 2000, 1110),
		entry("MPI_Send", 2, 10, 100), entry("MPI_Send", 2, 2000, 100),
	}}
	samples := map[fit.Key]*fit.Sample{}
	calls := func(operation string, b int64, n int, duration int64) {
		s := &fit.Sample{}
		for range n {
			s.Add(duration)
		}
		samples[fit.Key{Operation: operation, Processes: 2, Bytes: b}] = s
	}
	calls("MPI_Recv", 10, 50, 500)    // measured
	calls("MPI_Recv", 505, 100, 1000) // t_max 600, between 100 and 1,100
	calls("MPI_Recv", 1500, 100, 2000)
	calls("MPI_Recv", 3000, 10, 1200) // beyond: 1,110, and 1,120 if it goes on
	calls("MPI_Send", 1000, 100, 1300)
	calls("MPI_Unknown", 10, 100, 1300)

	next := overhead.NextPoints(samples, p)
	type row struct{ bytes, tMax, low, high, overhead, least, most int64 }
	var got []row
	for _, u := range next {
		got = append(got, row{u.Bytes, u.TMaxNs, u.LowNs, u.HighNs, u.OverheadNs, u.LowOverheadNs, u.HighOverheadNs})
	}
	want := []row{
		{505, 600, 100, 1100, 40_000, 0, 90_000},
		{1500, 1105, 1100, 1110, 89_500, 89_000, 90_000},
		{3000, 1110, 1110, 1120, 900, 800, 900},
		{1000, 100, 100, 100, 120_000, 120_000, 120_000}, // the send: it does not matter
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	// Receivers' overhead is 20,000 + 40,000 + 89,500 + 900, senders' 120,000: nobody dominates, unless receivers need least.
	if u := next[0]; u.Verdict != "undecided" || u.IfHigh != "undecided" || !next[2].Extrapolated || next[1].Extrapolated {
		t.Errorf("%+v", u)
	}
	calls("MPI_Send", 1000, 80, 1300) // 96,000; receivers 150,400 or, if little is needed, 200,400
	if u := overhead.NextPoints(samples, p)[0]; u.Verdict != "undecided" || u.IfLow != "late sender" || u.IfHigh != "undecided" {
		t.Errorf("the verdict does not hang on it: %+v", u)
	}
}
