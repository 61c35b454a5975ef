package report

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/words"
)

// threads prints what the threads of processes do, and how much of their time is useful.
func (r *Sections) threads() {
	t := r.Analysis.Threads
	if t == nil {
		return
	}
	e := t.Efficiency
	g := r.Grid(fmt.Sprintf("Efficiency of %s in %s", words.Plural(t.Threads, "thread", "threads"),
		words.Plural(t.Processes, "process", "processes")), "<", r.whole())
	g.Note("Wall time, unless sums are named. Useful is time in the program, without MPI, barriers, locks, waiting for tasks, fork " +
		"and join, and idle time.")
	g.Add("parallel efficiency, all threads", words.ShareOrDash(e.Parallel))
	if r.Analysis.Efficiency != nil {
		g.Add("  processes", words.ShareOrDash(e.Process))
		g.Add("  threads", words.ShareOrDash(e.Thread))
	}
	if t.ParallelRegions > 0 {
		g.Note("Parallel efficiency is processes times threads. The loss to 100 % has three parts: in parallel regions, idle " +
			"threads in serial parts, and masters in MPI, fork or waits.")
		g.Add("100 % minus the loss", "")
		g.Add("  in parallel regions", words.ShareOrDash(e.Region))
		g.Add("  in serial parts", words.ShareOrDash(e.Serial))
		g.Add("  by masters outside regions", words.ShareOrDash(e.Master))
	}
	g.Add("balance of the threads of a process", words.ShareOrDash(e.LoadBalance))
	g.Add("run time", words.Time(r.runtime()))
	g.Add("useful time, sum of threads", words.Time(t.UsefulNs))
	if t.ParallelRegions > 0 {
		g.Add("in parallel regions, sum of processes", words.Time(t.ParallelNs))
		g.Add("idle threads outside them, sum", words.Time(t.IdleNs))
	}
	r.Show(g)
	r.threadRows(t)
}

// runtime returns the length of what was analyzed.
func (r *Sections) runtime() int64 {
	if s := r.Analysis.Selection; s != nil {
		return s.ToNs - s.FromNs
	}
	return r.Analysis.Trace.DurationNs
}

// A runTime is that of what was analyzed.
type runTime struct {
	Ns int64 `json:"run_ns"`
}

// threadRows prints the time of each thread by what it does.
func (r *Sections) threadRows(t *document.Threads) {
	rows := r.rows(threadRows)
	for i := range rows {
		rows[i] = append(rows[i], runTime{r.runtime()})
	}
	r.Table(threadRows, rows)
}
