// Command tracekit analyses traces of MPI and multi-GPU programs after their run: is the
// trace sound, where does the time go, which source line wastes it, why, and what would
// fixing it gain. See "tracekit help" or the README.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, osStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}
