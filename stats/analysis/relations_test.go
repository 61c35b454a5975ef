package analysis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/trace"
)

// A changed trace is one whose definitions and events say the same in another way.
type changed struct {
	trace.Source
	defs   *trace.Defs
	from   []trace.LocationID // by location: that of the source
	change func(*trace.Batch)
}

func (c *changed) Defs() *trace.Defs { return c.defs }

func (c *changed) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if c.from[l] == trace.None {
			return
		}
		for b, err := range c.Source.Events(ctx, c.from[l]) {
			if err == nil {
				out := *b
				out.Location = l
				c.change(&out)
				b = &out
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// same returns a trace that is not changed yet.
func same(src trace.Source) *changed {
	d := *src.Defs()
	d.Locations, d.Groups, d.Metrics, d.Strings = slices.Clone(d.Locations), slices.Clone(d.Groups), slices.Clone(d.Metrics),
		slices.Clone(d.Strings)
	c := &changed{Source: src, defs: &d, change: func(*trace.Batch) {}}
	for l := range d.Locations {
		c.from = append(c.from, trace.LocationID(l))
	}
	return c
}

// times changes all times of a trace.
func times(c *changed, by func(int64) int64) {
	for l := range c.defs.Locations {
		offsets := slices.Clone(c.defs.Locations[l].ClockOffsets)
		for i := range offsets {
			offsets[i].Time, offsets[i].Offset = by(offsets[i].Time), by(offsets[i].Offset)-by(0)
		}
		c.defs.Locations[l].ClockOffsets = offsets
	}
	c.change = func(b *trace.Batch) {
		for _, times := range []*[]int64{&b.Flow.Time, &b.P2P.Time, &b.Coll.Time, &b.Metric.Time, &b.Other.Time} {
			out := make([]int64, len(*times))
			for i, t := range *times {
				out[i] = by(t)
			}
			*times = out
		}
	}
}

// relations are changes that leave what an analysis says.
var relations = []struct {
	name   string
	change func(*changed, *rand.Rand)
}{
	{"shifted in time", func(c *changed, r *rand.Rand) {
		by := r.Int64N(1 << 40)
		c.defs.Clock.GlobalOffset += by
		times(c, func(t int64) int64 { return t + by })
	}},
	{"locations in another order", func(c *changed, r *rand.Rand) {
		n := len(c.from)
		old := slices.Clone(c.defs.Locations)
		to := make([]uint32, n) // of the old ones
		for l, from := range r.Perm(n) {
			c.from[l], c.defs.Locations[l], to[from] = trace.LocationID(from), old[from], uint32(l)
		}
		for i := range c.defs.Groups {
			g := &c.defs.Groups[i]
			if g.Kind != trace.GroupCommLocations && g.Kind != trace.GroupLocations {
				continue
			}
			g.Members = slices.Clone(g.Members)
			for k, m := range g.Members {
				if int(m) < n {
					g.Members[k] = to[m]
				}
			}
		}
		for i := range c.defs.Metrics {
			if m := &c.defs.Metrics[i]; int(m.Recorder) < n {
				m.Recorder = trace.LocationID(to[m.Recorder])
			}
		}
	}},
	{"regions with other names", func(c *changed, _ *rand.Rand) {
		for i, s := range c.defs.Strings {
			if s != "" && !strings.HasPrefix(s, "MPI_") {
				c.defs.Strings[i] = s + renamed
			}
		}
	}},
	{"with a location that has no events", func(c *changed, _ *rand.Rand) {
		idle := c.defs.Locations[len(c.defs.Locations)-1]
		idle.Ref, idle.Events = 1<<20, 0
		c.defs.Locations = append(c.defs.Locations, idle)
		c.from = append(c.from, trace.None)
	}},
}

// renamed is what names are made others with.
const renamed = "_renamed"

// form are the keys of what depends on the form of a trace: numbers of locations and of call paths, and quantiles, which are within 1 % and
// of classes that count ticks.
var form = []string{"location", "callpath", "callpaths", "p50_ns", "p99_ns", "p50", "p99", "mean_ns"}

// said is a document without what names locations, clocks and how much was recorded.
func said(t *testing.T, src trace.Source) []string {
	t.Helper()
	doc := documentOf(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{Overhead: &overhead.Options{}, Top: 1})
	var tree map[string]any
	if err := json.Unmarshal(doc, &tree); err != nil {
		t.Fatal(err)
	}
	info := tree["trace"].(map[string]any)
	start := int64(info["start_ns"].(float64))
	for _, key := range []string{"locations", "clock_resolution_hz", "start_ns", "end_ns"} {
		delete(info, key)
	}
	delete(tree, "findings")
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				if slices.Contains(form, key) {
					continue
				}
				walk(path+"."+key, x)
			}
		case []any:
			for i, x := range v {
				walk(path+"["+strconv.Itoa(i)+"]", x)
			}
		case float64:
			if strings.HasSuffix(path, "start_ns") || strings.HasSuffix(path, "from_ns") || strings.HasSuffix(path, "to_ns") {
				v -= float64(start)
			}
			out = append(out, fmt.Sprintf("%s %.9g", path, v))
		default:
			out = append(out, strings.ReplaceAll(fmt.Sprintf("%s %v", path, v), renamed, ""))
		}
	}
	walk("", tree)
	slices.Sort(out)
	return out
}

// TestRelations states of random programs what an analysis says whatever the trace's form. TRACEKIT_PROGRAMS is how many are tried.
func TestRelations(t *testing.T) {
	programs := 100
	if n, err := strconv.Atoi(os.Getenv("TRACEKIT_PROGRAMS")); err == nil {
		programs = n
	}
	r := rand.New(rand.NewPCG(7, 7))
	for n := range programs {
		all := samples.Programs()
		o := samples.Options{Program: all[r.IntN(len(all))].Name, Ranks: 2 + r.IntN(7), Iterations: 1 + r.IntN(12), Seed: r.Uint64(),
			Threads: r.IntN(3),
			Steady:  r.IntN(2) == 0, Plant: samples.Plant{LateSender: r.Int64N(3) * 2000, Imbalance: r.Int64N(2) * 3000, Lost: r.IntN(2)}}
		src, _, err := samples.InMemory(t.Context(), o)
		if err != nil {
			continue // such a program needs more ranks, or has nothing to plant that into
		}
		want := said(t, src)
		for _, rel := range relations {
			c := same(src)
			rel.change(c, r)
			if got := said(t, c); !slices.Equal(want, got) {
				t.Errorf("program %d, %s of %d ranks, %s: %s", n, o.Program, o.Ranks, rel.name,
					firstDifference([]byte(strings.Join(want, "\n")), []byte(strings.Join(got, "\n"))))
			}
		}
	}
}
