package main

import (
	"fmt"
	"strings"

	"tracekit/readers"
	"tracekit/report"
)

// writtenBy names a format and the program that wrote the trace, if that is known.
func writtenBy(format, creator string) string {
	switch label := readers.Label(format); {
	case creator == "":
		return label
	case strings.HasPrefix(creator, label): // "Nsight Systems 2026.1"
		return creator
	default:
		return label + " by " + creator
	}
}

// sections returns where the sections of a report go, with so many rows in each table.
func (s *streams) sections(top int) *report.Sections {
	return &report.Sections{W: s.Out, Width: s.Width, Top: top}
}

// explain says where the words of a report are explained.
func (s *streams) explain() {
	fmt.Fprintln(s.Out, "\n'tracekit help terms' explains the words of this report.")
}
