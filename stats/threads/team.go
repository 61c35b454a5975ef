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
	Locked   int64    // by which regions end later since threads wait for locks or others, as far as that makes their last thread end later
	Unpaired uint64   // barriers that not all threads of the team pass

	wait     func(Wait)
	barriers [][]visit // memory for those of a region
	ends     []visit
	span     int // of the master, where regions so far end
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
//	spans lie beside each other; the next one is spans[at], the first one span first
type reader struct {
	Timeline
	spans []Span
	first int
	at    int
}

// span returns the next span and where it ends, nil if there is none.
func (r *reader) span() (s *Span, end int64) {
	if r.at+1 < len(r.spans) {
		return &r.spans[r.at], r.spans[r.at+1].From
	}
	return r.last()
}

// last is span for the last one of those that lie beside each other, and for the one behind it.
func (r *reader) last() (s *Span, end int64) {
	if r.at == len(r.spans) {
		r.first, r.at = r.first+r.at, 0
		if r.spans = r.Spans.From(r.first); len(r.spans) == 0 {
			return nil, 0
		}
	}
	end = math.MaxInt64
	if next := r.first + r.at + 1; next < r.Spans.Len() {
		end = r.Spans.Ptr(next).From
	}
	return &r.spans[r.at], end
}

// skip goes on to the span behind the next one.
func (r *reader) skip() { r.at++ }

// Together puts the timelines of a process beside each other; the first one is the master's.
// From and to are the window, which timelines do not leave. Waits at barriers are given away in
// order of the barriers.
func Together(timelines []Timeline, from, to int64, wait func(Wait)) *Process {
	p := &Process{wait: wait}
	readers := make([]reader, len(timelines))
	for i, t := range timelines {
		readers[i].Timeline = t
		p.Threads = append(p.Threads, t.times(from, to))
	}
	p.Outside = p.Threads[0].Times[Useful]
	master := reader{Timeline: timelines[0]}
	for {
		first, end, ok := master.parallel(to)
		if !ok {
			break
		}
		p.Regions++
		p.Parallel += end - first.From
		p.region(readers, first.Path, first.From, end)
	}
	return p
}

// times sums a timeline.
func (t *Timeline) times(from, to int64) Thread {
	out := Thread{Location: t.Location}
	begin, activity := from, Idle
	for _, spans := range t.Spans.Rows {
		for i := range spans {
			at := min(max(spans[i].From, from), to)
			out.Times[activity] += at - begin
			begin, activity = at, spans[i].Activity
		}
	}
	out.Times[activity] += to - begin
	return out
}

// parallel returns the first span of the next time in parallel regions, and when that ends; ok is
// false if there is none.
func (r *reader) parallel(to int64) (first Span, end int64, ok bool) {
	s, e := r.span()
	for s != nil && !s.Parallel {
		r.skip()
		s, e = r.span()
	}
	if s == nil {
		return first, 0, false
	}
	for first = *s; s != nil && s.Parallel; s, e = r.span() {
		if s.Path != trace.None && first.Path == trace.None && s.Activity != Barrier {
			first.Path = s.Path
		}
		end = min(e, to)
		r.skip()
	}
	return first, end, true
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
	last, free := int64(math.MinInt64), int64(math.MinInt64) // when all have done, and would have without waiting
	for k := range readers {
		r := &readers[k]
		number, done, waits := 0, int64(math.MinInt64), int64(0)
		for {
			s, e := r.span()
			if s == nil {
				break
			}
			last := e == end && s.Activity == Barrier // who arrives last may not stay
			if s.From >= end && !(last && s.From == end) {
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
			case s.Activity == Waiting && e > begin:
				waits += min(e, end) - max(s.From, begin)
			case s.Activity == Barrier && s.From >= begin:
				if number == len(barriers) {
					barriers = more(barriers)
				}
				barriers[number] = append(barriers[number], visit{Wait{r.Location, s.Path, s.From, 0}, k, e})
				number++
			}
			if e > end {
				break
			}
			r.skip()
		}
		if done > math.MinInt64 {
			ends = append(ends, visit{Wait{r.Location, path, done, 0}, k, end})
			last, free = max(last, done), max(free, done-waits)
		}
		if number > 0 || done > math.MinInt64 {
			team++
		}
	}
	p.barriers, p.ends = barriers, ends
	if last > math.MinInt64 {
		p.Locked += last - free
	}
	if len(barriers) == 0 {
		p.barrier(ends)
		p.joins(ends, readers[0].Timeline, last)
	}
	for _, visits := range barriers {
		if len(visits) < team {
			p.Unpaired++
		}
		p.barrier(visits)
	}
}

// joins takes what the master waits at the end of a region, where no barrier is recorded, from its forking and joining.
func (p *Process) joins(ends []visit, master Timeline, last int64) {
	if len(ends) == 0 || ends[0].thread != 0 {
		return
	}
	for i, done := p.at(master, ends[0].From), ends[0].From; i < master.Spans.Len(); i++ {
		s, until := master.Spans.Ptr(i), last
		if i+1 < master.Spans.Len() {
			until = min(last, master.Spans.Ptr(i+1).From)
		}
		if s.From >= last {
			break
		}
		if time := until - max(s.From, done); s.Activity == Scheduling && time > 0 {
			p.Threads[0].Times[Scheduling] -= time
			p.Threads[0].Times[Barrier] += time
		}
	}
}

// at returns the number of the span of a timeline in which an instant is. Instants do not decrease.
func (p *Process) at(t Timeline, instant int64) int {
	for p.span+1 < t.Spans.Len() && t.Spans.Ptr(p.span+1).From <= instant {
		p.span++
	}
	return p.span
}

// more adds a barrier without visits, with the memory of one of a region before if there was one.
func more(barriers [][]visit) [][]visit {
	n := len(barriers)
	if n == cap(barriers) {
		return append(barriers, nil)
	}
	barriers = barriers[:n+1]
	barriers[n] = barriers[n][:0]
	return barriers
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
