package perfetto

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A total is how often slices of a name took place and how long they took.
type total struct {
	Count uint64
	Total int64 `json:"total_ns"`
}

// A series is how many values a counter has, and the last one.
type series struct {
	Values uint64
	Last   float64
}

// truths are what the program that made the files has put into them.
type truths struct {
	Slices    map[string]map[string]total
	Counters  map[string]series
	Instants  int
	Flows     int
	Processes int
	Threads   int
	Epoch     int64            `json:"clock_realtime_minus_boottime"`
	Open      int              `json:"slices_without_end"`
	Busy      map[string]int64 `json:"kernel_busy_ns"`
	Packets   int
}

var rankName = regexp.MustCompile(`rank (\d)(?:: GPU \d)?/`)

// TestShared compares traces with what is known of them.
func TestShared(t *testing.T) {
	var all map[string]json.RawMessage
	data, err := os.ReadFile(tracetest.Shared(t, "recorders", "perfetto", "expected.json"))
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	var want truths
	if err == nil {
		err = json.Unmarshal(all["rocprof-like"], &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rocprof-like.pftrace", "rocprof-like.z.pftrace", "rocprof-like.pftrace.gz"} {
		t.Run(name, func(t *testing.T) {
			compareTruths(t, tracetest.Shared(t, "recorders", "perfetto", name), want)
		})
	}
}

func compareTruths(t *testing.T, path string, want truths) {
	src, err := Open(t.Context(), []string{path}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	got := truths{Slices: make(map[string]map[string]total), Counters: make(map[string]series), Busy: make(map[string]int64),
		Epoch: want.Epoch, Packets: want.Packets}
	flows, launched := make(map[string]string), make(map[string]int)
	busy := make(map[string][][2]int64)
	for _, v := range visits(t, src) {
		m := rankName.FindStringSubmatch(v.where)
		if m == nil {
			t.Fatal(v.where)
		}
		pid := "700" + m[1]
		_, row, _ := strings.Cut(v.where, "/")
		row = strings.Replace(row, "stream", "HIP Activity Stream", 1)
		row = regexp.MustCompile(` \(overlap \d+\)`).ReplaceAllString(row, "")
		where := pid + "/" + row
		switch v.what {
		case trace.KindInstant:
			got.Instants++
			continue
		case trace.KindMetric:
			s := got.Counters[pid+"/"+v.name]
			got.Counters[pid+"/"+v.name] = series{s.Values + 1, v.value}
			continue
		case trace.KindEnter:
		default:
			t.Error("an event of kind", v.what)
		}
		if v.to == 0 {
			got.Open++
			continue
		}
		if got.Slices[where] == nil {
			got.Slices[where] = make(map[string]total)
		}
		s := got.Slices[where][v.name]
		got.Slices[where][v.name] = total{s.Count + 1, s.Total + v.to - v.from}
		if strings.Contains(v.where, "GPU") {
			busy[pid] = append(busy[pid], [2]int64{v.from, v.to})
		}
		if before, id, ok := strings.Cut(v.attrs, "flow_"); ok {
			kind, number, _ := strings.Cut(id, " ")
			flows[number] += kind + " "
			launched[before]++
		}
	}
	for _, kinds := range flows {
		if kinds == "out in " || kinds == "out step " {
			got.Flows++
		}
	}
	for _, n := range launched {
		if n != 2 {
			t.Error("a launch without its kernel, or with several:", launched)
		}
	}
	for pid, spans := range busy {
		slices.SortFunc(spans, func(x, y [2]int64) int { return cmp.Compare(x[0], y[0]) })
		reach := int64(0)
		for _, s := range spans {
			got.Busy[pid] += max(0, s[1]-max(s[0], reach))
			reach = max(reach, s[1])
		}
	}
	threads := make(map[string]bool)
	for _, l := range src.Defs().Locations {
		group := src.Defs().LocationGroups[l.Group]
		if name := src.Defs().String(l.Name); l.Kind == trace.LocationCPUThread && !strings.HasPrefix(name, "requests") {
			threads[fmt.Sprint(l.Group, name)] = true
		}
		if group.Kind == 1 && !threads[src.Defs().String(group.Name)] {
			threads[src.Defs().String(group.Name)] = true
			got.Processes++
		}
	}
	got.Threads = len(threads) - got.Processes
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	const boot = 5_000_000_000_000
	if c := src.Defs().Clock; c.GlobalOffset < boot+want.Epoch || c.GlobalOffset > boot+want.Epoch+1e9 ||
		c.Realtime != uint64(c.GlobalOffset) {
		t.Error("clock", c)
	}
	if p := src.Info().Properties["packets"]; p != fmt.Sprint(want.Packets) {
		t.Error("packets", p)
	}
}

// TestSharedClocks compares the trace of several clocks, and of lost packets, with what is known of it.
func TestSharedClocks(t *testing.T) {
	src, err := Open(t.Context(), []string{tracetest.Shared(t, "recorders", "perfetto", "clocks.pftrace")}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	// Times are those since 1970.
	want(t, src, `
clocks/monotonic: on monotonic 1780000000002000000-1780000000004000000
clocks/incremental microseconds: on a local clock 1780000000005500000-1780000000005750000
clocks/realtime: on realtime 1780000000006000000-1780000000006500000
clocks/lossy: kept 1780000000007000000-1780000000007100000
clocks/lossy: kept again 1780000000007400000-1780000000007500000
`, "unused_record 3")
	if p := src.Info().Properties; p["packets whose names were lost, since the recorder dropped packets before them"] != "2" ||
		p["packets whose names come before the begin of the file"] != "1" || p["packets"] != "25" {
		t.Error(p)
	}
}
