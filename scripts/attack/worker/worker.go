// Package worker runs many commands in one process, one after the other, so that a campaign need not
// start a process for each. What a command takes and leaves is measured for each of them.
package worker

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Request is a command line to run.
type Request struct {
	Dir  string // where it runs; its temporary files go to tmp below
	Args []string
}

// An Answer is what came of it.
type Answer struct {
	Code           int // exit code; -1: the process was ended
	Stdout, Stderr []byte
	Spent          time.Duration // by the processors
	Peak           int64         // resident, in bytes, of the whole process: not less than that of a process of its own
	Goroutines     int           // that it left behind
	Files          int           // that it left open
}

// A Worker is the process.
type Worker struct {
	cmd     *exec.Cmd
	to      *gob.Encoder
	from    *gob.Decoder
	answers *os.File
	close   func()
	stderr  string // file of what does not go through the command's own streams
	runs    int

	// Of the command at hand.
	ctx    context.Context
	limit  time.Duration
	before time.Duration // that the process had spent
}

// asked is the variable of the environment that makes a program a worker. Requests come in file 3, answers go to 4.
const asked = "TRACEKIT_WORKER"

// Start starts a program that calls Serve as a worker, by a command line whose end it is. Dir is for a file of its own.
func Start(dir string, program ...string) (*Worker, error) {
	w := &Worker{cmd: exec.Command(program[0], program[1:]...), stderr: filepath.Join(dir, "stderr")}
	stderr, err := os.OpenFile(w.stderr, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	in, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	answers, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, requests.Close())
	}
	defer out.Close()
	w.close = func() {
		requests.Close()
		answers.Close()
	}
	w.cmd.Stdout, w.cmd.Stderr, w.cmd.ExtraFiles = stderr, stderr, []*os.File{in, out}
	w.cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", asked+"=1")
	w.answers, w.to, w.from = answers, gob.NewEncoder(requests), gob.NewDecoder(w)
	if err := w.cmd.Start(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// Runs returns how many commands it has run.
func (w *Worker) Runs() int { return w.runs }

// Read implements io.Reader for the answers. While there is none it ends the process if the command takes too long.
func (w *Worker) Read(p []byte) (int, error) {
	for {
		if err := w.answers.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return 0, err
		}
		n, err := w.answers.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if w.ctx.Err() != nil || spentBy(w.cmd.Process.Pid)-w.before > w.limit {
			_ = w.cmd.Process.Kill() // it may have ended
		}
	}
}

// Run runs a command until it ends or the processors have spent as much time as the limit on it. Ended says that the worker has
// ended, by the command or since the context has, and must not be used any more.
func (w *Worker) Run(ctx context.Context, limit time.Duration, r Request) (a Answer, ended bool, err error) {
	w.runs++
	w.ctx, w.limit, w.before = ctx, limit, spentBy(w.cmd.Process.Pid)
	if err := errors.Join(w.to.Encode(r), w.from.Decode(&a)); err != nil {
		ended = true
		w.Stop()
		usage := w.cmd.ProcessState
		if usage.Success() {
			return a, true, errors.New("the program is no worker: build it with -tags attack")
		}
		a = Answer{Code: usage.ExitCode(), Spent: max(0, usage.UserTime()+usage.SystemTime()-w.before)}
		if r, ok := usage.SysUsage().(*syscall.Rusage); ok {
			a.Peak = r.Maxrss << 10
		}
	}
	more, err := os.ReadFile(w.stderr)
	if len(more) > 0 && err == nil && !ended {
		err = os.Truncate(w.stderr, 0)
	}
	a.Stderr = append(a.Stderr, more...)
	return a, ended, err
}

// Stop ends the worker.
func (w *Worker) Stop() {
	w.close()
	_ = w.cmd.Wait() // how it ended is in its state
}

// ticks are the kernel's in a second.
const ticks = 100

// spentBy returns the time that the processors have spent on a process, to a hundredth of a second; 0 if it is not known.
func spentBy(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, fields, _ := strings.Cut(string(stat), ") ")
	f := strings.Fields(fields)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}
