package worker

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// mostOutput is how much of an output is kept, in bytes.
const mostOutput = 64 << 20

// mostHeld is what a worker may hold when a command begins, in bytes, before it gives back what the last ones have left.
const mostHeld = 96 << 20

// Serve runs what is asked for with run, which returns an exit code, and ends the process; it returns at once where nobody asks.
func Serve(run func(args []string, stdout, stderr io.Writer) int) {
	if os.Getenv(asked) == "" {
		return
	}
	os.Unsetenv(asked)
	_, stop := signal.NotifyContext(context.Background(), os.Interrupt) // starts a goroutine that stays, as a command does
	stop()
	requests, answers := gob.NewDecoder(os.NewFile(3, "requests")), gob.NewEncoder(os.NewFile(4, "answers"))
	for {
		var r Request
		err := requests.Decode(&r)
		if err == io.EOF {
			os.Exit(0)
		}
		var a Answer
		if err == nil {
			a, err = r.run(run)
		}
		if err = errors.Join(err, answers.Encode(a)); err != nil {
			fmt.Fprintln(os.Stderr, "fatal error: worker:", err)
			os.Exit(1)
		}
	}
}

func (r Request) run(run func([]string, io.Writer, io.Writer) int) (a Answer, err error) {
	if err := errors.Join(os.Chdir(r.Dir), os.Setenv("TMPDIR", filepath.Join(r.Dir, "tmp"))); err != nil {
		return a, err
	}
	debug.SetGCPercent(100) // as in a new process
	if held("VmRSS") > mostHeld {
		debug.FreeOSMemory()
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins anew
		return a, err
	}
	goroutines, files, before := runtime.NumGoroutine(), openFiles(), spent()
	var stdout, stderr Output
	a.Code = run(r.Args, &stdout, &stderr)
	a.Stdout, a.Stderr, a.Spent, a.Peak = stdout.Bytes(), stderr.Bytes(), spent()-before, held("VmHWM")
	for wait := time.Microsecond; runtime.NumGoroutine() > goroutines && wait < time.Second; wait *= 2 {
		time.Sleep(wait) // what has just been told to end
	}
	a.Goroutines, a.Files = max(0, runtime.NumGoroutine()-goroutines), max(0, openFiles()-files)
	return a, nil
}

// held returns a size of this process that the kernel counts, in bytes.
func held(key string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, line, _ := strings.Cut(string(status), key+":")
	f := strings.Fields(line)
	if len(f) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(f[0], 10, 64)
	return kib << 10
}

func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

func spent() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // it fails for other numbers only
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// An Output keeps the first bytes that are written to it, by any goroutine.
type Output struct {
	lock sync.Mutex
	kept bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.kept.Write(p[:min(len(p), mostOutput-o.kept.Len())])
	return len(p), nil
}

// Bytes returns what is kept, when nothing writes any more.
func (o *Output) Bytes() []byte { return o.kept.Bytes() }
