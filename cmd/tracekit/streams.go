package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// streams is all that a command knows of its surroundings: tests replace it by buffers.
type streams struct {
	Out, Err io.Writer
	ErrTTY   bool // standard error is a terminal: progress may be drawn
	Width    int  // of the terminal, in columns
}

func osStreams() *streams {
	return &streams{
		Out: os.Stdout, Err: os.Stderr,
		ErrTTY: isatty.IsTerminal(os.Stderr.Fd()),
		Width:  terminalWidth(),
	}
}
