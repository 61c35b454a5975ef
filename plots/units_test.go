package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

func TestUnitText(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Nanoseconds, 0, "0"}, {Nanoseconds, 1, "1 ns"}, {Nanoseconds, 999.9, "1 µs"}, {Nanoseconds, 12_345, "12.3 µs"},
		{Nanoseconds, -2.5e6, "-2.5 ms"}, {Nanoseconds, 9e18, "9e+09 s"}, {Nanoseconds, 0.25, "0.25 ns"},
		{Bytes, 1023, "1023 B"}, {Bytes, 1024, "1 KiB"}, {Bytes, 64 << 20, "64 MiB"}, {Bytes, 3e12, "2.73 TiB"},
		{Count, 7, "7"}, {Count, 1_200_000, "1.2M"}, {Count, 409_200, "409k"},
		{Share, 0.25, "25 %"}, {Share, 1, "100 %"},
	} {
		if got := c.unit.text(c.v); got != c.want {
			t.Errorf("%v in unit %d: got %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestExactTime(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 7: "7 ns", 1500: "1.5 µs", 2_000_000: "2 ms", 5_000_012_000: "5.000012 s", -1_000_001: "-1.000001 ms",
		-1500: "-1.5 µs", math.MaxInt64: "9223372036.854775807 s",
	} {
		if got := exactTime(ns); got != want {
			t.Errorf("%d: got %q, want %q", ns, got, want)
		}
	}
}

func TestTimeAxis(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int64
		title    string
		labels   string
	}{
		{"from zero", 0, 600_000, "time [µs]", "0 200 400 600"},
		{"milliseconds", 0, 2_500_000, "time [ms]", "0 1 2"},
		{"fractions", 0, 1_200_000, "time [ms]", "0.0 0.5 1.0"},
		{"around zero", -10, 10, "time [ns]", "-10 0 10"},
		{"one nanosecond", 0, 1, "time [ns]", "0 1"},
		{"far from zero", 5_000_000_000, 5_000_000_030, "time after 5 s [ns]", "0 10 20 30"},
		{"a minute, late", 600_000_000_000, 660_000_000_000, "time [s]", "600 620 640 660"},
	} {
		a := newTimeAxis(c.from, c.to, 3)
		var labels []string
		for _, tick := range a.ticks {
			labels = append(labels, a.label(tick))
		}
		if a.title() != c.title || strings.Join(labels, " ") != c.labels {
			t.Errorf("%s: got %q with %q, want %q with %q", c.name, a.title(), labels, c.title, c.labels)
		}
	}
}

// TestTicksLieInside holds for any range: few ticks, in order, on the axis,
// with labels that differ.
func TestTicksLieInside(t *testing.T) {
	for _, r := range []span{{0, 1}, {-7, 3}, {1e-9, 3e-9}, {0, 9e18}, {1, 2}, {3, 5}, {0.5, 4e6}, {1e-3, 1e15}, {2.4e7, 4.6e7},
		{1.8, 2.9}, {26, 52}} {
		for _, unit := range []Unit{Count, Nanoseconds, Bytes, Share} {
			checkTicks(t, r, linearTicks{scale: unit.scale(r.hi), count: 6}.Ticks(r.lo, r.hi), 8)
			if r.lo > 0 {
				ticks := logTicks{unit, 6}.Ticks(r.lo, r.hi)
				checkTicks(t, r, ticks, 12)
				labels := slices.DeleteFunc(slices.Clone(ticks), func(k plot.Tick) bool { return k.Label == "" })
				if len(labels) < 2 {
					t.Errorf("%v: %v do not say how long the axis is", r, ticks)
				}
			}
		}
	}
}

func TestShorten(t *testing.T) {
	style := textStyle(sizeTick, ink)
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{"a_very_long_name_of_a_region_in_a_big_program", "a_very_lo…_program"},
		{"line\nend\ttab", "line end tab"},
		{"", ""},
	} {
		if got := shorten(c.in, style, px(120)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	long := strings.Repeat("x", 1<<20)
	if got := shorten(long, style, px(50)); style.Width(got) > px(50) {
		t.Errorf("%q is wider than asked", got)
	}
	if got := shortenName("solve(double*, int)", style, px(60)); got != "solve" {
		t.Errorf("parameters stay in %q", got)
	}
	if got := shorten("word", style, 0); got != "" && style.Width(got) > style.Width("…") {
		t.Errorf("no room, but %q", got)
	}
}

func checkTicks(t *testing.T, r span, ticks []plot.Tick, most int) {
	t.Helper()
	seen, labeled := map[string]bool{}, 0
	slack := (r.hi - r.lo) * 1e-6
	for i, k := range ticks {
		if k.Value < r.lo-slack || k.Value > r.hi+slack || i > 0 && k.Value <= ticks[i-1].Value {
			t.Errorf("%v: tick %v out of place", r, k)
		}
		if k.Label == "" {
			continue
		}
		if seen[k.Label] {
			t.Errorf("%v: label %q twice", r, k.Label)
		}
		seen[k.Label] = true
		labeled++
	}
	if labeled > most {
		t.Errorf("%v: %d labels", r, labeled)
	}
}
