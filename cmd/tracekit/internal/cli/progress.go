package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"tracekit/engine"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// Watch does work under a bar with rate and remaining time on standard error. There is none if that is no terminal or the user asked for
// silence. The work counts events.
func Watch[T any](io *Streams, quiet bool, what string, work func(*engine.Progress) (T, error)) (T, error) {
	bar := startProgress(io, quiet, what)
	defer bar.end()
	return work(&bar.Progress)
}

// A progress draws a bar while a stage counts events.
type progress struct {
	engine.Progress
	stop chan struct{}
	wait sync.WaitGroup
}

// startProgress begins to draw; the caller ends it.
func startProgress(streams *Streams, quiet bool, what string) *progress {
	p := &progress{stop: make(chan struct{})}
	switch {
	case quiet:
		return p
	case streams.Progress:
		p.wait.Go(func() { p.write(streams.Bar, what) })
		return p
	case !streams.ErrTTY:
		return p
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(streams.Bar),
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
	return Watch(io, f.Quiet, "analyzing", func(p *engine.Progress) (*analysis.Result, error) {
		o.Jobs, o.Progress = f.Jobs, p
		return analysis.Analyze(ctx, t, o)
	})
}

// draw shows the counters ten times a second. A bar that cannot be drawn is no reason to
// stop, so its errors are passed over.
func (p *progress) draw(bar *progressbar.ProgressBar) {
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

// write writes the counters ten times a second, a line of JSON each, and the last line once the stage has ended.
func (p *progress) write(w io.Writer, what string) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	line := func(ended bool) {
		fmt.Fprintf(w, `{"progress":%q,"done":%d,"total":%d,"ended":%t}`+"\n", what, p.Done.Load(), p.Total.Load(), ended)
	}
	for {
		select {
		case <-p.stop:
			line(true)
			return
		case <-tick.C:
			line(false)
		}
	}
}

// end removes the bar.
func (p *progress) end() {
	close(p.stop)
	p.wait.Wait()
}
