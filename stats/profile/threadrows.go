package profile

import (
	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// threadRuns takes what the trace tells of when a thread runs.
func (w *walk) threadRuns(m *trace.MetricValues, i int) {
	if t := w.corrected(m.Time[i]); t > w.now {
		w.advance(w.top, t)
	}
	if ticks := int64(m.Value[i]); w.thread != nil && ticks >= 0 && ticks <= numbers.Never-max(m.Time[i], 0) {
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

// ThreadCount returns the number of threads of processes.
func ThreadCount(processes []*threads.Process) (n int) {
	for _, p := range processes {
		n += len(p.Threads)
	}
	return n
}

// ThreadRows makes the block of the threads, nil if there is none.
func ThreadRows(p *Profiler, processes []*threads.Process, e *document.Efficiency) *document.Threads {
	if len(processes) == 0 {
		return nil
	}
	r, runtime := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}, p.Scope.To-p.Scope.From
	out := &document.Threads{Threads: ThreadCount(processes), Processes: len(processes)}
	var useful, idle, parallel int64
	var region, serial, master, balance mean
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
				row.SerialNs, row.LockDelayNs = r.Ns(process.Outside), r.Ns(process.Locked)
			}
			out.Rows = append(out.Rows, row)
		}
		useful += sum
		balance.add(numbers.Ratio(sum, n*most))
		if process.Regions > 0 {
			region.add(less(numbers.Ratio(process.Parallel*n-process.Inside, n*runtime)))
			serial.add(less(numbers.Ratio((n-1)*process.Outside, n*runtime)))
			master.add(numbers.Ratio(process.Parallel+process.Outside, runtime))
		}
	}
	out.UsefulNs, out.ParallelNs = r.Ns(useful), r.Ns(parallel)
	if out.ParallelRegions > 0 {
		out.IdleNs = r.Ns(idle)
	}
	f := &out.Efficiency
	f.Parallel, f.LoadBalance = numbers.Ratio(useful, int64(out.Threads)*runtime), balance.value()
	f.Region, f.Serial, f.Master = region.value(), serial.value(), master.value()
	one := 1.0
	f.Process = &one
	if e != nil {
		f.Process = e.ParallelEfficiency
	}
	if f.Parallel != nil && f.Process != nil && *f.Process > 0 {
		f.Thread = numbers.Known(*f.Parallel / *f.Process)
	}
	return out
}

func threadRow(p *Profiler, number int, t *threads.Thread) document.ThreadRow {
	r, times := numbers.Rate{Resolution: p.T.Defs.Clock.Resolution}, &t.Times
	return document.ThreadRow{Rank: p.T.Rank[t.Location], Thread: number, Location: uint32(t.Location),
		Name:     field.Name(p.T.Defs.String(p.T.Defs.Locations[t.Location].Name)),
		UsefulNs: r.Ns(times[threads.Useful]), CommunicationNs: r.Ns(times[threads.Communication]), BarrierNs: r.Ns(times[threads.Barrier]),
		WaitingNs: r.Ns(times[threads.Waiting]), SchedulingNs: r.Ns(times[threads.Scheduling]),
		MeasurementNs: r.Ns(times[threads.Measurement]), IdleNs: r.Ns(times[threads.Idle]), TeamWaitNs: r.Ns(t.Waits)}
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

func (m *mean) value() *float64 { return numbers.Known(m.sum / float64(m.n)) }

// less returns 1 - x.
func less(x *float64) *float64 {
	if x == nil {
		return nil
	}
	value := 1 - *x
	return &value
}
