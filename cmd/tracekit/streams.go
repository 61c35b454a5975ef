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

// A sticky writer keeps its first error, so that a print needs not check each of its lines.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

func osStreams() *streams {
	return &streams{
		Out: os.Stdout, Err: os.Stderr,
		ErrTTY: isatty.IsTerminal(os.Stderr.Fd()),
		Width:  terminalWidth(),
	}
}
