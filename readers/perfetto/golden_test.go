package perfetto

import (
	"flag"
	"testing"
)

var update = flag.Bool("update", false, "write the goldens, and the traces that they are of")

// run are small traces of two ranks: written says what is in them.
const run = "testdata/run"

// written returns the trace of a rank. Each launches two kernels and a copy in a step, of which the last kernel is a collective, and
// waits for them; a counter, moments, and requests that overlap. Times count on a clock of their own from begin on.
func written(rank int) []byte {
	const local = 64
	begin := 5_000_000 + 1_000_000*rank
	pid := 7000 + rank
	g := &generator{}
	g.snapshot(1, clockBoottime, begin, clockRealtime, 1_780_000_000_000_000_000)
	g.process(1, pid, "/usr/bin/solver")
	g.thread(2, 1, pid, pid, "main")
	g.named(3, 1, "HIP Activity Stream 1")
	g.named(4, 1, "requests")
	g.named(5, 1, "requests")
	g.counter(6, 1, "GPU Power", 6, "watts")
	g.packet(fieldSnapshot, append(message(1, message(1, clockBoottime, 2, begin)), message(1, message(1, local, 2, 0, 3, 1, 4, 1000))...),
		fieldSequence, 2)
	g.packet(fieldSequence, 2, fieldFlags, flagCleared, fieldDefaults, message(fieldClock, local, fieldEvent, message(eventTrack, 2)))
	intern := []byte{}
	for i, name := range []string{"step", "hipLaunchKernel", "hipDeviceSynchronize", "MPI_Barrier"} {
		intern = append(intern, message(internedNames, message(1, i+1, 2, name))...)
	}
	for i, name := range []string{"user", "rocm_hip_api", "mpi"} {
		intern = append(intern, message(internedCategories, message(1, i+1, 2, name))...)
	}
	host := func(after int, fields ...any) { // µs after the event before
		g.packet(fieldTime, after, fieldSequence, 2, fieldFlags, flagNeeded, fieldInterned, intern, fieldEvent, message(fields...))
		intern = nil
	}
	us := func(time int) int { return begin + 1000*time }
	now := 0
	for step := range 3 {
		host(10, eventType, typeBegin, eventNameID, 1, eventCategoryID, 1)
		now += 10
		for i, work := range []struct{ name, category string }{{"stencil(double*)", "rocm_hip_stream"},
			{"MEMORY_COPY_DEVICE_TO_HOST", "rocm_memory_copy"}, {"ncclDevKernel_AllReduce_Sum_f64_RING_LL(ncclDevComm*)", "rocm_hip_stream"}} {
			corr := 10*step + i + 1
			flow := fixed(pid<<16 | corr)
			host(5, eventType, typeBegin, eventNameID, 2, eventCategoryID, 2, eventFlow, flow)
			host(3, eventType, typeEnd)
			now += 8
			g.begin(us(now+20+50*i), 3, work.name, work.category, eventLast, flow, eventArgument, number("size", 8192))
			g.end(us(now+60+50*i), 3)
		}
		g.event(typeCounter, us(now), 6, "", "", eventDouble, 300.5)
		host(2, eventType, typeBegin, eventNameID, 3, eventCategoryID, 2)
		host(170, eventType, typeEnd)
		host(5, eventType, typeBegin, eventNameID, 4, eventCategoryID, 3)
		host(20, eventType, typeEnd)
		host(1, eventType, typeInstant, eventNameID, 1)
		host(2, eventType, typeEnd)
		now += 200
	}
	for i := range 2 {
		g.begin(us(100+50*i), 4+i, "request", "user")
		g.end(us(300+50*i), 4+i)
	}
	return g.Bytes()
}

// TestGolden states what becomes of all that traces hold.
func TestGolden(t *testing.T) {
	opener.Run(t, run, "testdata/run.txt", [2]string{"rank0.pftrace", "rank1.pftrace"}, written, *update)
}
