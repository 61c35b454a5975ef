package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Hard limits of a process, so that the machine survives it: they are far above what is
// judged.
const (
	maxAddresses = 6 << 30 // bytes of address space
	maxFile      = 1 << 30 // bytes of a file that it writes
	maxOutput    = 64 << 20
)

// An ending is how a process ended and what it said.
type ending struct {
	code           int // exit code; -1: ended by a signal
	killed         bool
	stdout, stderr []byte
	elapsed        time.Duration
	peak           int64 // resident, in bytes; at least what the campaign itself holds
}

// start runs a program in a directory until it ends or its time is over.
//
// The kernel counts into a child's peak what the parent held when it was started, so the
// campaign must hold little.
func start(ctx context.Context, dir string, limit time.Duration, program string, args []string) (ending, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	limits := fmt.Sprintf("ulimit -v %d && ulimit -f %d && exec \"$0\" \"$@\"", maxAddresses>>10, maxFile>>9)
	cmd := exec.CommandContext(timed, "sh", append([]string{"-c", limits, program}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir+"/tmp", "LC_ALL=C.UTF-8")
	cmd.WaitDelay = time.Second
	stdout, stderr := output{}, output{}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	e := ending{elapsed: time.Since(began), stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		return e, errors.Join(err, ctx.Err())
	}
	e.code, e.killed = cmd.ProcessState.ExitCode(), timed.Err() != nil
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.peak = usage.Maxrss << 10
	}
	return e, nil
}

// output keeps the first bytes that are written to it.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	o.Buffer.Write(p[:min(len(p), maxOutput-o.Len())])
	return len(p), nil
}
