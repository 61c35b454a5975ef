// Package cli is what all commands share: the run of a command line and groups of flags. It has the one way to open traces, to work under
// a bar, to write outputs, and to finish or fail. New makes a command of its options and its run.
package cli
