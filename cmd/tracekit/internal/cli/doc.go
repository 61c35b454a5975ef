// Package cli is what all commands share: the run of a command line, groups of flags and the kinds of values that flags take. It has the
// one way to open traces, to work under a bar, to write outputs, and to finish or fail. A Kind parses a value, says what it wants instead
// of a bad one, and completes it in a shell; Var gives a flag of that kind to a command, New makes a command of its options and its run.
package cli
