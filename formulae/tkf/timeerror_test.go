package tkf_test

import (
	"math"
	"path/filepath"
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/trace"
)

// timesOf returns the times of a location's events in recorded order.
func timesOf(t testing.TB, src trace.Source, l trace.LocationID) []int64 {
	b := events(t, src, l)
	columns := [][]int64{b.Flow.Time, b.P2P.Time, b.Coll.Time, nil, b.Other.Time}
	var next [5]int
	var out []int64
	metric := 0
	for i, table := range b.Order {
		if table == trace.TableMetric {
			for b.Metric.Seq[metric] != uint64(i) {
				metric++
			}
			out = append(out, b.Metric.Time[metric])
			continue
		}
		out = append(out, columns[table][next[table]])
		next[table]++
	}
	return out
}

func TestAbsoluteTimeError(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		src := openTrace(t, path)
		_, exact := compress(t, src, tkf.Options{})
		name, r := compress(t, src, tkf.Options{TimeError: tkf.TimeError{Absolute: 1000}})
		rounded := openTKF(t, name)
		worst := int64(0)
		for l := range src.Defs().Locations {
			a, b := timesOf(t, src, trace.LocationID(l)), timesOf(t, rounded, trace.LocationID(l))
			for i := range a {
				worst = max(worst, a[i]-b[i], b[i]-a[i])
				if i > 0 && b[i] < b[i-1] {
					t.Fatalf("%s: times decrease", path)
				}
			}
		}
		if worst > 1000 || worst != r.Error.Time.Max || r.Error.Time.Mean > float64(worst) {
			t.Errorf("%s: error %d ns, reported %v", path, worst, r.Error.Time)
		}
		t.Logf("%s: %d bytes instead of %d, error %v", filepath.Base(filepath.Dir(path)), r.Sizes.File, exact.Sizes.File, r.Error.Time)
	}
}

func TestRelativeTimeError(t *testing.T) {
	for _, path := range archives(t, "../../samples/archives") {
		src := openTrace(t, path)
		name, r := compress(t, src, tkf.Options{TimeError: tkf.TimeError{Relative: 0.01}})
		rounded := openTKF(t, name)
		worst, drift := 0.0, 0.0
		for l := range src.Defs().Locations {
			a, b := timesOf(t, src, trace.LocationID(l)), timesOf(t, rounded, trace.LocationID(l))
			for i := 1; i < len(a); i++ {
				d, e := float64(a[i]-a[i-1]), float64(b[i]-b[i-1])
				if d == 0 && e != 0 {
					t.Fatalf("%s: an interval of 0 became %v", path, e)
				}
				if d > 0 {
					worst = max(worst, math.Abs(e-d)/d)
				}
				drift = max(drift, math.Abs(float64(a[i]-b[i])))
			}
		}
		if worst > 0.01 {
			t.Errorf("%s: an interval is off by %.2f %%", path, 100*worst)
		}
		t.Logf("%s: %d bytes, intervals within %.2f %%, times %v", filepath.Base(filepath.Dir(path)), r.Sizes.File, 100*worst, r.Error.Time)
	}
}

func TestParseTimeError(t *testing.T) {
	for _, c := range []struct {
		text string
		want tkf.TimeError
		ok   bool
	}{
		{"1us", tkf.TimeError{Absolute: 1000}, true},
		{"250ns", tkf.TimeError{Absolute: 250}, true},
		{"1%", tkf.TimeError{Relative: 0.01}, true},
		{"0", tkf.TimeError{}, true},
		{"-1us", tkf.TimeError{}, false},
		{"90%", tkf.TimeError{}, false},
		{"NaN%", tkf.TimeError{}, false},
		{"soon", tkf.TimeError{}, false},
	} {
		got, err := tkf.ParseTimeError(c.text)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
