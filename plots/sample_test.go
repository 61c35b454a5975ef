package plots

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A sampleRun is a made-up run of a halo exchange: each step computes, sends
// to both neighbours, waits for them, and every few steps all ranks meet.
type sampleRun struct {
	ranks, steps int
	pieces       int // segments that each computation is cut into
	reduceEvery  int
}

// Indices into sampleCategories.
const (
	stencil = iota
	boundary
	output
	isend
	waitall
	allreduce
	omp
)

func sampleCategories() []Category {
	return []Category{
		{Name: "compute_stencil_kernel(double const*, double*, int, int)", Color: hex(0x1C7BF4)},
		{Name: "pack_boundary", Color: hex(0x6C61FE)},
		{Name: "write_checkpoint", Color: hex(0xB37538)},
		{Name: "MPI_Isend", Class: "MPI", Color: hex(0x7407DD)},
		{Name: "MPI_Waitall", Class: "MPI", Color: hex(0x8032B6)},
		{Name: "MPI_Allreduce", Class: "MPI", Color: hex(0x9B2E7E)},
		{Name: "!$omp parallel for @solver.f90:112", Color: hex(0x4C6811)},
	}
}

func rankNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i)
	}
	return out
}

// end returns the time that no step of the run exceeds.
func (s sampleRun) end() int64 { return int64(s.steps) * 100_000 }

// options returns what a diagram of the run needs.
func (s sampleRun) options() TimelineOptions {
	return TimelineOptions{
		Title: fmt.Sprintf("halo exchange, %d ranks", s.ranks), To: s.end(),
		Ranks: rankNames(s.ranks), Categories: sampleCategories(),
	}
}

// arrival is when a rank finishes its computation of a step: steps last
// 100 µs; a slow rank wanders over the machine.
func (s sampleRun) arrival(rank, step int) int64 {
	r := rand.New(rand.NewPCG(uint64(rank), uint64(step)))
	t := int64(step)*100_000 + 45_000 + r.Int64N(12_000)
	if slow := (step * s.ranks) / max(s.steps, 1); rank == slow {
		t += 25_000
	}
	return t
}

// lane feeds one rank.
func (s sampleRun) lane(l *Lane) {
	for step := range s.steps {
		start, at := int64(step)*100_000, s.arrival(l.rank, step)
		s.compute(l, start, at-6000, step)
		l.Segment(at-6000, at-2000, boundary, Code)
		l.Segment(at-2000, at, isend, Code)
		s.finish(l, at, step)
	}
}

func (s sampleRun) compute(l *Lane, start, end int64, step int) {
	if step%16 == 15 && l.rank%4 == 0 {
		l.Segment(start, start+20_000, output, Code)
		start += 20_000
	}
	n := int64(max(s.pieces, 1))
	for i := range n {
		cat := stencil
		if i%3 == 2 {
			cat = omp
		}
		l.Segment(start+(end-start)*i/n, start+(end-start)*(i+1)/n, cat, Code)
	}
}

// finish waits for the neighbours, then reduces.
func (s sampleRun) finish(l *Lane, at int64, step int) {
	ready := max(at, s.arrival(max(l.rank-1, 0), step), s.arrival(min(l.rank+1, s.ranks-1), step))
	l.Segment(at, ready, 0, Wait)
	l.Segment(ready, ready+5000, waitall, Code)
	end := int64(step+1) * 100_000
	if s.reduces(step) {
		l.Segment(ready+5000, end-8000, 0, Wait)
		l.Segment(end-8000, end, allreduce, Code)
		return
	}
	l.Segment(ready+5000, end, boundary, Code)
}

func (s sampleRun) reduces(step int) bool { return s.reduceEvery > 0 && step%s.reduceEvery == 1 }

// feed fills a diagram with the run.
func (s sampleRun) feed(t testing.TB, tl *Timeline) *Timeline {
	t.Helper()
	for r := range s.ranks {
		l := tl.Lane(r)
		s.lane(l)
		if err := tl.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	for step := range s.steps {
		s.communicate(tl, step)
	}
	return tl
}

func (s sampleRun) communicate(tl *Timeline, step int) {
	var c Collective
	for r := range s.ranks {
		at := s.arrival(r, step)
		for _, peer := range []int{r - 1, r + 1} {
			if peer >= 0 && peer < s.ranks {
				tl.Message(Message{From: r, To: peer, Sent: at - 2000, Done: max(at, s.arrival(peer, step)) + 5000, Bytes: 8192})
			}
		}
		c.Ranks = append(c.Ranks, r)
		c.Begin, c.End = append(c.Begin, at+15_000), append(c.End, int64(step+1)*100_000-1)
	}
	if s.reduces(step) {
		tl.Collective(c)
	}
}

// timeline makes and feeds a diagram.
func (s sampleRun) timeline(t testing.TB, o TimelineOptions) *Timeline {
	t.Helper()
	tl := newTimeline(t, o)
	return s.feed(t, tl)
}

// samplePair is a run and its reconstruction, part of it on gray ground.
func samplePair(t testing.TB, width, height int) []*Timeline {
	t.Helper()
	s := sampleRun{ranks: 8, steps: 10, reduceEvery: 4}
	o := s.options()
	o.Width, o.Height = width, height
	o.Title = "event trace"
	a := s.timeline(t, o)
	o.Title = "reconstructed from formulae"
	b := s.timeline(t, o)
	for r := range s.ranks {
		b.Reconstructed(r, 300_000, 700_000)
	}
	return []*Timeline{a, b}
}
