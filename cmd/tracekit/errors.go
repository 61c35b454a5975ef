package main

import (
	"context"
	"errors"
	"fmt"

	"tracekit/trace"
)

// Exit codes of every command.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitNotATrace = 3 // not a trace that can be read
	exitGate      = 4 // --strict and data were lost, or a --fail-if condition holds
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// gateError says that the work was done but a gate of the user's is shut.
type gateError struct{ reasons []string }

func (e gateError) Error() string {
	s := ""
	for i, r := range e.reasons {
		if i > 0 {
			s += "\n"
		}
		s += r
	}
	return s
}

func exitCode(err error) int {
	var usage usageError
	var gate gateError
	var syntax *trace.SyntaxError
	var unreadable unreadableError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &gate):
		return exitGate
	case errors.Is(err, context.Canceled):
		return exitFailed
	case errors.Is(err, trace.ErrNotATrace), errors.As(err, &syntax), errors.As(err, &unreadable):
		return exitNotATrace
	}
	return exitFailed
}

// unreadableError is a trace that does not exist or may not be read.
type unreadableError struct{ err error }

func (e unreadableError) Error() string { return e.err.Error() }
func (e unreadableError) Unwrap() error { return e.err }
