//go:build attack

package main

import (
	"bytes"
	"io"
	"os"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/scripts/attack/worker"
)

// The campaign of damaged traces runs many commands in one process.
func main() {
	streams := cli.OSStreams()
	worker.Serve(func(args []string, stdout, stderr io.Writer) int {
		own := *streams
		own.In, own.Out, own.Err = new(bytes.Reader), stdout, stderr
		return cli.Main(&own, args, newRoot)
	})
	os.Exit(cli.Main(streams, os.Args[1:], newRoot))
}
