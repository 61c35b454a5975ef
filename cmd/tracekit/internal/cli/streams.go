package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"tracekit/document"
	"tracekit/report"
)

// Streams is all that a command knows of its surroundings: tests replace it by buffers.
type Streams struct {
	In       io.Reader // standard input; nil: there is none
	Out, Err io.Writer // to which a command's run writes plain text: see plainWriter
	Bar      io.Writer // standard error as it is, for what moves the cursor; set by run
	Terminal io.Writer // standard output as it is, if it is a terminal; set by run
	Bytes    io.Writer // standard output as it is, for what is no text; set by run
	OutTTY   bool      // standard output is a terminal
	Colors   bool      // of it may be used
	ErrTTY   bool      // standard error is a terminal: progress may be drawn
	Progress bool      // is written to standard error as lines of JSON instead
	Width    int       // of the terminal, in columns

	// Found is called with what a command has found before that is printed; nil: nobody asks.
	Found func(document any, findings []document.Finding)
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

// OSStreams are those of the process.
func OSStreams() *Streams {
	return &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY: isatty.IsTerminal(os.Stdout.Fd()),
		Colors: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		ErrTTY: isatty.IsTerminal(os.Stderr.Fd()),
		Width:  terminalWidth(),

		Progress: os.Getenv("TRACEKIT_PROGRESS") == "json",
	}
}

// The widths that are printed in.
const (
	defaultWidth = 120
	leastWidth   = 40
)

// terminalWidth returns the columns to print in: what the environment says in COLUMNS, else
// the width of the terminal on standard output, else one that reads well in files and pipes.
func terminalWidth() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, leastWidth)
	}
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 {
		return defaultWidth
	}
	return max(width, leastWidth)
}

// Sections returns where the sections of a report go, with so many rows in each table.
func (s *Streams) Sections(top int) *report.Sections {
	return &report.Sections{W: s.Out, Width: s.Width, Top: top}
}

// Explain says where the words of a report are explained.
func (s *Streams) Explain() {
	fmt.Fprintln(s.Out, "\n'tracekit help terms' explains the words of this report.")
}
