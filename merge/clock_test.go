package merge_test

import (
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/trace"
)

// skewed calls f with traces whose clocks are wrong and whose offsets do not help.
func skewed(t *testing.T, f func(name string, m *samples.Memory)) {
	for _, p := range samples.Programs() {
		for _, threads := range []int{1, 2} {
			for _, plant := range []samples.Plant{
				{Skew: 50_000, Offsets: samples.OffsetsNone},
				{Skew: 5_000_000, Drift: 300, Offsets: samples.OffsetsNone},
				{Skew: 200_000, Drift: 50, Offsets: samples.OffsetsWrong},
				{Skew: 3000, Lost: 3, Offsets: samples.OffsetsNone},
			} {
				m, _ := generate(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 20, Threads: threads, Seed: 4, Plant: plant})
				f(fmt.Sprintf("%s, %d threads, %+v", p.Name, threads, plant), m)
			}
		}
	}
}

// TestNothingRunsBackwards: after the logical clock no violation is left, with any least
// latency that the network of the simulator takes.
func TestNothingRunsBackwards(t *testing.T) {
	repaired := 0
	skewed(t, func(name string, m *samples.Memory) {
		for _, latency := range []int64{0, 500} {
			c := merged(t, m, merge.Options{Clock: merge.ClockCLC, MinLatency: latency}).Clock
			if c.Messages.After+c.Collectives.After > 0 {
				t.Errorf("%s: %+v, %+v", name, c.Messages, c.Collectives)
			}
			if c.MaxShift > 0 {
				repaired++
			}
		}
	})
	if repaired < 50 {
		t.Errorf("only %d traces needed a repair", repaired)
	}
}

// TestMaps: clock maps do not let time run backwards, the logical clock moves nothing
// forwards in time, all threads of a process have one, and the rows of the trace have
// the times that the maps make of the recorded ones.
func TestMaps(t *testing.T) {
	skewed(t, func(name string, m *samples.Memory) {
		tr := merged(t, m, merge.Options{})
		plain := merged(t, m, merge.Options{Clock: merge.ClockNone})
		for l := range tr.Clock.Maps {
			c := &tr.Clock.Maps[l]
			checkMap(t, name, c, plain.Span[l])
			master := tr.World[tr.Rank[l]]
			if n := c.Knots.Len(); n != tr.Clock.Maps[master].Knots.Len() || n > 0 && c.Knots.At(n-1) != tr.Clock.Maps[master].Knots.At(n-1) {
				t.Errorf("%s: location %d and its master have different clocks", name, l)
			}
			for i := range plain.Calls[l].Len() {
				raw, got := plain.Calls[l].At(i), tr.Calls[l].At(i)
				if got.Enter != c.At(raw.Enter) || got.Leave != c.At(raw.Leave) {
					t.Fatalf("%s: call %d/%d from %d..%d to %d..%d", name, l, i, raw.Enter, raw.Leave, got.Enter, got.Leave)
				}
			}
			for i := range plain.Sends[l].Len() {
				if raw, got := plain.Sends[l].At(i), tr.Sends[l].At(i); got.Time != c.At(raw.Time) {
					t.Fatalf("%s: send %d/%d from %d to %d", name, l, i, raw.Time, got.Time)
				}
			}
			for i := range plain.Recvs[l].Len() {
				if raw, got := plain.Recvs[l].At(i), tr.Recvs[l].At(i); got.Time != c.At(raw.Time) {
					t.Fatalf("%s: receive %d/%d from %d to %d", name, l, i, raw.Time, got.Time)
				}
			}
		}
	})
}

// checkMap looks at a map where something can happen, and at ticks in between.
func checkMap(t *testing.T, name string, c *trace.ClockMap, span trace.Span) {
	t.Helper()
	last := c.At(span.First - 1)
	step := max(1, (span.Last-span.First)/5000)
	for at := span.First; at <= span.Last; at += step {
		now := c.At(at)
		if now < last || now < trace.CorrectOffset(c.Offsets, at) {
			t.Fatalf("%s: %d becomes %d, after %d", name, at, now, last)
		}
		last = now
	}
	for i := 1; i < c.Knots.Len(); i++ {
		a, b := c.Knots.At(i-1), c.Knots.At(i)
		if b.Time <= a.Time || b.Shift < 0 || b.Time+b.Shift < a.Time+a.Shift {
			t.Fatalf("%s: knots %v, %v", name, a, b)
		}
		if b.Shift < a.Shift && a.Shift-b.Shift > 3+(b.Time-a.Time)/90_000 {
			t.Fatalf("%s: the shift fades too fast from %v to %v", name, a, b)
		}
	}
}

// TestSoundClocksAreNotTouched: without violations the logical clock does nothing.
func TestSoundClocksAreNotTouched(t *testing.T) {
	for _, p := range samples.Programs() {
		m, _ := generate(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 20, Seed: 4})
		for _, mode := range []merge.ClockMode{merge.ClockAuto, merge.ClockCLC, merge.ClockNone} {
			tr := merged(t, m, merge.Options{Clock: mode})
			for l := range tr.Clock.Maps {
				if tr.Clock.Maps[l].Knots.Len() > 0 || tr.Clock.MaxShift > 0 {
					t.Errorf("%s, %s: location %d has a logical clock", p.Name, mode, l)
				}
			}
		}
	}
}

// TestClockModes: what is chosen, and what is reported about it.
func TestClockModes(t *testing.T) {
	right := samples.Plant{Skew: 100_000}
	wrong := samples.Plant{Skew: 100_000, Offsets: samples.OffsetsWrong}
	none := samples.Plant{Skew: 100_000, Offsets: samples.OffsetsNone}
	for _, c := range []struct {
		plant samples.Plant
		mode  merge.ClockMode
		want  trace.ClockMethod
	}{
		{right, merge.ClockAuto, trace.ClockOffsets},
		{right, merge.ClockNone, trace.ClockNone},
		{right, merge.ClockOffsets, trace.ClockOffsets},
		{right, merge.ClockCLC, trace.ClockOffsets},
		{wrong, merge.ClockOffsets, trace.ClockOffsets},
		{wrong, merge.ClockCLC, trace.ClockOffsetsCLC},
		{none, merge.ClockAuto, trace.ClockTogether},
		{none, merge.ClockOffsets, trace.ClockNone},
		{samples.Plant{}, merge.ClockCLC, trace.ClockNone},
	} {
		m, _ := generate(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 20, Seed: 4, Plant: c.plant})
		clock := merged(t, m, merge.Options{Clock: c.mode}).Clock
		if clock.Method != c.want {
			t.Errorf("%+v, %s: %s", c.plant, c.mode, clock.Method)
		}
		v, repaired := clock.Messages, clock.MaxShift > 0 || clock.Alignment != nil
		left := v.Raw
		if clock.Method == trace.ClockOffsets || clock.Method == trace.ClockOffsetsCLC {
			left = v.Offsets
		}
		if !repaired && v.After != left || repaired && v.After != 0 || (v.Max > 0) != (left > 0) {
			t.Errorf("%+v, %s: %+v", c.plant, c.mode, clock)
		}
	}
}

// TestRebuiltTimesAreNotRepaired: where the times are rebuilt from statistics, the logical
// clock runs only if it is asked for; what runs backwards is counted all the same.
func TestRebuiltTimesAreNotRepaired(t *testing.T) {
	plant := samples.Plant{Skew: 100_000, Offsets: samples.OffsetsNone}
	m, _ := generate(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 20, Seed: 4, Plant: plant})
	m.About.Properties = map[string]string{trace.PropertyReconstructed: "true"}
	for mode, want := range map[merge.ClockMode]trace.ClockMethod{
		merge.ClockAuto: trace.ClockNone, merge.ClockCLC: trace.ClockCLC} {
		clock := merged(t, m, merge.Options{Clock: mode}).Clock
		if clock.Method != want || clock.Messages.Raw == 0 {
			t.Errorf("%s: %+v", mode, clock)
		}
	}
}
