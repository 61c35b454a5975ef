package wire

import (
	"errors"
	"fmt"
	"runtime"
)

// errContradiction says what the panic of a library that a damaged file has led astray means.
var errContradiction = errors.New("it cannot be decoded, for its parts contradict each other; copy it again, or write the trace anew")

// Recovered returns what a panic says about the file whose decoding ended in it. What only a
// programmer would understand, such as an index out of range, is put into words.
func Recovered(panicked any) error {
	switch panicked.(type) {
	case interface{ Addr() uintptr }: // a memory fault has an address, our own bugs have none
		return ErrFileChanged
	case runtime.Error:
		return errContradiction
	}
	return fmt.Errorf("it cannot be decoded: %v", panicked)
}
