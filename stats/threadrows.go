package stats

import (
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// Threads says what the threads of processes do (DEFINITIONS 2.10). Times are sums; those
// of Rows are of one thread each and sum to the run time.
type Threads struct {
	Threads    int              `json:"threads"`
	Processes  int              `json:"processes"`
	UsefulNs   int64            `json:"useful_ns"` // sum over threads
	IdleNs     int64            `json:"idle_ns"`   // idle threads: time of masters outside parallel regions × (threads − 1)
	Efficiency ThreadEfficiency `json:"efficiency"`

	ParallelRegions  uint64 `json:"parallel_regions"`  // times that one is entered
	ParallelNs       int64  `json:"parallel_ns"`       // time of masters in them
	UnpairedBarriers uint64 `json:"unpaired_barriers"` // that not all threads of a team pass

	Rows []ThreadRow `json:"rows"` // by rank, the master first
}

// ThreadEfficiency holds the efficiencies of threads, fractions of one. Parallel is the mean over
// all threads of useful time / run time, and the product of Process, which is
// efficiency.parallel_efficiency (1 where nobody calls MPI), and Thread. LoadBalance is the mean
// over processes of the mean / the most useful time of a thread. Region and Serial are means over
// processes too; null: no process has a parallel region.
type ThreadEfficiency struct {
	Parallel    *float64 `json:"parallel"`
	Process     *float64 `json:"process"`
	Thread      *float64 `json:"thread"`
	LoadBalance *float64 `json:"load_balance"`
	Region      *float64 `json:"region"`
	Serial      *float64 `json:"serial"`
}

// A ThreadRow is the time of one thread by what it does; the last two are parts of others.
type ThreadRow struct {
	Rank            uint32 `json:"rank"`
	Thread          int    `json:"thread"` // of its process; 0: the master
	Location        uint32 `json:"location"`
	Name            Name   `json:"name"`
	UsefulNs        int64  `json:"useful_ns"`
	CommunicationNs int64  `json:"communication_ns"` // in MPI
	BarrierNs       int64  `json:"barrier_ns"`       // in barriers of its team
	WaitingNs       int64  `json:"waiting_ns"`       // for locks, tasks and other threads
	SchedulingNs    int64  `json:"scheduling_ns"`    // fork and join, creating threads and tasks
	MeasurementNs   int64  `json:"measurement_ns"`   // buffer flushes, and recording off
	IdleNs          int64  `json:"idle_ns"`          // no work, not yet or no longer there
	SerialNs        int64  `json:"serial_ns"`        // of what is useful: outside parallel regions; of a master, else 0
	TeamWaitNs      int64  `json:"team_wait_ns"`     // at barriers, for the last one of its team
}

// newThread returns the recorder of a location, nil if it is no thread of a rank.
func (p *profiler) newThread(l trace.LocationID) *threads.Recorder {
	rank := p.t.Rank[l]
	if p.t.Defs.Locations[l].Kind != trace.LocationCPUThread || int(rank) >= len(p.t.World) {
		return nil
	}
	return threads.NewRecorder(p.t.Store, l, p.meanings, p.t.World[rank] != l, p.running != trace.None, p.scope.clamp(p.t.Span[l].First))
}

// watchThreads lets the pass keep timelines of threads, if the trace knows threads that work
// together.
func (p *profiler) watchThreads() {
	if threads.Models(p.t) {
		p.threads, p.meanings = make([]*threads.Recorder, len(p.t.Span)), threads.Meanings(p.t.Defs)
	}
}

// threadRuns takes what the trace tells of when a thread runs.
func (w *walk) threadRuns(m *trace.MetricValues, i int) {
	if t := w.corrected(m.Time[i]); t > w.now {
		w.advance(w.top, t)
	}
	if ticks := int64(m.Value[i]); w.thread != nil && ticks >= 0 && ticks <= never-max(m.Time[i], 0) {
		w.thread.Runs(w.now, w.corrected(m.Time[i]+ticks))
	}
}

// threadUseful returns the useful time of the thread until now.
func (w *walk) threadUseful() int64 {
	if w.thread != nil {
		return w.thread.Useful(w.now)
	}
	return w.usefulAt(w.now)
}

// teams puts the threads of each selected rank together, and charges the waits at their
// barriers; nothing if threads are not told apart.
func (p *profiler) teams(ctx context.Context, w *waiting) ([]*threads.Process, error) {
	byRank := make([][]threads.Timeline, len(p.t.World))
	for l, r := range p.threads {
		if r == nil {
			continue
		}
		rank := p.t.Rank[l]
		byRank[rank] = append(byRank[rank], r.Timeline)
		if n := len(byRank[rank]); p.t.World[rank] == trace.LocationID(l) {
			byRank[rank] = slices.Insert(byRank[rank][:n-1], 0, r.Timeline)
		}
	}
	byRank = slices.DeleteFunc(byRank, func(t []threads.Timeline) bool { return len(t) == 0 })
	out := make([]*threads.Process, len(byRank))
	sums, err := engine.Fold(ctx, w.jobs, len(byRank), w.newSums, func(s *waitSums, i int) error {
		out[i] = threads.Together(byRank[i], p.scope.from, p.scope.to, func(wait threads.Wait) {
			call := &trace.Call{Seq: uint64(wait.From), Path: wait.Path, Region: trace.None}
			if int(wait.Path) < len(p.t.Tree.Nodes) {
				call.Region = p.t.Tree.Nodes[wait.Path].Region
			}
			s.charge(p.scope, WaitAtTeamBarrier, wait.Location, call, wait.From, wait.Time)
		})
		return nil
	}, (*waitSums).combine)
	if err != nil {
		return nil, fmt.Errorf("putting threads together: %w", err)
	}
	w.waitSums.combine(sums)
	for _, r := range p.threads {
		if r != nil {
			r.Spans.Release()
		}
	}
	return out, nil
}

// threadCount returns the number of threads of processes.
func threadCount(processes []*threads.Process) (n int) {
	for _, p := range processes {
		n += len(p.Threads)
	}
	return n
}

// threadRows makes the block of the threads, nil if there is none.
func threadRows(p *profiler, processes []*threads.Process, e *Efficiency) *Threads {
	if len(processes) == 0 {
		return nil
	}
	r, runtime := rate{p.t.Defs.Clock.Resolution}, p.scope.to-p.scope.from
	out := &Threads{Threads: threadCount(processes), Processes: len(processes)}
	var useful, idle, parallel int64
	var region, serial, balance mean
	for _, process := range processes {
		n := int64(len(process.Threads))
		out.ParallelRegions += process.Regions
		out.UnpairedBarriers += process.Unpaired
		parallel += process.Parallel
		idle += (runtime - process.Parallel) * (n - 1)
		sum, most := int64(0), int64(0)
		for i, thread := range process.Threads {
			sum, most = sum+thread.Times[threads.Useful], max(most, thread.Times[threads.Useful])
			row := threadRow(p, i, &thread)
			if i == 0 {
				row.SerialNs = r.ns(process.Outside)
			}
			out.Rows = append(out.Rows, row)
		}
		useful += sum
		balance.add(ratio(sum, n*most))
		if process.Regions > 0 {
			region.add(less(ratio(process.Parallel*n-process.Inside, n*runtime)))
			serial.add(less(ratio((n-1)*process.Outside, n*runtime)))
		}
	}
	out.UsefulNs, out.ParallelNs = r.ns(useful), r.ns(parallel)
	if out.ParallelRegions > 0 {
		out.IdleNs = r.ns(idle)
	}
	f := &out.Efficiency
	f.Parallel, f.LoadBalance, f.Region, f.Serial = ratio(useful, int64(out.Threads)*runtime), balance.value(), region.value(), serial.value()
	one := 1.0
	f.Process = &one
	if e != nil {
		f.Process = e.ParallelEfficiency
	}
	if f.Parallel != nil && f.Process != nil && *f.Process > 0 {
		f.Thread = Known(*f.Parallel / *f.Process)
	}
	return out
}

func threadRow(p *profiler, number int, t *threads.Thread) ThreadRow {
	r, times := rate{p.t.Defs.Clock.Resolution}, &t.Times
	return ThreadRow{Rank: p.t.Rank[t.Location], Thread: number, Location: uint32(t.Location),
		Name:     Name(p.t.Defs.String(p.t.Defs.Locations[t.Location].Name)),
		UsefulNs: r.ns(times[threads.Useful]), CommunicationNs: r.ns(times[threads.Communication]), BarrierNs: r.ns(times[threads.Barrier]),
		WaitingNs: r.ns(times[threads.Waiting]), SchedulingNs: r.ns(times[threads.Scheduling]),
		MeasurementNs: r.ns(times[threads.Measurement]), IdleNs: r.ns(times[threads.Idle]), TeamWaitNs: r.ns(t.Waits)}
}

// A mean is that of the ratios that are defined.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(ratio *float64) {
	if ratio != nil {
		m.sum, m.n = m.sum+*ratio, m.n+1
	}
}

func (m *mean) value() *float64 { return Known(m.sum / float64(m.n)) }

// less returns 1 - x.
func less(x *float64) *float64 {
	if x == nil {
		return nil
	}
	value := 1 - *x
	return &value
}
