package cli

import (
	"context"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"tracekit/engine"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// A progress draws a bar with rate and remaining time on standard error while a stage
// counts events, if that is a terminal and the user did not ask for silence.
type Progress struct {
	engine.Progress
	stop chan struct{}
	wait sync.WaitGroup
}

// StartProgress begins to draw; the caller ends it with done.
func StartProgress(io *Streams, quiet bool, what string) *Progress {
	p := &Progress{stop: make(chan struct{})}
	if quiet || !io.ErrTTY {
		return p
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(io.Bar),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString("events"),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
	p.wait.Go(func() { p.draw(bar) })
	return p
}

// Analyze analyses a trace under a bar.
func (f *ReadFlags) Analyze(ctx context.Context, io *Streams, t *trace.Trace, o analysis.Options) (*analysis.Result, error) {
	bar := StartProgress(io, f.Quiet, "analyzing")
	defer bar.End()
	o.Jobs, o.Progress = f.Jobs, &bar.Progress
	return analysis.Analyze(ctx, t, o)
}

// draw shows the counters ten times a second. A bar that cannot be drawn is no reason to
// stop, so its errors are passed over.
func (p *Progress) draw(bar *progressbar.ProgressBar) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			_ = bar.Clear()
			return
		case <-tick.C:
			done, total := p.Done.Load(), p.Total.Load()
			if total > 0 { // else it is not known how many there will be
				bar.ChangeMax64(int64(max(done, total)))
			}
			_ = bar.Set64(int64(done))
		}
	}
}

// End removes the bar.
func (p *Progress) End() {
	close(p.stop)
	p.wait.Wait()
}
