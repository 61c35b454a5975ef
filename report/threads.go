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
	g.Note("Wall time, but where sums are named. Useful is time in the program: not in MPI, not waiting at barriers, for locks and " +
		"tasks, not forking and joining, not without work.")
	g.Add("parallel efficiency, all threads", words.ShareOrDash(e.Parallel))
	if r.Analysis.Efficiency != nil {
		g.Add("  processes", words.ShareOrDash(e.Process))
		g.Add("  threads", words.ShareOrDash(e.Thread))
	}
	if t.ParallelRegions > 0 {
		g.Note("Processes times threads is parallel efficiency. What it lacks of 100 % is the sum of what is lost in parallel regions, by idle " +
			"threads in serial parts, and by masters that call MPI, fork or wait outside regions.")
		g.Add("100 % less what is lost", "")
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
	r.table(threadRows, rows)
}
