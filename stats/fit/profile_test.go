package fit

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A size class is named by its smallest member: no digit but the first is other than zero.
func TestSizeClass(t *testing.T) {
	for size, want := range map[int64]int64{-1: 0, 0: 0, 1: 1, 9: 1, 10: 10, 19: 10, 99: 90, 100: 100, 999: 900, 1000: 1000,
		123456: 100000, 3999999: 3000000, 4000000: 4000000, 5000000: 4000000, 1 << 40: 4000000} {
		if got := SizeClass(size); got != want {
			t.Errorf("class of %d is %d, want %d", size, got, want)
		}
	}
}

// grid is a profile whose t_max is bilinear by construction: 1000 + 2·b + 10·p + b·p/10.
func grid() Profile {
	p := Profile{Schema: profileSchema}
	for _, procs := range []int{2, 4, 8} {
		for _, b := range []int64{0, 100, 1000} {
			t := 1000 + 2*b + 10*int64(procs) + b*int64(procs)/10
			p.Entries = append(p.Entries, Entry{Key: Key{Operation: "MPI_Bcast", Processes: procs, Bytes: b}, TMin: t - 1000, TMax: t})
		}
	}
	return p
}

func TestInterpolation(t *testing.T) {
	tests := []struct {
		key          Key
		want         int64
		extrapolated bool
	}{
		{Key{"MPI_Bcast", "", 4, 100}, 1000 + 200 + 40 + 40, false},
		{Key{"MPI_Bcast", "", 6, 100}, 1000 + 200 + 60 + 60, false},
		{Key{"MPI_Bcast", "", 3, 50}, 1000 + 100 + 30 + 15, false},
		{Key{"MPI_Bcast", "", 6, 550}, 1000 + 1100 + 60 + 330, false},
		{Key{"MPI_Bcast", "", 16, 100}, 1000 + 200 + 80 + 80, true},
		{Key{"MPI_Bcast", "", 1, 0}, 1000 + 20, true},
		{Key{"MPI_Bcast", "", 8, 1 << 40}, 1000 + 2000 + 80 + 800, true},
	}
	for _, tt := range tests {
		got, known := grid().Limit(tt.key)
		if want := (Limit{TMax: tt.want, TMin: tt.want - 1000, Extrapolated: tt.extrapolated}); !known || got != want {
			t.Errorf("%v: %v, %v, want %v", tt.key, got, known, want)
		}
	}
	for _, k := range []Key{{"MPI_Alltoall", "", 8, 1}, {"", "", 8, 1}, {"MPI_Bcast", "root", 8, 1}} {
		if got, known := grid().Limit(k); known {
			t.Errorf("%v: %v, but the profile does not know it", k, got)
		}
	}
}

// A point between an entry that can be trusted and one that cannot is as good as the worse;
// on the entry itself its neighbor does not matter.
func TestInterpolationOfUnreliable(t *testing.T) {
	p := grid()
	p.Entries[1].Unreliable = true // 2 processes, 100 bytes
	for k, want := range map[Key]bool{
		{"MPI_Bcast", "", 2, 0}: false, {"MPI_Bcast", "", 2, 1}: true, {"MPI_Bcast", "", 2, 100}: true, {"MPI_Bcast", "", 2, 999}: true,
		{"MPI_Bcast", "", 2, 1000}: false,
		{"MPI_Bcast", "", 3, 100}:  true, {"MPI_Bcast", "", 4, 100}: false, {"MPI_Bcast", "", 1, 100}: true,
	} {
		if got, _ := p.Limit(k); got.Unreliable != want {
			t.Errorf("%v: unreliable %v, want %v", k, got.Unreliable, want)
		}
	}
}

// A size of 50 calls or more stands alone, whatever its neighbours. Smaller ones are joined with the
// next larger, the largest with the next smaller, never across roles, and the entry names the sizes; no call
// is lost. Where a sample has a size class only, the entry says so.
func TestSmallSizesArePooled(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	samples := map[Key]*Sample{}
	for _, c := range []struct {
		op, role string
		bytes    int64
		calls    int
	}{{"A", "", 0, 20}, {"A", "", 5, 40}, {"A", "", 15, 60}, {"A", "", 17, 50}, {"A", "", 200, 30}, {"A", "leaf", 200, 60},
		{"A", "root", 200, 7},
		{"B", "", 8, 70}, {"C", "", 8, 7}, {"D", "", 1, 0}} {
		samples[Key{c.op, c.role, 2, c.bytes}] = gammaTruth("", 1000, 3, 100).sample(r, c.calls)
	}
	samples[Key{"B", "", 2, 8}].Class = true
	p := ProfileOf(Calibrate(samples, Options{}), Options{})
	type entry struct {
		op, role     string
		bytes, calls int64
		pooled       []int64
		few          bool
	}
	var got []entry
	for _, e := range p.Entries {
		got = append(got, entry{e.Operation, e.Role, e.Bytes, e.Calls, e.Pooled, e.Few})
	}
	want := []entry{
		{"A", "", 3, 60, []int64{0, 5}, false},
		{"A", "", 15, 60, nil, false},
		{"A", "", (17*50 + 200*30) / 80, 80, []int64{17, 200}, false},
		{"A", "leaf", 200, 60, nil, false},
		{"A", "root", 200, 7, nil, true},
		{"B", "", 8, 70, []int64{8}, false},
		{"C", "", 8, 7, nil, true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("entries %v\nwant    %v", got, want)
	}
}

func TestProfileEncodes(t *testing.T) {
	groups := Calibrate(map[Key]*Sample{{"MPI_Send", "", 2, 8}: gammaTruth("", 1000, 3, 100).sample(rand.New(rand.NewPCG(4, 5)), 100)},
		Options{})
	p := ProfileOf(groups, Options{})
	p.Machine, p.Library, p.Processes = "cluster", "Open MPI 4.1.4", 16
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadProfile(bytes.NewReader(b))
	if err != nil || !reflect.DeepEqual(p, back) {
		t.Errorf("came back as %+v, %v", back, err)
	}
}

func TestBadProfiles(t *testing.T) {
	for _, text := range []string{
		"", "[]", `{"schema":"other"}`,
		`{"schema":"tracekit.profile/1"}`, `{"schema":"tracekit.profile/2","quantile":1e308}`,
		`{"schema":"tracekit.profile/2","quantile":0.99,"entries":[{"operation":"A","bytes":-1}]}`,
		`{"schema":"tracekit.profile/2","quantile":0.99,"entries":[{"operation":"A","t_min_ns":5,"t_max_ns":4}]}`,
		`{"schema":"tracekit.profile/2","quantile":0.99,"entries":[{"operation":"B"},{"operation":"A"}]}`,
		`{"schema":"tracekit.profile/2","quantile":0.99,"entries":[{"operation":"A"},{"operation":"A"}]}`,
	} {
		if p, err := ReadProfile(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as %+v", text, p)
		}
	}
}
