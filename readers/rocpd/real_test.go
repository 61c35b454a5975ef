package rocpd

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A sum is how often something happened, how long it took and how much was moved.
type sum struct {
	Count uint64
	Total int64 `json:"total_ns"`
	Bytes uint64
}

// A valueSum sums the values of a counter.
type valueSum struct {
	Count uint64
	Sum   float64
}

// truths are what is known of a process, by the program that made it up.
type truths struct {
	Pid                      int64
	Regions, Kernels, Copies map[string]sum
	Counters, Samples        map[string]valueSum
	Marks                    map[string]sum
	Allocated                int64  `json:"allocated_bytes"`
	Linked                   uint64 `json:"linked_kernels"`
	Unlinked                 uint64 `json:"unlinked_kernels"`
	KernelBusy               int64  `json:"kernel_busy_ns"`
	Busy                     int64  `json:"device_busy_ns"`
	Threads                  int
}

// A span is a time in which a device works.
type span struct{ from, to int64 }

// union returns how long some of them last.
func union(spans []span) (total int64) {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	reach := int64(math.MinInt64)
	for _, s := range spans {
		if s.to > reach {
			total += s.to - max(s.from, reach)
			reach = s.to
		}
	}
	return total
}

// TestReal holds what is read against the truths of their maker.
func TestReal(t *testing.T) {
	var all map[string][]truths
	text, err := os.ReadFile(tracetest.Shared(t, "recorders", "rocpd", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	all["v3"] = slices.Concat(all["v3/host-a/4101_results.db"], all["v3/host-a/rocpd-4102.db"]) // the directory
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			src, err := Open(t.Context(), []string{tracetest.Shared(t, "recorders", "rocpd", filepath.FromSlash(name))}, recording.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var got []truths
			for group, g := range src.Defs().LocationGroups {
				if g.Kind == 1 {
					got = append(got, truthsOf(t, src, trace.LocationGroupID(group)))
					got[len(got)-1].Pid = want[len(got)-1].Pid
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// truthsOf returns what a trace says of a process.
func truthsOf(t *testing.T, src trace.Source, process trace.LocationGroupID) truths {
	t.Helper()
	defs := src.Defs()
	out := truths{Regions: make(map[string]sum), Kernels: make(map[string]sum), Copies: make(map[string]sum),
		Counters: make(map[string]valueSum), Samples: make(map[string]valueSum), Marks: make(map[string]sum)}
	launches := make(map[uint64]bool)
	var kernels, work []span
	for pass := range 2 { // threads first
		for l, loc := range defs.Locations {
			if defs.Process(trace.LocationID(l)) != process || (loc.Kind == trace.LocationCPUThread) != (pass == 0) {
				continue
			}
			if pass == 0 {
				out.Threads++
			}
			type visit struct {
				from int64
				id   uint64
				size uint64
			}
			var stack []visit
			for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
				attrs := 0
				for i, kind := range b.Flow.Kind {
					if kind == trace.KindEnter {
						v := visit{from: b.Flow.Time[i]}
						for ; attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] <= b.Flow.Seq[i]; attrs++ {
							if b.Attrs.Attribute[attrs] == recording.AttrCorrelation {
								v.id = b.Attrs.Value[attrs]
							} else {
								v.size = b.Attrs.Value[attrs]
							}
						}
						stack = append(stack, v)
						continue
					}
					v := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					r := defs.Regions[b.Flow.Region[i]]
					name := defs.String(r.Name)
					into := out.Regions
					switch defs.String(r.Description) {
					case "kernel":
						into = out.Kernels
						kernels = append(kernels, span{v.from, b.Flow.Time[i]})
						if launches[v.id] {
							out.Linked++
						} else {
							out.Unlinked++
						}
					case "gpu_memcpy":
						into = out.Copies
						name = map[string]string{"Memcpy HtoD": "MEMORY_COPY_HOST_TO_DEVICE", "Memcpy DtoH": "MEMORY_COPY_DEVICE_TO_HOST"}[name]
					default:
						launches[v.id] = v.id != 0
					}
					if pass == 1 {
						work = append(work, span{v.from, b.Flow.Time[i]})
					}
					into[name] = sum{into[name].Count + 1, into[name].Total + b.Flow.Time[i] - v.from, into[name].Bytes + v.size}
				}
				for i, kind := range b.Other.Kind {
					if kind == trace.KindInstant {
						name := defs.String(trace.StringID(b.Other.Args[b.Other.Offset[i]]))
						out.Marks[name] = sum{Count: out.Marks[name].Count + 1}
					}
				}
				for i, id := range b.Metric.Metric {
					member := defs.MetricMembers[defs.Metrics[id].Members[0]]
					name, value := defs.String(member.Name), b.Metric.Type[i].Number(b.Metric.Value[i])
					switch {
					case strings.HasSuffix(name, "memory in use"):
						out.Allocated = max(out.Allocated, int64(value))
					case loc.Kind == trace.LocationGPU:
						out.Counters[name] = valueSum{out.Counters[name].Count + 1, out.Counters[name].Sum + value}
					default:
						out.Samples[name] = valueSum{out.Samples[name].Count + 1, out.Samples[name].Sum + value}
					}
				}
			}
		}
	}
	out.KernelBusy, out.Busy = union(kernels), union(work)
	return out
}
