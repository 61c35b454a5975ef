package wire

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

// errContradiction says what the panic of a library that a damaged file has led astray means.
var errContradiction = errors.New("it cannot be decoded, because its parts contradict each other; copy the trace again")

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

// ErrDamaged is the end of a compressed text that cannot be decoded further.
var ErrDamaged = errors.New("the compressed data are cut off or damaged")

// Decompressed gives the errors of a decompressor one name: they wrap ErrDamaged.
func Decompressed(r io.Reader) io.Reader { return decompressed{r} }

type decompressed struct{ r io.Reader }

func (d decompressed) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}
