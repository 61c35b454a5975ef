package devices_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/document/accelerator"
	"tracekit/engine"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats/devices"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// analyzed returns what is found about a trace.
func analyzed(t testing.TB, paths ...string) *devices.Result {
	t.Helper()
	src, err := readers.OpenAll(t.Context(), paths, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return found(t, src)
}

// found merges a source and finds what its devices do, in the whole run.
func found(t testing.TB, src trace.Source) *devices.Result {
	t.Helper()
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	from, to, err := scope.Window(tr, scope.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, tr, devices.Options{From: from, To: to})
	for _, d := range r.Devices {
		checkSums(t, &d)
	}
	if r.Path != nil {
		var sum int64
		for _, x := range r.Path.Rows {
			sum += x.TimeNs
		}
		if sum != r.Path.LengthNs || tr.Defs.Clock.Resolution == 1e9 && sum != to-from {
			t.Errorf("the path sums to %d, its length is %d, the run takes %d", sum, r.Path.LengthNs, to-from)
		}
	}
	return r
}

// find decodes a trace and finds what its devices do.
func find(t testing.TB, tr *trace.Trace, opts devices.Options) *devices.Result {
	f := devices.NewFinder(tr, opts)
	_, err := engine.Each(t.Context(), tr.Source, engine.Options{Jobs: opts.Jobs, Listeners: []engine.Listener{profile.Hearing(f, nil)}},
		func(_ context.Context, _ trace.LocationID, batches engine.Batches) (struct{}, error) {
			for _, err := range batches {
				if err != nil {
					return struct{}{}, err
				}
			}
			return struct{}{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &f.Result
}

// checkSums states what must add up.
func checkSums(t testing.TB, d *accelerator.Device) {
	t.Helper()
	check := func(what string, x accelerator.Times) {
		if x.SpanNs != x.BusyNs+x.IdleNs || x.BusyNs != x.ComputeNs+x.ExposedCommunicationNs+x.ExposedMemoryNs ||
			x.ExposedCommunicationNs > x.CommunicationNs || x.ExposedMemoryNs > x.MemoryNs {
			t.Errorf("%s, %s: times do not add up: %+v", d.Device, what, x)
		}
	}
	check("all", d.Times)
	for _, s := range d.Streams {
		check(s.Stream, s.Times)
	}
	for _, p := range d.Parts {
		check(p.Part, p.Times)
	}
	if c := d.IdleCauses; c.HostBoundNs+c.KernelGapsNs+c.UnknownNs != d.IdleNs || c.CollectiveWaitNs > d.ExposedCommunicationNs ||
		c.HostBoundNs < 0 {
		t.Errorf("%s: causes of idleness are not the idle time: %+v of %d", d.Device, c, d.IdleNs)
	}
}

// TestTraceLens holds the times of devices against those that TraceLens has published for the
// same traces. Of a trace with activation checkpointing it has two rows each, and counts only what
// is linked to its launch by a flow.
func TestTraceLens(t *testing.T) {
	gpu := tracetest.Shared(t, "json", "gpu")
	tables, err := filepath.Glob(filepath.Join(gpu, "*.csv", "gpu_timeline.csv"))
	if err != nil || len(tables) == 0 {
		t.Skip("no published tables in ", gpu)
	}
	for _, table := range tables {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(table)), ".csv")
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(gpu, name+".json.gz")
			if _, err := os.Stat(file); err != nil {
				some, _ := filepath.Glob(filepath.Join(gpu, name+"*.json.gz"))
				if len(some) != 1 {
					t.Skip("no trace for ", table)
				}
				file = some[0]
			}
			rows := readTable(t, table)
			if slices.Contains(rows[0], "is_recompute") {
				file = withoutUnlinkedMemsets(t, file)
			}
			r := analyzed(t, file)
			if len(r.Devices) != 1 {
				t.Fatalf("%d devices, want 1", len(r.Devices))
			}
			for _, row := range rows[1:] {
				times := r.Devices[0].Times
				if len(row) > 3 {
					times = partOf(t, r.Devices[0], map[string]string{"False": "first_pass", "True": "recompute"}[row[3]])
				}
				got := map[string]int64{"computation_time": times.ComputeNs, "exposed_comm_time": times.ExposedCommunicationNs,
					"exposed_memcpy_time": times.ExposedMemoryNs, "busy_time": times.BusyNs, "idle_time": times.IdleNs,
					"total_time": times.SpanNs, "total_comm_time": times.CommunicationNs, "total_memcpy_time": times.MemoryNs}[row[0]]
				want, err := strconv.ParseFloat(row[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				if want *= 1e6; math.Abs(float64(got)-want) > 0.001*want {
					t.Errorf("%s: got %d ns, want %.0f ns", strings.Join(row, ","), got, want)
				}
			}
		})
	}
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(path, err)
	}
	return rows
}

func partOf(t *testing.T, d accelerator.Device, name string) accelerator.Times {
	t.Helper()
	for _, p := range d.Parts {
		if p.Part == name {
			return p.Times
		}
	}
	t.Fatalf("no part %q", name)
	return accelerator.Times{}
}

// withoutUnlinkedMemsets copies a trace without the setting of memory whose call has no start of a
// flow, which its profiler forgets: there the correlation still tells the launch, and TraceLens,
// which goes by flows, leaves it out.
func withoutUnlinkedMemsets(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]json.RawMessage
	var events []json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc["traceEvents"], &events); err != nil {
		t.Fatal(err)
	}
	type event struct {
		Ph, Cat string
		ID      json.Number
		Args    struct{ Correlation json.Number }
	}
	parse := func(raw json.RawMessage) (e event) {
		if !bytes.Contains(raw, []byte(`"ac2g"`)) && !bytes.Contains(raw, []byte(`"gpu_memset"`)) {
			return e
		}
		_ = json.Unmarshal(raw, &e) // members of other types are those of other events
		return e
	}
	started := make(map[json.Number]bool)
	for _, raw := range events {
		if e := parse(raw); e.Cat == "ac2g" && e.Ph == "s" {
			started[e.ID] = true
		}
	}
	events = slices.DeleteFunc(events, func(raw json.RawMessage) bool {
		e := parse(raw)
		return e.Cat == "gpu_memset" && !started[e.Args.Correlation]
	})
	if doc["traceEvents"], err = json.Marshal(events); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trace.json")
	tracetest.WriteFile(t, out, text)
	return out
}

// TestTraceLensKernels holds the sums of kernels by name and operator against TraceLens' table.
func TestTraceLensKernels(t *testing.T) {
	const name = "h100_gaunernst_bert-small-uncased__1016001"
	rows := readTable(t, tracetest.Shared(t, "json", "gpu", name+".csv", "kernel_summary.csv"))
	r := analyzed(t, tracetest.Shared(t, "json", "gpu", name+".json.gz"))
	column := func(title string) int { return slices.Index(rows[0], title) }
	type key struct{ operator, kernel string }
	got := make(map[key]accelerator.LaunchSite)
	for _, k := range r.Devices[0].Kernels {
		for _, s := range k.LaunchedFrom {
			x := key{string(s.Operator), k.Name}
			sum := got[x]
			sum.Count += s.Count
			sum.TimeNs += s.TimeNs
			got[x] = sum
		}
	}
	for _, row := range rows[1:] {
		x := key{row[column("Parent cpu_op")], row[column("Kernel name")]}
		us, err1 := strconv.ParseFloat(row[column("Kernel duration (µs)_sum")], 64)
		count, err2 := strconv.ParseUint(row[column("Kernel duration (µs)_count")], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if s := got[x]; s.Count != count || math.Abs(float64(s.TimeNs)-us*1e3) > 1 {
			t.Errorf("%s from %s: got %d in %d ns, want %d in %.0f ns", x.kernel, x.operator, s.Count, s.TimeNs, count, us*1e3)
		}
	}
}

// TestDLRM states the waits in the collectives of eight ranks, which end together.
func TestDLRM(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(tracetest.Shared(t, "json", "dlrm-8rank"), "*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	r := analyzed(t, files...)
	var waits, exposed, caused int64
	var count uint64
	for _, d := range r.Devices {
		waits, count, caused = waits+d.Straggler.WaitNs, count+d.Straggler.WaitCount, caused+d.Straggler.CausedNs
		exposed += d.IdleCauses.CollectiveWaitNs
	}
	if len(r.Devices) != 8 || waits != 46_843_000 || count != 56 || caused != waits || exposed > waits {
		t.Errorf("%d devices wait %d ns in %d collectives, caused %d, exposed %d; want 46843000 in 56", len(r.Devices), waits, count, caused,
			exposed)
	}
}

// TestPowerOfMI300 states that no sample of the counters beside the program is lost, and that powers
// are no sums although their definitions say so.
func TestPowerOfMI300(t *testing.T) {
	r := analyzed(t, tracetest.Shared(t, "otf2", "mi300-hip"))
	var samples uint64
	for _, c := range r.Counters {
		samples += c.Samples
		if strings.Contains(c.Name, "current_socket_power") && (c.Accumulates || *c.Min < 100e6 || *c.Mean > *c.Max) {
			t.Errorf("%s: %+v", c.Name, c)
		}
		if strings.Contains(c.Name, "energy_count") && (!c.Accumulates || *c.Growth <= 0) {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	if samples != 72_584 {
		t.Errorf("%d samples, want 72584", samples)
	}
}
