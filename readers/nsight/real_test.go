package nsight

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A sum is how often something happened, and how long it took.
type sum struct {
	Calls, Kernels, Ranges uint64
	Total                  int64 `json:"total_ns"`
}

// truths are what is known of a file, by a program that knows nothing of this one.
type truths struct {
	Version  string         `json:"product_version"`
	UTC      *int64         `json:"utc_epoch_ns"`
	Runtime  map[string]sum `json:"runtime_calls_by_name"`
	Repeated uint64         `json:"runtime_rows_of_other_classes"`
	Devices  []struct {
		Device                    int64
		Kernels, Memcpys, Memsets uint64
		Streams                   []int64
		Busy                      int64             `json:"busy_ns"`
		KernelBusy                int64             `json:"kernel_busy_ns"`
		First                     int64             `json:"first_ns"`
		Last                      int64             `json:"last_ns"`
		Bytes                     map[string]uint64 `json:"memcpy_bytes_by_copyKind"`
	}
	Kernels map[string]sum    `json:"kernels_by_short_name"`
	Links   map[string]uint64 `json:"launch_links"`
	NVTX    map[string]sum    `json:"nvtx_ranges_by_domain"`
	MPI     map[string]sum    `json:"mpi_calls"`
}

// A visit is one of a region.
type visit struct {
	from, to    int64
	region      trace.RegionID
	correlation uint64
	bytes       uint64
}

// visitsOf returns the visits of a location in order of their ends.
func visitsOf(t *testing.T, src trace.Source, l trace.LocationID) (out []visit) {
	t.Helper()
	var stack []visit
	for b, err := range src.Events(t.Context(), l) {
		if err != nil {
			t.Fatal(err)
		}
		attrs := 0
		for i, kind := range b.Flow.Kind {
			if kind == trace.KindLeave {
				top := stack[len(stack)-1]
				stack, top.to = stack[:len(stack)-1], b.Flow.Time[i]
				out = append(out, top)
				continue
			}
			v := visit{from: b.Flow.Time[i], region: b.Flow.Region[i]}
			for attrs < len(b.Attrs.Seq) && b.Attrs.Seq[attrs] <= b.Flow.Seq[i] {
				switch {
				case b.Attrs.Seq[attrs] < b.Flow.Seq[i]:
				case b.Attrs.Attribute[attrs] == recording.AttrCorrelation:
					v.correlation = b.Attrs.Value[attrs]
				case b.Attrs.Attribute[attrs] == recording.AttrBytes:
					v.bytes = b.Attrs.Value[attrs]
				}
				attrs++
			}
			stack = append(stack, v)
		}
	}
	return out
}

// union returns how long some visit lasts.
func union(visits []visit) (total int64) {
	slices.SortFunc(visits, func(x, y visit) int { return cmp.Compare(x.from, y.from) })
	reach := int64(-1 << 63)
	for _, v := range visits {
		if v.to > reach {
			total += v.to - max(v.from, reach)
			reach = v.to
		}
	}
	return total
}

// add counts a visit.
func add(sums map[string]sum, name string, v visit, count func(*sum) *uint64) {
	s := sums[name]
	*count(&s)++
	s.Total += v.to - v.from
	sums[name] = s
}

// TestReal holds what is read of real files against their published truths.
func TestReal(t *testing.T) {
	for _, path := range tracetest.MoreTraces(t, "recorders/nsys/*.sqlite") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var want truths
			text, err := os.ReadFile(strings.TrimSuffix(path, extension) + ".expected.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			src, err := Open(t.Context(), []string{path}, recording.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			hold(t, src, shortNames(t, path), &want)
		})
	}
}

// shortNames returns the short name of each kernel.
func shortNames(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sqlite.Open(path, func(sqlite.Fault, int64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, strings := make(map[string]string), make(map[int64]string)
	_ = db.Table("StringIds").Rows(t.Context(), []string{"id", "value"}, func(v []sqlite.Value) bool {
		strings[v[0].Int()] = v[1].String()
		return true
	})
	_ = db.Table(kernelTable).Rows(t.Context(), []string{"demangledName", "shortName"}, func(v []sqlite.Value) bool {
		names[strings[v[0].Int()]] = strings[v[1].Int()]
		return true
	})
	return names
}

// hold compares a trace with the truths of its file.
func hold(t *testing.T, src trace.Source, short map[string]string, want *truths) {
	t.Helper()
	defs := src.Defs()
	runtime, kernels, mpi := make(map[string]sum), make(map[string]sum), make(map[string]sum)
	ranges := sum{}
	type call struct {
		group trace.LocationGroupID
		id    uint64
	}
	calls := make(map[call]int64)
	links := make(map[string]uint64)
	devices := make(map[trace.LocationGroupID][]visit)
	for pass := range 2 { // the calls first
		for l, loc := range defs.Locations {
			for _, v := range visitsOf(t, src, trace.LocationID(l)) {
				r := defs.Regions[v.region]
				name := defs.String(r.Name)
				switch what := defs.String(r.Description); {
				case pass == 0 && (what == "cuda_runtime" || what == "cuda_driver"):
					add(runtime, name, v, func(s *sum) *uint64 { return &s.Calls })
					calls[call{defs.Process(trace.LocationID(l)), v.correlation}] = v.from
				case pass == 0 && what == "mpi":
					add(mpi, name, v, func(s *sum) *uint64 { return &s.Calls })
				case pass == 0 && what == "user_annotation":
					ranges.Ranges++
					ranges.Total += v.to - v.from
				case pass == 1 && loc.Kind == trace.LocationGPU:
					if what == "kernel" {
						add(kernels, short[name], v, func(s *sum) *uint64 { return &s.Kernels })
					}
					kind := map[string]string{"kernel": "kernels", "gpu_memcpy": "memcpys", "gpu_memset": "memsets"}[what]
					begin, ok := calls[call{defs.Process(trace.LocationID(l)), v.correlation}]
					if !ok {
						kind = "without_" + kind
					} else if v.from < begin {
						t.Errorf("%s begins before its launch", name)
					}
					links[kind]++
					devices[loc.Group] = append(devices[loc.Group], v)
				}
			}
		}
	}
	wanted := make(map[string]sum)
	for name, s := range want.Runtime {
		name = versioned().ReplaceAllLiteralString(name, "")
		wanted[name] = sum{Calls: wanted[name].Calls + s.Calls, Total: wanted[name].Total + s.Total}
	}
	nvtx := sum{}
	for domain, s := range want.NVTX {
		if domain != "MPI" {
			nvtx = sum{Ranges: nvtx.Ranges + s.Ranges, Total: nvtx.Total + s.Total}
		}
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{{"runtime", runtime, wanted}, {"kernels", kernels, want.Kernels}, {"links", links, want.Links}, {"MPI", mpi, want.MPI},
		{"ranges", ranges, nvtx}} {
		if diff := gocmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
	for i, group := range slices.Sorted(maps.Keys(devices)) {
		holdDevice(t, defs, devices[group], i, want)
	}
	if len(devices) != len(want.Devices) {
		t.Errorf("%d devices, want %d", len(devices), len(want.Devices))
	}
	if repeated := recordingtest.Count(src, trace.CodeRedundantRecord); repeated != want.Repeated {
		t.Errorf("%d calls are repeated, want %d", repeated, want.Repeated)
	}
	for _, code := range []trace.Code{trace.CodeCorrupt, trace.CodeTruncated, trace.CodeOverlap} {
		if recordingtest.Count(src, code) > 0 {
			t.Errorf("findings %v", src.Findings())
		}
	}
	if want.UTC == nil != (defs.Clock.Realtime == ^uint64(0)) {
		t.Errorf("time since 1970 is %d", defs.Clock.Realtime)
	}
	if !strings.HasSuffix(src.Info().Creator, want.Version) {
		t.Errorf("creator %q, want %q", src.Info().Creator, want.Version)
	}
}

// holdDevice compares what a device did with the truths.
func holdDevice(t *testing.T, defs *trace.Defs, visits []visit, number int, want *truths) {
	t.Helper()
	w := want.Devices[number]
	epoch := int64(0)
	if want.UTC != nil {
		epoch = *want.UTC
	}
	var kernels []visit
	counts, bytes := make(map[string]uint64), make(map[string]uint64)
	first, last := int64(1<<63-1), int64(-1<<63)
	for _, v := range visits {
		r := defs.Regions[v.region]
		what := defs.String(r.Description)
		counts[what]++
		switch what {
		case "kernel":
			kernels = append(kernels, v)
		case "gpu_memcpy":
			for kind, direction := range copyKinds {
				if strings.HasPrefix(defs.String(r.Name), "Memcpy "+direction+" (") {
					bytes[string(rune('0'+kind))] += v.bytes
				}
			}
		}
		first, last = min(first, v.from-epoch), max(last, v.to-epoch)
	}
	if busy, kernelBusy := union(visits), union(kernels); busy != w.Busy || kernelBusy != w.KernelBusy {
		t.Errorf("device %d is busy for %d ns, with kernels for %d, want %d and %d", number, busy, kernelBusy, w.Busy, w.KernelBusy)
	}
	if first != w.First || last != w.Last {
		t.Errorf("device %d works from %d to %d, want %d to %d", number, first, last, w.First, w.Last)
	}
	if counts["kernel"] != w.Kernels || counts["gpu_memcpy"] != w.Memcpys || counts["gpu_memset"] != w.Memsets {
		t.Errorf("device %d: %v, want %d, %d, %d", number, counts, w.Kernels, w.Memcpys, w.Memsets)
	}
	if diff := gocmp.Diff(w.Bytes, bytes); diff != "" {
		t.Errorf("device %d, bytes (-want +got):\n%s", number, diff)
	}
}
