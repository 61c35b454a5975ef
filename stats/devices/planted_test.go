package devices_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/document/accelerator"
	"tracekit/stats/devices"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestPlanted runs the hand-worked cases of testdata. The arithmetic stands in each file. A case
// wants some kinds of lines; of these kinds it wants all.
func TestPlanted(t *testing.T) {
	tracetest.Cases(t, "*.txtar", func(t *testing.T, parts map[string]string) {
		tracetest.CheckLines(t, parts["want"], brief(found(t, tracetest.MustParse(t, parts["trace"]))))
	})
}

// brief writes what is found in lines, a word for the kind of line first.
func brief(r *devices.Result) (out []string) {
	add := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	times := func(x accelerator.Times) string {
		return fmt.Sprintf("span %d busy %d compute %d communication %d exposed %d memory %d exposed %d idle %d", x.SpanNs, x.BusyNs,
			x.ComputeNs, x.CommunicationNs, x.ExposedCommunicationNs, x.MemoryNs, x.ExposedMemoryNs, x.IdleNs)
	}
	for _, d := range r.Devices {
		add("device %d %s : %s", d.Rank, d.Device, times(d.Times))
		c := d.IdleCauses
		add("idle host %d gaps %d unknown %d collective %d", c.HostBoundNs, c.KernelGapsNs, c.UnknownNs, c.CollectiveWaitNs)
		for _, g := range d.Gaps {
			add("gap at %d for %d host %d before %s from %s", g.StartNs, g.TimeNs, g.HostBoundNs, g.Before, g.LaunchedFrom)
		}
		for _, x := range d.IdleBefore {
			add("before %s by %s %d in %d host %d gaps %d", x.Operator, x.Call, x.Count, x.TimeNs, x.HostBoundNs, x.KernelGapsNs)
		}
		if s := d.Steps; s != nil {
			add("steps %d cut %d : %d %d %d", s.Count, s.Cut, s.MinNs, s.MeanNs, s.MaxNs)
			for _, x := range s.Rows {
				cut := ""
				if x.Cut {
					cut = " cut"
				}
				add("step %s at %d%s : %s", x.Step, x.StartNs, cut, times(x.Times))
			}
		}
		for _, p := range d.Parts {
			add("part %s %d : %s", p.Part, p.Count, times(p.Times))
		}
		for _, s := range d.Streams {
			add("stream %s %d : %s", s.Stream, s.Count, times(s.Times))
		}
		for _, k := range d.Kernels {
			from := ""
			for _, s := range k.LaunchedFrom {
				operator := string(s.Operator)
				if operator == "" {
					operator = "-"
				}
				from += fmt.Sprintf(" : %s by %s %d in %d", operator, s.Call, s.Count, s.TimeNs)
			}
			add("kernel %s %s %d in %d (%d..%d)%s", k.Name, k.Kind, k.Count, k.TimeNs, k.MinNs, k.MaxNs, from)
		}
		if l := d.Launches; l != nil {
			add("launches %d without %d unsure %d below zero %d : %d %d %d", l.Count, l.Without, l.Unsure, l.BelowZero, l.Delay.MinNs,
				l.Delay.MeanNs, l.Delay.MaxNs)
			add("delays %d %d %d queue %.4g", l.Delay.P50Ns, l.Delay.P90Ns, l.Delay.P99Ns, *l.Queue)
		}
		for _, c := range d.Collectives {
			add("collective %s of %d, %d bytes %d in %d : %s", c.Operation, c.Members, c.Bytes, c.Count, c.TimeNs, number(c.BusBandwidth))
		}
		if s := d.Straggler; s != nil {
			add("straggler %d waits %d in %d last %d causes %d late %d", s.Count, s.WaitCount, s.WaitNs, s.ComesLast, s.CausedNs, s.LateMeanNs)
		}
		for _, w := range d.HostWaits {
			add("wait %s %d in %d", w.Call, w.Count, w.TimeNs)
		}
	}
	if r.Path != nil {
		add("length %d", r.Path.LengthNs)
		for _, x := range r.Path.Rows {
			add("path %s %s %d in %d most %d (%d)", x.Kind, x.Name, x.Count, x.TimeNs, x.MaxNs, x.MaxRank)
		}
		add("exposed communication %d memory %d", r.Path.ExposedCommunicationNs, r.Path.ExposedMemoryNs)
		for _, w := range r.Path.AfterWaits {
			add("after %s %d in %d", w.Call, w.Count, w.TimeNs)
		}
	}
	for _, c := range r.Counters {
		falls := ""
		if c.Falls > 0 {
			falls = fmt.Sprintf(" falls %d", c.Falls)
		}
		add("counter %s %s %d : %s %s %s growth %s%s", c.Name, c.Unit, c.Samples, number(c.Min), number(c.Mean), number(c.Max),
			number(c.Growth), falls)
	}
	for _, f := range r.Findings {
		add("finding %s %d", f.Code, f.Count)
	}
	return out
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *x)
}

// TestTooDeep: inside as many regions as there may be, a wait ends where another one begins.
func TestTooDeep(t *testing.T) {
	src := tracetest.Inside(tracetest.MustParse(t, `
process 0 host
process 1 gpu kind=2 creator=0
region 0 main
region 1 cudaDeviceSynchronize
region 2 k paradigm=5
location 0 thread process=0 kind=1
  10 Enter cudaDeviceSynchronize ; 30 Enter cudaDeviceSynchronize ; 70 Leave cudaDeviceSynchronize
location 1 stream process=1 kind=2
  20 Enter k ; 60 Leave k
`), trace.MaxDepth-1)
	lines := slices.DeleteFunc(brief(found(t, src)), func(line string) bool { return !strings.HasPrefix(line, "wait ") })
	if want := []string{"wait cudaDeviceSynchronize 2 in 60"}; !slices.Equal(lines, want) {
		t.Errorf("found %q, want %q", lines, want)
	}
}
