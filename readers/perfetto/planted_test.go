package perfetto

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestLateDescriptors states that it does not matter whether tracks are described before their events or after.
func TestLateDescriptors(t *testing.T) {
	describe := func(g *generator) {
		g.process(1, 10, "/bin/app")
		g.thread(2, 1, 10, 11, "worker")
		g.named(3, 1, "requests")
		g.named(4, 1, "requests")
		g.counter(5, 1, "bytes sent", 3, 3, 4, 1024)
	}
	events := func(g *generator) {
		g.begin(100, 2, "outer", "user")
		g.begin(200, 2, "inner", "user")
		g.event(typeInstant, 250, 2, "mark", "user")
		g.end(300, 2)
		g.begin(150, 3, "request", "user")
		g.begin(160, 4, "later request", "user")
		g.end(350, 3)
		g.end(360, 4)
		g.event(typeCounter, 170, 5, "", "", eventCounter, 3)
		g.event(typeCounter, 180, 5, "", "", eventDouble, 0.5)
		g.end(400, 2)
		g.end(500, 2)
		g.end(500, 3)
	}
	before, after := &generator{}, &generator{}
	describe(before)
	events(before)
	events(after)
	describe(after)
	lines := `
app/worker: outer 100-400
app/worker: inner 200-300
app/worker: mark 250
app/requests: request 150-350
app/requests (overlap 1): later request 160-360
app/counters: bytes sent 170 = 3072
app/counters: bytes sent 180 = 512
`
	want(t, open(t, before.Bytes()), lines, "unmatched_leave 2")
	want(t, open(t, after.Bytes()), lines, "unmatched_leave 2")
}

// TestOrder states that slices are paired by time, whatever the order of the packets.
func TestOrder(t *testing.T) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.end(400, 2)
	g.begin(200, 2, "b", "")
	g.begin(100, 2, "a", "")
	g.end(300, 2)
	want(t, open(t, g.Bytes()), "app/main: a 100-400\napp/main: b 200-300", "")
}

// TestDevices states that the rows of rocprof become streams of devices, with names, links and bytes as those of other recorders.
func TestDevices(t *testing.T) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.named(3, 1, "COMPUTE AGENT [2] QUEUE [0] (GPU)")
	g.named(4, 1, "COPY to AGENT [2] THREAD [10] (GPU)")
	g.named(5, 1, "my own row")
	g.event(100, 0, 2, "", "") // of a type that nobody knows
	g.begin(100, 2, "hipLaunchKernel", "hip_runtime_api", eventArgument, number("corr_id", 7))
	g.end(110, 2)
	g.begin(120, 2, "hipMemcpyAsync", "rocm_hip_api", eventFlow, fixed(77), eventArgument, number("corr_id", 8))
	g.end(130, 2)
	g.begin(200, 3, "saxpy(float*)", "kernel_dispatch", eventArgument, number("corr_id", 7))
	g.end(300, 3)
	g.begin(310, 3, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "kernel_dispatch")
	g.end(400, 3)
	g.begin(210, 4, "MEMORY_COPY_HOST_TO_DEVICE", "memory_copy", eventLast, fixed(77), eventArgument, number("corr_id", 9),
		eventArgument, message(10, "size", 6, "4096"))
	g.end(250, 4)
	g.begin(260, 5, "other kernel", "rocm_kernel_dispatch", eventArgument, number("unknown", 1))
	g.end(270, 5)
	src := open(t, g.Bytes())
	want(t, src, `
app/main: hipLaunchKernel 100-110 (correlation 9223372036854775815)
app/main: hipMemcpyAsync 120-130 (correlation 77, flow_out 77)
GPU 0/my own row: other kernel 260-270
GPU 2/queue 0: saxpy(float*) 200-300 (correlation 9223372036854775815)
GPU 2/queue 0: ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*) 310-400
GPU 2/queue 0: MpiCollectiveBegin Barrier 310
GPU 2/queue 0: MpiCollectiveEnd Allreduce 400
GPU 2/copies of thread 10: Memcpy HtoD 210-250 (bytes 4096, correlation 77, flow_in 77)
`, "unknown_record 1, arguments_left_out 5")
	d := src.Defs()
	for _, l := range d.Locations {
		g := d.LocationGroups[l.Group]
		if isGPU := strings.HasPrefix(d.String(g.Name), "GPU"); isGPU != (l.Kind == trace.LocationGPU) || isGPU != (g.Kind == 2) ||
			isGPU && d.String(d.LocationGroups[g.Creator].Name) != "app" {
			t.Error(d.String(l.Name), l.Kind, g)
		}
	}
	works := d.DeviceWorks()
	wants := map[string]trace.DeviceWork{"Memcpy HtoD": trace.DeviceMemory, "saxpy(float*)": trace.DeviceCompute,
		"other kernel": trace.DeviceCompute,
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)": trace.DeviceCommunication}
	for i := range d.Regions {
		name := d.RegionName(trace.RegionID(i))
		if want, ok := wants[name]; ok && works[i] != want || !ok && !d.IsDeviceCall(trace.RegionID(i)) {
			t.Error(name, works[i])
		}
	}
}

// TestFlows states that the first end of a flow in time is its source, wherever it stands in the file, and that those of one end dangle.
func TestFlows(t *testing.T) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.begin(300, 2, "last", "", eventLast, fixed(5))
	g.end(301, 2)
	g.begin(200, 2, "middle", "", eventFlow, fixed(5), eventFlow, fixed(6))
	g.end(201, 2)
	g.event(typeInstant, 100, 2, "first", "", eventOldFlow, 5)
	g.event(typeInstant, 500, 2, "at once", "", eventLast, fixed(8))
	g.event(typeInstant, 500, 2, "at once", "", eventFlow, fixed(8))
	want(t, open(t, g.Bytes()), `
app/main: first 100 (flow_out 5)
app/main: middle 200-201 (flow_out 6, flow_step 5)
app/main: last 300-301 (flow_in 5)
app/main: at once 500 (flow_in 8)
app/main: at once 500 (flow_out 8)
`, "dangling_flow 1")
}

// TestState interns names for each sequence until it is cleared, with defaults, incremental counters and a loss of packets.
func TestState(t *testing.T) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.thread(3, 1, 10, 11, "other")
	g.counter(4, 2, "instructions", 3, 2, 5, 1)
	intern := func(id int, name string) []byte { return message(internedNames, message(1, id, 2, name)) }
	state := func(sequence, track int) {
		g.packet(fieldSequence, sequence, fieldFlags, flagCleared,
			fieldDefaults, message(fieldEvent, message(eventTrack, track, eventExtraTracks, 4)))
	}
	event := func(sequence, time int, interned []byte, fields ...any) {
		g.packet(fieldSequence, sequence, fieldFlags, flagNeeded, fieldTime, time, fieldInterned, interned, fieldEvent, message(fields...))
	}
	state(5, 2)
	state(6, 3)
	event(5, 100, intern(1, "a"), eventType, typeBegin, eventNameID, 1, eventExtraValues, 10)
	event(6, 101, intern(1, "b"), eventType, typeBegin, eventNameID, 1)
	event(6, 102, nil, eventType, typeEnd)
	event(5, 103, nil, eventType, typeEnd, eventExtraValues, 5)
	state(5, 2)
	event(5, 104, intern(1, "c"), eventType, typeBegin, eventNameID, 1, eventExtraValues, 7)
	event(5, 105, nil, eventType, typeEnd)
	event(6, 106, nil, eventType, typeBegin, eventNameID, 1)
	event(6, 107, nil, eventType, typeEnd)
	event(6, 108, nil, eventType, typeInstant, eventNameID, 9) // not interned
	g.packet(fieldSequence, 6, fieldDropped, 1)
	event(6, 109, intern(1, "lost"), eventType, typeBegin, eventNameID, 1)
	g.packet(fieldSequence, 6, fieldCleared, 1) // the old form of the flag
	event(6, 110, nil, eventType, typeInstant, eventNameID, 1, eventTrack, 3)
	event(7, 111, intern(1, "never cleared"), eventType, typeBegin, eventNameID, 1)
	want(t, open(t, g.Bytes()), `
app/main: a 100-103
app/main: instructions 100 = 10
app/main: instructions 103 = 15
app/main: instructions 104 = 7
app/main: c 104-105
app/other: b 101-102
app/other: b 106-107
app/other: (name not known) 108
app/other: (name not known) 110
`, "dangling_reference 2, unused_record 2")
}

// TestClocks converts times of clocks by the nearest snapshot before, where no snapshot has BOOTTIME and one clock is reached by
// way of another.
func TestClocks(t *testing.T) {
	g := &generator{}
	g.snapshot(1, clockMonotonic, 1000, 2, 500)
	g.snapshot(1, clockMonotonic, 2000, 2, 1600)
	g.snapshot(1, 2, 1700, 130, 50) // of this one only clock 2 is known
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	at := func(time, clock int, name string) {
		g.packet(fieldSequence, 1, fieldTime, time, fieldClock, clock,
			fieldEvent, message(eventType, typeInstant, eventTrack, 2, eventName, name))
	}
	at(1500, clockMonotonic, "itself")
	at(510, 2, "first snapshot")
	at(1610, 2, "second snapshot")
	at(100, 2, "before all snapshots")
	at(51, 130, "by way of another")
	at(7, 131, "of no snapshot")
	g.packet(fieldSequence, 1, fieldTime, 1501, fieldEvent, message(eventType, typeInstant, eventTrack, 2, eventName, "of the trace"))
	want(t, open(t, g.Bytes()), `
app/main: before all snapshots 600
app/main: first snapshot 1010
app/main: itself 1500
app/main: of the trace 1501
app/main: second snapshot 2010
app/main: by way of another 2101
`, "bad_value 1")
}

// TestChrome reads events of Chrome that have a duration.
func TestChrome(t *testing.T) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.event(0, 1000, 2, "complete", "cat", eventLegacy, message(2, int('X'), 3, 5))
	g.event(0, 2000, 2, "part", "cat", eventLegacy, message(2, int('B')))
	g.event(0, 3000, 2, "", "", eventLegacy, message(2, int('E')))
	g.event(0, 4000, 2, "moment", "cat", eventLegacy, message(2, int('I')))
	g.event(0, 5000, 2, "", "", eventLegacy, message(2, int('?')))
	for i, phase := range "bbee" {
		g.event(0, 6000+1000*i, 2, "load", "net", eventLegacy, message(2, int(phase), 6, 1+i%2))
	}
	want(t, open(t, g.Bytes()), `
app/main: complete 1000-6000
app/main: part 2000-3000
app/main: moment 4000
app/async net: load 6000-8000
app/async net (overlap 1): load 7000-9000
`, "unknown_record 1")
}

// TestOldDescriptors reads descriptors of processes and threads as they were before those of tracks.
func TestOldDescriptors(t *testing.T) {
	g := &generator{}
	g.packet(fieldProcess, message(1, 10, 6, "app"), fieldSequence, 1)
	for i, name := range []string{"main", "worker"} {
		g.packet(fieldThread, message(1, 10, 2, 10+i, 5, name), fieldSequence, 5+i)
	}
	for i := range 2 {
		g.packet(fieldTime, 100, fieldSequence, 5+i, fieldEvent, message(eventType, typeBegin, eventName, "a"))
		g.packet(fieldTime, 200+i, fieldSequence, 5+i, fieldEvent, message(eventType, typeEnd))
	}
	want(t, open(t, g.Bytes()), "app/main: a 100-200\napp/worker: a 100-201", "")
}

// TestLoose reads tracks that belong to no process, and packets that are not the program's.
func TestLoose(t *testing.T) {
	g := &generator{}
	g.packet(fieldTime, 1, 1, message(1, 2)) // ftrace
	g.packet(fieldTime, 1, 2, message(1, 2), fieldSequence, 1)
	g.packet(fieldTime, 1, 120, message(1, 2), fieldSequence, 1)
	g.packet(36, "synchronization", 98, 1)
	g.named(1, 0, "pipeline")
	g.named(2, 1, "stage")
	g.counter(3, 0, "power", 6, "W")
	g.begin(10, 2, "work", "")
	g.end(20, 2)
	g.begin(10, 0, "nowhere", "")
	g.end(20, 0)
	g.event(typeCounter, 15, 3, "", "", eventDouble, 2.5)
	src := open(t, g.Bytes())
	want(t, src, `
no process/events without a track: nowhere 10-20
no process/pipeline / stage: work 10-20
no process/counters: power 15 = 2.5
`, "unknown_record 3")
	if got := src.Info().Properties["packets of the system, left out"]; got != "ftrace (1), process tree (1), field 120 (1)" {
		t.Error(got)
	}
}

// TestCompressed reads packets that are compressed by zlib and by zstd, and files that are.
func TestCompressed(t *testing.T) {
	inner := &generator{}
	inner.process(1, 10, "app")
	inner.thread(2, 1, 10, 10, "main")
	inner.begin(1, 2, "a", "")
	inner.end(2, 2)
	z, _ := zstd.NewWriter(nil)
	g := &generator{}
	g.packet(fieldCompressed, deflated(inner.Bytes()))
	lines := "app/main: a 1-2"
	want(t, open(t, g.Bytes()), lines, "")
	want(t, open(t, tracetest.Gzip(inner.Bytes())), lines, "")
	want(t, open(t, z.EncodeAll(g.Bytes(), nil)), lines, "")
	g.Reset()
	g.packet(fieldZstd, z.EncodeAll(inner.Bytes(), nil))
	want(t, open(t, g.Bytes()), lines, "")
	nested := &generator{}
	nested.packet(fieldZstd, z.EncodeAll(g.Bytes(), nil))
	nested.packet(fieldCompressed, []byte("no zlib"))
	nested.Write(inner.Bytes())
	want(t, open(t, nested.Bytes()), lines, "corrupt 2")
}

// TestDamage states that what is sound is read, before damage and behind it.
func TestDamage(t *testing.T) {
	part := func(from, to int) []byte {
		g := &generator{}
		g.process(1, 10, "app")
		g.thread(2, 1, 10, 10, "main")
		for i := from; i < to; i++ {
			g.begin(10*i, 2, "a", "")
			g.end(10*i+5, 2)
		}
		return g.Bytes()
	}
	all := strings.Count(view(t, open(t, part(0, 10))), "\n")
	for name, c := range map[string]struct {
		data    []byte
		visits  int
		finding string
	}{
		"noise":     {bytes.Join([][]byte{part(0, 5), bytes.Repeat([]byte{0x0A, 0xFF, 0x07}, 100), part(5, 10)}, nil), all, "corrupt"},
		"cut":       {part(0, 10)[:len(part(0, 10))-3], all, "truncated"},
		"new field": {bytes.Join([][]byte{part(0, 5), message(7, "new", 9, 3), part(5, 10)}, nil), all, ""},
		"no packet": {bytes.Join([][]byte{part(0, 5), {0x08, 0x0D}, part(5, 10)}, nil), all, "corrupt"},
		"group":     {bytes.Join([][]byte{part(0, 5), {0x43, 0x0C}, part(5, 10)}, nil), all, "corrupt"},
		"number":    {bytes.Join([][]byte{part(0, 5), {0xfa, 0xb7, 0xc4, 0x90, 0x8e, 0x87, 0x08, 0x00}, part(5, 10)}, nil), all, "corrupt"},
		"large":     {bytes.Join([][]byte{part(0, 10), message(1, make([]byte, packetLimit+1)), part(5, 10)[:0]}, nil), all, "limit_exceeded"},
		"huge":      {append(part(0, 10), 0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F), all, "corrupt"},
		"zip cut":   {tracetest.Gzip(part(0, 100_000))[:60_000], all, "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			src := open(t, c.data)
			if got := strings.Count(view(t, src), "\n"); got < c.visits {
				t.Errorf("%d visits, want %d", got, c.visits)
			}
			if got := strings.Join(findings(src), ", "); c.finding == "" && got != "" || !strings.Contains(got, c.finding) {
				t.Errorf("findings %q, want %q", got, c.finding)
			}
		})
	}
}

// TestSniff tells traces of Perfetto from other files.
func TestSniff(t *testing.T) {
	g := &generator{}
	g.process(1, 10, strings.Repeat("long", 3000))
	g.begin(1, 2, "a", "")
	for name, c := range map[string]struct {
		data string
		is   bool
	}{
		"trace": {g.String(), true}, "gzip": {string(tracetest.Gzip(g.Bytes())), true}, "empty": {"", false},
		"json": {"\n{\"traceEvents\":[]}", false}, "text": {"\n\nhello", false}, "xplane": {"\x0a\x12\x12\x0e/host:metadata\x1a\x00", false},
		"zero": {"\x00\x00", false},
	} {
		if got := Sniff("x", []byte(c.data)[:min(len(c.data), 4096)]); got != c.is {
			t.Error(name, got)
		}
	}
}

// TestRanks reads one file of each rank as one trace, on the axis of REALTIME.
func TestRanks(t *testing.T) {
	dir := t.TempDir()
	for rank, boot := range []int{1000, 5000} {
		g := &generator{}
		g.snapshot(1, clockBoottime, boot, clockRealtime, 1_700_000_000_000_000_000)
		g.process(1, 10+rank, "app")
		g.thread(2, 1, 10+rank, 10+rank, "main")
		g.begin(boot+100*(rank+1), 2, "MPI_Barrier", "mpi")
		g.end(boot+300, 2)
		tracetest.WriteFile(t, filepath.Join(dir, []string{"perfetto-trace-0.proto", "perfetto-trace-1.proto"}[rank]), g.Bytes())
	}
	tracetest.WriteFile(t, filepath.Join(dir, "schema.proto"), "syntax = \"proto3\";\n")
	if !Sniff(dir, nil) {
		t.Error("the directory is not recognised")
	}
	src, err := Open(t.Context(), []string{dir}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want(t, src, `
rank 0: app/main: MPI_Barrier 1700000000000000100-1700000000000000300
rank 1: app/main: MPI_Barrier 1700000000000000200-1700000000000000300
`, "")
	if groups := src.Defs().Groups; len(groups) != 2 || len(groups[1].Members) != 2 {
		t.Error(groups)
	}
}

// TestNoTrace refuses what holds no packet.
func TestNoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pftrace")
	for _, data := range []string{"", "\x1f\x8b", "nothing of the kind"} {
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		if src, err := Open(t.Context(), []string{path}, recording.Options{}); err == nil {
			src.Close()
			t.Errorf("%q was opened", data)
		}
	}
}
