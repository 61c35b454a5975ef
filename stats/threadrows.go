package stats

import (
	"context"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/stats/threads"
	"tracekit/trace"
)

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
			s.charge(p.scope, waitstate.AtTeamBarrier, wait.Location, call, wait.From, wait.Time)
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
func threadRows(p *profiler, processes []*threads.Process, e *document.Efficiency) *document.Threads {
	if len(processes) == 0 {
		return nil
	}
	r, runtime := rate{p.t.Defs.Clock.Resolution}, p.scope.to-p.scope.from
	out := &document.Threads{Threads: threadCount(processes), Processes: len(processes)}
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

func threadRow(p *profiler, number int, t *threads.Thread) document.ThreadRow {
	r, times := rate{p.t.Defs.Clock.Resolution}, &t.Times
	return document.ThreadRow{Rank: p.t.Rank[t.Location], Thread: number, Location: uint32(t.Location),
		Name:     field.Name(p.t.Defs.String(p.t.Defs.Locations[t.Location].Name)),
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
