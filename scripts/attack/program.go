package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"tracekit/scripts/attack/worker"
)

// A program is run in processes of their own, or by workers, which are kept, so that most runs need no process.
type program struct {
	path, work string

	lock sync.Mutex
	idle []*worker.Worker
}

// mostRuns is how many commands a worker runs, so that what it keeps stays little.
const mostRuns = 500

// run runs a command in a directory until it ends: in a worker, unless it is to have a process of its own, serves, or starts processes
// itself.
func (p *program) run(ctx context.Context, dir string, limit time.Duration, args []string, serves, alone bool) (ending, error) {
	if alone || serves || startsProcesses(args) {
		return start(ctx, dir, limit, p.path, args, serves)
	}
	return p.shared(ctx, dir, limit, args)
}

// startsProcesses reports whether a command starts others, which use up what lies in its directory: it cannot be run there again.
func startsProcesses(args []string) bool { return slices.Contains(args, "--second-pass") }

// shared runs a command in a worker, as start does in a process of its own.
func (p *program) shared(ctx context.Context, dir string, limit time.Duration, args []string) (e ending, err error) {
	w, err := p.take()
	if err != nil {
		return e, err
	}
	timed, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	a, ended, err := w.Run(timed, limit, worker.Request{Dir: dir, Args: args})
	switch {
	case ended:
	case w.Runs() < mostRuns && err == nil && a.Goroutines == 0 && a.Files == 0:
		p.put(w)
	default:
		w.Stop()
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return e, err
	}
	e = ending{code: a.Code, killed: timed.Err() != nil, stdout: a.Stdout, stderr: a.Stderr, spent: a.Spent, peak: a.Peak}
	if a.Goroutines > 0 || a.Files > 0 {
		e.left = fmt.Sprintf("%d goroutines, %d open files", a.Goroutines, a.Files)
	}
	return e, nil
}

func (p *program) take() (*worker.Worker, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return w, nil
	}
	dir, err := os.MkdirTemp(p.work, "worker-")
	if err != nil {
		return nil, err
	}
	return worker.Start(dir, limited(p.path, 0)...)
}

func (p *program) put(w *worker.Worker) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.idle = append(p.idle, w)
}

// stop ends all workers, which are idle.
func (p *program) stop() {
	for _, w := range p.idle {
		w.Stop()
	}
}
