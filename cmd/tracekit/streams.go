package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
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

const defaultWidth = 120

// terminalWidth returns the width of the terminal on standard output, or a width that
// reads well in files and pipes.
func terminalWidth() int {
	ws, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col < 40 {
		return defaultWidth
	}
	return int(ws.Col)
}
