//go:build unix

package tracetest

import (
	"syscall"
	"testing"
	"time"
)

// ProcessorTime returns what this process has used of processors. Unlike the elapsed time it does not depend on what else the machine does.
func ProcessorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
