package xplane

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/protobuf/protobuftest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func message(fields ...any) []byte { return protobuftest.Message(fields...) }

// A writer writes a plane: names of events and stats are given numbers as they come.
type writer struct {
	name          string
	lines, tables []byte
	events, stats map[string]int
}

func newWriter(name string) *writer {
	return &writer{name: name, events: make(map[string]int), stats: make(map[string]int)}
}

func (w *writer) number(of map[string]int, table int, name string) int {
	if of[name] == 0 {
		of[name] = len(of) + 1
		w.tables = append(w.tables, message(table, message(1, of[name], 2, message(1, of[name], 2, name)))...)
	}
	return of[name]
}

// event returns an event with stats: pairs of name and value, a number or a text, which is given by reference.
func (w *writer) event(name string, offset, duration int, stats ...any) []byte {
	var b []byte
	for i := 0; i < len(stats); i += 2 {
		id := w.number(w.stats, planeStatNames, stats[i].(string))
		switch v := stats[i+1].(type) {
		case int:
			b = append(b, message(eventStat, message(statName, id, statUint, v))...)
		case string:
			b = append(b, message(eventStat, message(statName, id, statReturn, w.number(w.stats, planeStatNames, v)))...)
		}
	}
	return message(lineEvent, append(message(eventName, w.number(w.events, planeEventNames, name), eventOffset, offset,
		eventDuration, duration), b...))
}

func (w *writer) line(name string, time int, events ...[]byte) {
	w.lines = append(w.lines, message(planeLine, append(message(lineName, name, lineTime, time), slices.Concat(events...)...))...)
}

func (w *writer) stat(name string, v any) {
	w.tables = append(w.tables, message(planeStat, message(statName, w.number(w.stats, planeStatNames, name), statInt, v))...)
}

func (w *writer) plane() []byte {
	return message(spacePlane, slices.Concat(message(planeName, w.name), w.lines, w.tables))
}

// open opens bytes as a file.
func open(t testing.TB, data []byte) *recording.Source { return opener.Bytes(t, "x"+extension, data) }

// view renders what a source holds.
func view(t testing.TB, src trace.Source) string {
	var b strings.Builder
	for _, v := range visits(t, src) {
		fmt.Fprintf(&b, "%s/%s: %s %d-%d", v.group, v.where, v.name, v.from, v.to)
		for _, name := range []string{"correlation", "bytes", "flow_out", "flow_in", "flow_step", "hlo_op"} {
			if a, ok := v.attrs[name]; ok {
				if strings.HasPrefix(name, "flow") {
					a = ""
				}
				fmt.Fprintf(&b, " %s %s", name, a)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func want(t *testing.T, src trace.Source, lines, codes string) {
	t.Helper()
	if got, want := strings.TrimSpace(view(t, src)), strings.TrimSpace(lines); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(findings(src), ", "); got != codes {
		t.Errorf("findings %q, want %q", got, codes)
	}
}

func findings(src trace.Source) (out []string) {
	for _, f := range src.Findings() {
		out = append(out, fmt.Sprintf("%s %d", f.Code, f.Count))
	}
	return out
}

// profile returns planes of a host, of a device and others.
func profile() []byte {
	h := newWriter("/host:CPU")
	h.line("python", 10, h.event("train", 0, 90_000, "step_num", 7), h.event("$model.py:12 forward", 1_500, 20_000),
		h.event("PjitFunction(f)", 2_000, 10_999, "_pt", 1, "_p", 5))
	h.line("Host Threads/77", 10, h.event("cuLaunchKernel", 3_000, 1_000, "correlation_id", 3))
	h.line("pool/-8000", 10, h.event("execute", 2_500, 5_000, "_ct", 1, "_c", 5))
	h.line("pool/9000", 10, h.event("execute", 3_500, 5_000))
	d := newWriter("/device:GPU:2")
	d.line("Stream #16(Kernel)", 10, d.event("fusion.kd", 5_000, 4_000, "correlation_id", 3, "hlo_op", "fusion.1"),
		d.event("custom_kernel", 20_000, 4_000, "hlo_op", "all-reduce-start.1"))
	d.line("Stream #16(MemcpyD2H)", 10, d.event("MemcpyD2H", 10_000, 4_000, "memcpy_details", "kind_src:device size:4096 dest:0 async:1"))
	d.line("Steps", 10, d.event("7", 0, 50_000))
	d.line("XLA Ops", 10, d.event("fusion.1", 5_000, 4_000, "bytes_accessed", 100), d.event("send", 1_000, 2_000))
	sums := message(lineEvent, message(eventName, 1, eventSum, 4))
	d.lines = append(d.lines, message(planeLine, append(message(lineName, "XLA Ops"), sums...))...)
	other := newWriter("#Chip0 Misc")
	other.line("x", 10, other.event("y", 1, 1))
	task := newWriter("Task Environment")
	task.stat("profile_start_time", 1_700_000_000_000_000_000)
	return slices.Concat(h.plane(), d.plane(), other.plane(), task.plane(), message(spaceHost, "node1"))
}

// TestGPU reads a profile of a GPU with what is known of each event.
func TestGPU(t *testing.T) {
	const start = "17000000000000000"
	src := open(t, profile())
	want(t, src, strings.ReplaceAll(`
node1/python: ProfilerStep#7 @10-1700000000000000100
node1/python: forward @11-@31
node1/python: PjitFunction(f) @12-@22 flow_out `+`
node1/thread 77: cuLaunchKernel @13-@14 correlation 3
node1/pool: execute @12-@17 flow_in `+`
node1/pool 2: execute @13-@18
GPU 2/stream 16: fusion @15-@19 correlation 3 hlo_op fusion.1
GPU 2/stream 16: Memcpy DtoH @20-@24 bytes 4096
GPU 2/stream 16: custom_kernel @30-@34 hlo_op all-reduce-start.1
`, "@", start), "unknown_record 1, redundant_record 4")
	d := src.Defs()
	for i, r := range d.Regions {
		switch name := d.RegionName(trace.RegionID(i)); name {
		case "forward":
			if d.String(r.File) != "model.py" || r.BeginLine != 12 {
				t.Error(r)
			}
		case "custom_kernel":
			if d.String(r.Canonical) != "MPI_Allreduce" || d.DeviceWorks()[i] != trace.DeviceCommunication {
				t.Error(r)
			}
		case "cuLaunchKernel":
			if r.Paradigm != trace.ParadigmCUDA {
				t.Error(r)
			}
		}
	}
	if d.Clock.Realtime != 1_700_000_000_000_000_010 {
		t.Error(d.Clock)
	}
}

// TestOps takes the operations of XLA for the work of a device that has no streams.
func TestOps(t *testing.T) {
	want(t, open(t, tpu()), `
host/python: step 0-5
TPU 0/Async XLA Ops: all-gather-start.2 2-4
TPU 0/XLA Ops: fusion.1 1-3 bytes 4096 hlo_op fusion.1
`, "redundant_record 1")
}

// tpu returns a profile whose times are those since its begin, which it does not tell, and whose table of events has
// what all events of a name have in common.
func tpu() []byte {
	h := newWriter("/host:CPU")
	h.line("python", 0, h.event("step", 0, 5_000))
	d := newWriter("/device:TPU:0")
	op, size := d.number(d.stats, planeStatNames, "hlo_op"), d.number(d.stats, planeStatNames, "bytes accessed")
	d.tables = append(d.tables, message(planeEventNames, message(1, 50, 2, message(2, "%fusion.1 = f32[1024] fusion(…)", 4, "fusion.1",
		5, message(statName, op, statText, "fusion.1"), 5, message(statName, size, statUint, 4096))))...)
	d.line("XLA Modules", 0, d.event("jit_f", 0, 9_000))
	d.line("XLA Ops", 0, message(lineEvent, message(eventName, 50, eventOffset, 1_000, eventDuration, 2_999)))
	d.line("Async XLA Ops", 0, d.event("all-gather-start.2", 2_000, 2_000))
	return slices.Concat(h.plane(), d.plane())
}

// TestAbsolute joins profiles of several hosts, whose lines count from 1970.
func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	const base = 1_700_000_000_000_000_000
	for i, host := range []string{"worker-0", "worker-1"} {
		h := newWriter("/host:CPU")
		h.line("python", base+10*i, h.event("step", 1_000, 5_000))
		d := newWriter("/device:GPU:0")
		d.line("Stream #1(Kernel)", base+10*i, d.event("ncclDevKernel_AllReduce_Sum", 2_000, 3_000))
		run := filepath.Join(dir, "plugins", "profile", "run")
		if err := os.MkdirAll(run, 0o777); err != nil {
			t.Fatal(err)
		}
		tracetest.WriteFile(t, filepath.Join(run, host+extension),
			slices.Concat(d.plane(), h.plane(), message(spaceHost, host)))
	}
	if !Sniff(dir, nil) || Sniff(t.TempDir(), nil) {
		t.Error("the directory is not recognised, or an empty one is")
	}
	src, err := Open(t.Context(), []string{dir}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want(t, src, strings.ReplaceAll(`
rank 0: worker-0/python: step @01-@06
rank 0: GPU 0/stream 1: ncclDevKernel_AllReduce_Sum @02-@05
rank 1: worker-1/python: step @11-@16
rank 1: GPU 0/stream 1: ncclDevKernel_AllReduce_Sum @12-@15
`, "@", "17000000000000000")[1:], "")
	collectives := 0
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			collectives += len(b.Coll.Kind)
		}
	}
	if collectives != 4 || len(src.Defs().SystemTree) != 3 {
		t.Error(collectives, src.Defs().SystemTree)
	}
}

// TestDamage states that what is sound in a damaged file is read.
func TestDamage(t *testing.T) {
	data := profile()
	all := strings.Count(view(t, open(t, data)), "\n")
	h := newWriter("/host:CPU")
	h.line("python", 10, h.event("a", 0, 1), message(lineEvent, []byte{0x0F}), h.event("b", 2, 1))
	for name, c := range map[string]struct {
		data    []byte
		visits  int
		finding string
	}{
		"cut":      {data[:len(data)*2/3], 6, "truncated 1"},
		"event":    {slices.Concat(h.plane(), data), all + 2, "corrupt 1"},
		"broken":   {append(slices.Clone(data), 0x0F, 0x01), all, "corrupt 1"},
		"no plane": {append(slices.Clone(data), 0x08, 0x0D), all, "corrupt 1"},
		"in lines": {data[:60], 0, "truncated 1"},
	} {
		t.Run(name, func(t *testing.T) {
			src := open(t, c.data)
			if got := strings.Count(view(t, src), "\n"); got < c.visits {
				t.Errorf("%d visits, want %d", got, c.visits)
			}
			if got := findings(src); !slices.Contains(got, c.finding) {
				t.Errorf("findings %q, want %q", got, c.finding)
			}
		})
	}
}

// TestNames tells what names of lines, copies and operations mean.
func TestNames(t *testing.T) {
	for operation, communicates := range map[string]bool{"all-reduce": true, "%all-gather-start.3": true, "all-to-all.1": true,
		"collective-permute-done": true, "all-reduce-scatter-fusion": false, "sender": false, "fusion.7": false, "": false} {
		if got := nest.XLACollective(operation) != nest.OpNone; got != communicates {
			t.Error(operation, got)
		}
	}
	for details, bytes := range map[string]uint64{"kind:H2D size:512 dest:0": 512, "size:7": 7, "kind:x": 0,
		" size:99999999999999999999999": 999999999999999999} {
		if got := sizeOf([]byte(details)); got != bytes {
			t.Error(details, got)
		}
	}
}

// TestSniff tells profiles from other files.
func TestSniff(t *testing.T) {
	for data, is := range map[string]bool{string(profile()): true, "\x0a\x04\x12\x02ab": false, "{}": false, "": false,
		"\n\nplain text": false} {
		if got := Sniff("x", []byte(data)); got != is {
			t.Errorf("%.20q: %v", data, got)
		}
	}
}

// opener opens profiles.
var opener = recordingtest.Opener(Open)

// TestDamaged reads a profile that is cut, or of which bits are flipped.
func TestDamaged(t *testing.T) {
	whole := profile()
	opener.Cuts(t, "x"+extension, whole, protobuftest.Ends(whole))
	opener.Flips(t, "x"+extension, whole, 600)
}

// FuzzRead states that no bytes break what a source promises.
func FuzzRead(f *testing.F) { opener.Fuzz(f, "x"+extension, profile(), tpu()) }

// TestTooManyPlanes states that planes beyond the limit are counted: two here.
func TestTooManyPlanes(t *testing.T) {
	w := newWriter("/host:CPU")
	w.line("thread", 0, w.event("work", 0, 1000))
	empty := message(spacePlane, message(planeName, "x"))
	data := append(w.plane(), bytes.Repeat(empty, mostPlanes+1)...)
	for _, f := range open(t, data).Findings() {
		if f.Code == trace.CodeLimitExceeded && f.Count == 2 {
			return
		}
	}
	t.Error("no finding of two planes")
}

// TestControlFlow states that operations which consist of others are left out, and kept if these are not recorded; and that asynchronous
// copies are copies.
func TestControlFlow(t *testing.T) {
	w := newWriter("/device:TPU:0")
	w.line("XLA Ops", 0, w.event("%while.3 = (s32[]) while()", 0, 100_000), w.event("while.4", 10_000, 80_000),
		w.event("fusion.1", 20_000, 30_000), w.event("copy-done.2", 60_000, 20_000),
		w.event("conditional.5", 120_000, 10_000), w.event("call", 130_000, 10_000), w.event("caller.1", 140_000, 1_000),
		w.event("while", 150_000, 1_000))
	w.line("Async XLA Ops", 0, w.event("copy-start.2", 5_000, 75_000), w.event("while", 90_000, 5_000), w.event("fusion.1", 91_000, 1_000))
	src := open(t, w.plane())
	want(t, src, `
TPU 0/Async XLA Ops: copy-start.2 5-80
TPU 0/Async XLA Ops: while 90-95
TPU 0/Async XLA Ops: fusion.1 91-92
TPU 0/XLA Ops: fusion.1 20-50
TPU 0/XLA Ops: copy-done.2 60-80
TPU 0/XLA Ops: conditional.5 120-130
TPU 0/XLA Ops: call 130-140
TPU 0/XLA Ops: caller.1 140-141
TPU 0/XLA Ops: while 150-151`, "redundant_record 2")
	d := src.Defs()
	for _, r := range d.Regions {
		name := d.String(r.Name)
		if copies := r.Role == trace.RoleDataTransfer; copies != strings.HasPrefix(name, "copy-") {
			t.Errorf("%s is a copy: %t", name, copies)
		}
	}
}
