package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"tracekit/scripts/attack/worker"
)

// Hard limits of a process, so that the machine survives it: they are far above what is
// judged.
const (
	maxAddresses = 10 << 30 // bytes of address space, of which the language of rules reserves 4 GiB
	maxFile      = 1 << 30  // bytes of a file that it writes
)

// An ending is how a process ended and what it said.
type ending struct {
	code           int  // exit code; -1: ended by a signal
	killed         bool // it did not end in the time that a busy machine may take
	stdout, stderr []byte
	spent          time.Duration // by the processors
	peak           int64         // resident, in bytes; 0: not known, since the campaign itself held more
	left           string        // what a worker still holds of it; ""
	visited
}

// mostWait is how long a process may take on a machine that is busy with others, if it waits for
// something that never comes; what computes without end is ended by its limit.
const mostWait = 5 * time.Minute

// start runs a program in a directory until it ends, has spent as much time of the processors as
// the limit says, or has not ended for very long. What serves is visited.
//
// The kernel counts into a child's peak what the parent held when it was started: a peak that is no larger says nothing, so the
// campaign must hold little.
func start(ctx context.Context, dir string, limit time.Duration, program string, args []string, serves bool) (ending, error) {
	timed, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	line := append(limited(program, limit), args...)
	cmd := exec.CommandContext(timed, line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir+"/tmp", "LC_ALL=C.UTF-8", "TRACEKIT="+program)
	cmd.WaitDelay = time.Second
	stdout, stderr := worker.Output{}, worker.Output{}
	cmd.Stderr = &stderr
	var v visited
	var err error
	if serves {
		v, err = visit(timed, cmd, &stdout)
	} else {
		cmd.Stdout = &stdout
		err = cmd.Run()
	}
	e := ending{stdout: stdout.Bytes(), stderr: stderr.Bytes(), visited: v}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		return e, errors.Join(err, ctx.Err())
	}
	e.code, e.killed = cmd.ProcessState.ExitCode(), timed.Err() != nil
	e.spent = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var own syscall.Rusage
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil &&
		usage.Maxrss > own.Maxrss {
		e.peak = usage.Maxrss << 10
	}
	return e, nil
}

// limited returns the command line of a program within the hard limits; no limit of time is 0.
func limited(program string, limit time.Duration) []string {
	script := fmt.Sprintf("ulimit -v %d && ulimit -f %d && ", maxAddresses>>10, maxFile>>9)
	if limit > 0 {
		script += fmt.Sprintf("ulimit -t %d && ", limit/time.Second)
	}
	return []string{"sh", "-c", script + `exec "$0" "$@"`, program}
}
