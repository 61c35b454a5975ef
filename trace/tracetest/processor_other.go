//go:build !unix

package tracetest

import (
	"testing"
	"time"
)

// ProcessorTime skips the benchmark: it is known where systems are like Unix.
func ProcessorTime(b *testing.B) time.Duration {
	Need(b, "a system that tells the processor time as Unix does")
	return 0
}
