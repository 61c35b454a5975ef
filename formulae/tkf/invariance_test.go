package tkf_test

import (
	"fmt"
	"math"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/tkf"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// generate returns a generated trace in memory.
func generate(t testing.TB, o samples.Options) trace.Source {
	t.Helper()
	return &statstest.Generated(t, o).MemorySource
}

// checkEqual checks that sizes are equal to within a share.
func checkEqual(t *testing.T, what string, sizes []int64, share float64) {
	t.Helper()
	for _, s := range sizes[1:] {
		if math.Abs(float64(s-sizes[0])) > max(1, share*float64(sizes[0])) {
			t.Errorf("%s: sizes differ by more than %.0f %% and a byte: %v", what, 100*share, sizes)
			return
		}
	}
	t.Logf("%s: %v bytes", what, sizes)
}

// The structure of a program takes the same space however often it iterates. A file in stat
// mode does not grow, and keeps the bound that was told of a shorter run.
func TestStructureIndependentOfIterations(t *testing.T) {
	for _, program := range []string{"halo", "ring", "sweep", "multigrid", "collectives"} {
		var structure, statistics, bounds []int64
		lengths := []int{10, 100, 300}
		if program == "halo" { // so long that it has more outliers than are kept
			lengths[2] = 1000
		}
		for _, n := range lengths {
			src := generate(t, samples.Options{Program: program, Ranks: 8, Iterations: n, Seed: 1})
			_, r := compress(t, src, tkf.Options{})
			structure = append(structure, r.Sizes.Structure)
			_, r = compress(t, src, tkf.Options{Mode: tkf.Statistics})
			statistics = append(statistics, r.Sizes.File-r.Sizes.Definitions)
			bounds = append(bounds, *r.Sizes.Bound-r.Sizes.Definitions)
		}
		checkEqual(t, program+", structure", structure, 0.02)
		t.Logf("%s, statistics: %v bytes of at most %v", program, statistics, bounds)
		most := bounds[0] + 8*9*formulae.MostOutliers // a longer run may need all of its outliers
		for i, s := range statistics {
			if s > bounds[i] || s > most {
				t.Errorf("%s: statistics grow with the run: %v bytes, at most %v and %d", program, statistics, bounds, most)
			}
		}
	}
}

// A stencil on a periodic grid, with as many ranks as one likes: the structure takes the
// same space, because the sets of ranks that wrap around are products of strides.
func TestStructureIndependentOfRanks2D(t *testing.T) {
	var structure []int64
	for _, side := range []uint32{4, 8, 16} {
		src := stencil(side, 50)
		name, r := compress(t, src, tkf.Options{})
		checkSame(t, src, openTKF(t, name))
		structure = append(structure, r.Sizes.Structure)
	}
	checkEqual(t, "periodic stencil on 16, 64, 256 ranks", structure, 0.02)
}

// stencil returns a trace of a periodic stencil on side × side ranks: in each of n
// iterations four receives and four sends that do not block, Waitall, Allreduce.
func stencil(side uint32, n int) *trace.MemorySource {
	size := side * side
	src := &trace.MemorySource{Definitions: worldDefs(int(size), "main", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce")}
	for r := range size {
		x, y := r%side, r/side
		neighbours := []uint32{y*side + (x+1)%side, y*side + (x+side-1)%side, (y+1)%side*side + x, (y+side-1)%side*side + x}
		b := &trace.Batch{}
		b.Reset(trace.LocationID(r), 0)
		time, request := int64(1000*r), uint64(0)
		tick := func(d int64) int64 { time += d; return time }
		b.AddFlow(tick(0), trace.KindEnter, 0)
		for range n {
			first := request
			for range neighbours {
				b.AddFlow(tick(50), trace.KindEnter, 1)
				b.AddRequest(tick(5), trace.KindMpiIrecvRequest, request)
				request++
				b.AddFlow(tick(5), trace.KindLeave, 1)
			}
			for i, to := range neighbours {
				b.AddFlow(tick(50), trace.KindEnter, 2)
				b.AddP2P(trace.P2PRow{Time: tick(5), Kind: trace.KindMpiIsend, Peer: to, Comm: 0, Tag: uint32(i), Bytes: 4096, Request: request})
				request++
				b.AddFlow(tick(5), trace.KindLeave, 2)
			}
			b.AddFlow(tick(9), trace.KindEnter, 3)
			for i, from := range neighbours {
				b.AddP2P(trace.P2PRow{Time: tick(7), Kind: trace.KindMpiIrecv, Peer: from, Comm: 0, Tag: uint32(i ^ 1), Bytes: 4096,
					Request: first + uint64(i)})
			}
			for i := range neighbours {
				b.AddRequest(tick(1), trace.KindMpiIsendComplete, first+4+uint64(i))
			}
			b.AddFlow(tick(3), trace.KindLeave, 3)
			b.AddFlow(tick(100), trace.KindEnter, 4)
			b.AddColl(trace.CollRow{Time: tick(1), Kind: trace.KindCollectiveBegin, Comm: trace.None, Root: trace.None})
			b.AddColl(trace.CollRow{Time: tick(30), Kind: trace.KindCollectiveEnd, Op: trace.CollAllreduce, Comm: 0, Root: trace.RootNone, Sent: 8,
				Received: 8})
			b.AddFlow(tick(1), trace.KindLeave, 4)
		}
		b.AddFlow(tick(10), trace.KindLeave, 0)
		src.Batches = append(src.Batches, []*trace.Batch{b})
	}
	return src
}

// worldDefs returns the definitions of a number of ranks with MPI_COMM_WORLD.
func worldDefs(ranks int, regions ...string) *trace.Defs {
	d := &trace.Defs{Clock: trace.ClockProperties{Resolution: 1e9}, Strings: []string{""}}
	text := func(s string) trace.StringID {
		d.Strings = append(d.Strings, s)
		return trace.StringID(len(d.Strings) - 1)
	}
	members := make([]uint32, ranks)
	for r := range members {
		members[r] = uint32(r)
		name := text(fmt.Sprintf("Rank %d", r))
		d.LocationGroups = append(d.LocationGroups,
			trace.LocationGroup{Ref: uint64(r), Name: name, Kind: 1, Node: trace.None, Creator: trace.None})
		d.Locations = append(d.Locations, trace.Location{Ref: uint64(r), Name: name, Kind: trace.LocationCPUThread,
			Group: trace.LocationGroupID(r)})
	}
	for i, name := range regions {
		d.Regions = append(d.Regions, trace.Region{Ref: uint64(i), Name: text(name), Canonical: trace.None, Description: trace.None,
			File: trace.None})
	}
	d.Groups = []trace.Group{
		{Ref: 0, Name: text("all"), Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI, Members: members},
		{Ref: 1, Name: text("world"), Kind: trace.GroupComm, Paradigm: trace.ParadigmMPI, Members: members}}
	d.Comms = []trace.Comm{{Ref: 0, Name: text("MPI_COMM_WORLD"), Group: 1, Remote: trace.None, Parent: trace.None}}
	return d
}

// Loops in loops in loops take the space of their bodies, however often each is repeated.
func TestNestedLoops(t *testing.T) {
	var structure []int64
	for _, n := range []int{8, 32, 100} {
		src := &trace.MemorySource{Definitions: worldDefs(1, "a", "b", "c", "d")}
		b := &trace.Batch{}
		b.Reset(0, 0)
		time := int64(0)
		visit := func(r trace.RegionID) {
			time += 10
			b.AddFlow(time, trace.KindEnter, r)
			time += 7
			b.AddFlow(time, trace.KindLeave, r)
		}
		for range n {
			visit(0)
			for range n {
				visit(1)
				for range n / 2 {
					visit(2)
				}
				visit(3)
			}
		}
		src.Batches = [][]*trace.Batch{{b}}
		name, r := compress(t, src, tkf.Options{})
		checkSame(t, src, openTKF(t, name))
		structure = append(structure, r.Sizes.Structure)
	}
	checkEqual(t, "three nested loops", structure, 0.02)
}

// Programs that are generated come back as they were.
func TestRoundTripOfGenerated(t *testing.T) {
	for _, p := range samples.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			src := generate(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 30, Seed: 7, Threads: 2})
			name, _ := compress(t, src, tkf.Options{})
			checkSame(t, src, openTKF(t, name))
		})
	}
	for seed := range uint64(20) {
		m, _ := samples.Random(seed)
		name, _ := compress(t, &m.MemorySource, tkf.Options{})
		checkSame(t, &m.MemorySource, openTKF(t, name))
	}
}

// The times of a trace that announces many events are coded faster, those of a small one take less. Both come back.
func TestFastAndSmallTimes(t *testing.T) {
	var times []int64
	for _, announced := range []uint64{1000, 1 << 21} {
		src := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 300, Seed: 1})
		src.Defs().Locations[0].Events = announced
		name, r := compress(t, src, tkf.Options{})
		checkSame(t, src, openTKF(t, name))
		times = append(times, r.Sizes.Times)
	}
	if times[0] >= times[1] {
		t.Errorf("times take %d bytes if they are few, else %d", times[0], times[1])
	}
}

// Any number of jobs gives the same bytes, and the same events back.
func TestSameBytesForAnyJobs(t *testing.T) {
	src := generate(t, samples.Options{Program: "halo", Ranks: 9, Iterations: 30, Seed: 7})
	for _, mode := range []tkf.Mode{tkf.Lossless, tkf.Statistics} {
		one, _ := compress(t, src, tkf.Options{Mode: mode, Durations: formulae.Laws, Jobs: 1})
		many, _ := compress(t, src, tkf.Options{Mode: mode, Durations: formulae.Laws, Jobs: 8})
		if string(readFile(t, one)) != string(readFile(t, many)) {
			t.Errorf("mode %d: the file depends on the number of jobs", mode)
		}
		var back [2]trace.Source
		for i, jobs := range []int{1, 8} {
			var err error
			if back[i], err = tkf.Open(one, jobs, nil); err != nil {
				t.Fatal(err)
			}
			defer back[i].Close()
		}
		checkSame(t, back[0], back[1])
	}
}
