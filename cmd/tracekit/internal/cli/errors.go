package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"tracekit/report/text"
	"tracekit/trace"
)

// Exit codes of every command.
const (
	codeDone      = 0
	codeFailed    = 1
	codeUsage     = 2
	codeNotATrace = 3 // not a readable trace
	codeGate      = 4 // --strict and data were lost, or a --fail-if condition holds

	codeSignal = 128 // a signal asked to stop; its number is added
)

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usagef returns an error that is a mistake on the command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// gateError says that the work was done but a gate of the user's is shut.
type gateError struct{ reasons []string }

func (e gateError) Error() string {
	lines := make([]string, len(e.reasons))
	for i, r := range e.reasons {
		lines[i] = text.Plain(r)
	}
	return strings.Join(lines, "\n")
}

func exitCode(err error) int {
	var usage usageError
	var gate gateError
	var syntax *trace.SyntaxError
	var unreadable unreadableError
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &usage):
		return codeUsage
	case errors.As(err, &gate):
		return codeGate
	case errors.Is(err, context.Canceled):
		return codeFailed
	case errors.Is(err, trace.ErrNotATrace), errors.As(err, &syntax), errors.As(err, &unreadable):
		return codeNotATrace
	}
	return codeFailed
}

// Said returns what a command that fails says, and its exit code.
func Said(err error) (string, int) { return inWords(err), exitCode(err) }

// unreadableError is a trace that does not exist, may not be read, or has a path that leads
// nowhere.
type unreadableError struct{ err error }

// NotReadable marks an error that says that what a path leads to cannot be read.
func NotReadable(err error) error { return unreadableError{err} }

func (e unreadableError) Error() string { return e.err.Error() }
func (e unreadableError) Unwrap() error { return e.err }

// inWords returns the text of an error for people: without the names of system calls and of
// Go's functions that its parts bring along, in one line, but of a gate one for each reason.
func inWords(err error) string {
	said := err.Error()
	var rewrite func(error)
	replace := func(part error, words string) { said = strings.ReplaceAll(said, part.Error(), words) }
	rewrite = func(err error) {
		switch e := err.(type) {
		case *fs.PathError:
			replace(e, e.Path+": "+e.Err.Error())
			said = strings.ReplaceAll(said, e.Path+": "+e.Path+": ", e.Path+": ")
		case *os.LinkError:
			replace(e, e.New+": "+e.Err.Error())
		case *os.SyscallError:
			replace(e, e.Err.Error())
		case *strconv.NumError:
			replace(e, fmt.Sprintf("%q is not a number that can be used here", e.Num))
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			if inner := e.Unwrap(); inner != nil {
				rewrite(inner)
			}
		case interface{ Unwrap() []error }:
			if joined := errors.Join(e.Unwrap()...); joined.Error() == err.Error() {
				replace(err, strings.ReplaceAll(err.Error(), "\n", "; "))
			}
			for _, inner := range e.Unwrap() {
				rewrite(inner)
			}
		}
	}
	rewrite(err)
	if gate := (gateError{}); errors.As(err, &gate) {
		return said
	}
	return text.Plain(said)
}
