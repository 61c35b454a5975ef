package threads

import (
	"math"

	"tracekit/trace"
)

// A Process is what the threads of a process do together, in ticks.
type Process struct {
	Threads  []Thread // the master first
	Regions  uint64   // parallel regions
	Parallel int64    // time of the master in them
	Inside   int64    // useful time of all threads while the master is in them
	Outside  int64    // useful time of the master outside them
	Unpaired uint64   // barriers that not all threads of the team pass

	wait     func(Wait)
	barriers [][]visit // memory for those of a region
	ends     []visit
}

// A Thread is the time of one thread by what it does. Times sum to the window: before its first
// event and after its last one a thread is idle.
type Thread struct {
	Location trace.LocationID
	Times    [Activities]int64
	Waits    int64 // at barriers, for the last one of its team
}

// A Wait is that of one thread at a barrier, for the last one of its team to arrive.
type Wait struct {
	Location trace.LocationID
	Path     trace.PathID
	From     int64
	Time     int64
}

// A reader goes over a timeline.
//
//	spans[0] is span first
type reader struct {
	Timeline
	spans []Span
	first int
	next  int // of those that were not taken yet
}

// span returns span i and where it ends; ok is false if there is none.
func (r *reader) span(i int) (s Span, end int64, ok bool) {
	k := i - r.first
	if k < 0 || k >= len(r.spans) {
		if r.spans, r.first, k = r.Spans.From(i), i, 0; len(r.spans) == 0 {
			return s, 0, false
		}
	}
	switch {
	case k+1 < len(r.spans):
		end = r.spans[k+1].From
	case i+1 < r.Spans.Len():
		end = r.Spans.At(i + 1).From
	default:
		end = math.MaxInt64
	}
	return r.spans[k], end, true
}

// Together puts the timelines of a process beside each other; the first one is the master's.
// From and to are the window, which timelines do not leave. Waits at barriers are given away in
// order of the barriers.
func Together(timelines []Timeline, from, to int64, wait func(Wait)) *Process {
	p := &Process{wait: wait}
	readers := make([]reader, len(timelines))
	for i, t := range timelines {
		readers[i].Timeline = t
		p.Threads = append(p.Threads, readers[i].times(from, to))
	}
	p.Outside = p.Threads[0].Times[Useful]
	master := reader{Timeline: timelines[0]}
	for i := 0; ; {
		first, end, next := master.parallel(i, to)
		if next == i {
			break
		}
		i = next
		p.Regions++
		p.Parallel += end - first.From
		p.region(readers, first.Path, first.From, end)
	}
	return p
}

// times sums a timeline.
func (r *reader) times(from, to int64) Thread {
	out := Thread{Location: r.Location}
	for i := 0; ; i++ {
		s, end, ok := r.span(i)
		if !ok {
			break
		}
		out.Times[s.Activity] += max(0, min(end, to)-max(s.From, from))
	}
	sum := int64(0)
	for _, time := range out.Times {
		sum += time
	}
	out.Times[Idle] += to - from - sum
	return out
}

// parallel returns the first span of the next time in parallel regions, from span i on, and when
// that ends; next is i if there is none.
func (r *reader) parallel(i int, to int64) (first Span, end int64, next int) {
	k := i
	s, e, ok := r.span(k)
	for ; ok && !s.Parallel; s, e, ok = r.span(k) {
		k++
	}
	if !ok {
		return s, 0, i
	}
	for first = s; ok && s.Parallel; s, e, ok = r.span(k) {
		if s.Path != trace.None && first.Path == trace.None && s.Activity != Barrier {
			first.Path = s.Path
		}
		end = min(e, to)
		k++
	}
	return first, end, k
}

// A visit is a thread's stay at a barrier.
type visit struct {
	Wait
	thread int
	until  int64
}

// region takes one time in a parallel region: what is useful in it, and who waits for whom at
// its barriers. All threads of a team pass the same barriers in the same order, so the visits of
// each number are one barrier. Where no barrier is recorded, the end of the region is one, which a
// thread reaches with the end of its useful time.
func (p *Process) region(readers []reader, path trace.PathID, begin, end int64) {
	barriers, ends := p.barriers[:0], p.ends[:0]
	team := 0
	for k := range readers {
		r := &readers[k]
		number, done := 0, int64(math.MinInt64)
		for {
			s, e, ok := r.span(r.next)
			last := s.From == end && e == end && s.Activity == Barrier // who arrives last may not stay
			if !ok || s.From >= end && !last {
				break
			}
			switch {
			case s.Activity == Useful && e > begin:
				done = min(e, end)
				inside := done - max(s.From, begin)
				p.Inside += inside
				if k == 0 {
					p.Outside -= inside
				}
			case s.Activity == Barrier && s.From >= begin:
				if number == len(barriers) {
					barriers = append(barriers, p.room(number))
				}
				barriers[number] = append(barriers[number], visit{Wait{r.Location, s.Path, s.From, 0}, k, e})
				number++
			}
			if e > end {
				break
			}
			r.next++
		}
		if done > math.MinInt64 {
			ends = append(ends, visit{Wait{r.Location, path, done, 0}, k, end})
		}
		if number > 0 || done > math.MinInt64 {
			team++
		}
	}
	p.barriers, p.ends = barriers, ends
	if len(barriers) == 0 {
		p.barrier(ends)
	}
	for _, visits := range barriers {
		if len(visits) < team {
			p.Unpaired++
		}
		p.barrier(visits)
	}
}

// room returns memory for the visits of a barrier, that of the region before if there is some.
func (p *Process) room(number int) []visit {
	if number < len(p.barriers) {
		return p.barriers[number][:0]
	}
	return nil
}

// barrier finds the waits of one barrier.
func (p *Process) barrier(visits []visit) {
	last := int64(math.MinInt64)
	for _, v := range visits {
		last = max(last, v.From)
	}
	for _, v := range visits {
		if v.Time = min(v.until, last) - v.From; v.Time > 0 {
			p.Threads[v.thread].Waits += v.Time
			p.wait(v.Wait)
		}
	}
}
