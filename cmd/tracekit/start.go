//go:build !attack

package main

import (
	"os"

	"tracekit/cmd/tracekit/internal/cli"
)

func main() { os.Exit(cli.Main(cli.OSStreams(), os.Args[1:], newRoot)) }
