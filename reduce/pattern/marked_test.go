package pattern_test

import (
	"bytes"
	"slices"
	"testing"

	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/trace"
)

// TestParseMarker states what texts mean; a marker's name means the marker again.
func TestParseMarker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]pattern.Marker{
		"":              {},
		"auto":          {},
		"10ms":          {Kind: pattern.OnTime, Ns: 10_000_000},
		"1.5s":          {Kind: pattern.OnTime, Ns: 1_500_000_000},
		"2m":            {Kind: pattern.OnTime, Ns: 120_000_000_000},
		"MPI_Allreduce": {Kind: pattern.OnCollective, Op: trace.CollAllreduce},
		"MPI_Ibarrier":  {Kind: pattern.OnCollective, Op: trace.CollBarrier},
		"MPI_Send":      {Kind: pattern.OnRegion, Region: "MPI_Send"},
		"timestep":      {Kind: pattern.OnRegion, Region: "timestep"},
	} {
		got, err := pattern.ParseMarker(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := pattern.ParseMarker(got.String()); got.Kind != pattern.OnSite && (err != nil || again != got) {
			t.Errorf("%q is %+v, %v; want %+v", got, again, err, got)
		}
	}
	for _, text := range []string{"0s", "-1ms"} {
		if m, err := pattern.ParseMarker(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}

// TestMarked states that a reduced trace names what was cut, whatever its clock; damaged marks, and
// marks of locations that are not there, are none.
func TestMarked(t *testing.T) {
	t.Parallel()
	m := generate(t, samples.Options{Program: "halo", Ranks: 3, Iterations: 60, Seed: 3})
	r, reduced := cut(t, m, pattern.Options{})
	about, defs := reduced.Info(), *reduced.Defs()
	want := r.Repeats.Stretches()
	if got := pattern.Marked(about, &defs, trace.PropertyCut); !slices.Equal(got, want) || len(want) == 0 {
		t.Fatalf("marked are %v, want %v", got, want)
	}
	defs.Clock.Resolution *= 1000
	defs.Clock.GlobalOffset += 7
	for i, s := range pattern.Marked(about, &defs, trace.PropertyCut) {
		offset := reduced.Defs().Clock.GlobalOffset
		if begin, end := 7+offset+1000*(want[i].Begin-offset), 7+offset+1000*(want[i].End-offset); s.Begin != begin || s.End != end {
			t.Errorf("stretch %d is %v in a finer clock, want %d to %d", i, s, begin, end)
		}
	}
	if got := pattern.Marked(about, &defs, trace.PropertyRegenerated); got != nil {
		t.Errorf("what was not made again is marked: %v", got)
	}
	packed, err := pattern.Unpack(about.Properties[trace.PropertyCut])
	if err != nil {
		t.Fatal(err)
	}
	for at := range packed {
		flipped := slices.Concat(packed[:at], []byte{packed[at] ^ 0xff}, packed[at+1:])
		for _, b := range [][]byte{packed[:at], flipped, bytes.Repeat([]byte{0xff}, at)} {
			damaged := trace.Info{Properties: map[string]string{trace.PropertyCut: pattern.Pack(b)}}
			for _, s := range pattern.Marked(damaged, &defs, trace.PropertyCut) {
				if int(s.Location) >= len(defs.Locations) {
					t.Fatalf("byte %d: a stretch of location %d", at, s.Location)
				}
			}
		}
	}
	defs.Locations = defs.Locations[:1]
	if got := pattern.Marked(about, &defs, trace.PropertyCut); got != nil {
		t.Errorf("marks of another trace: %v", got)
	}
}
