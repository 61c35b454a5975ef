package wire

import (
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is the end of a compressed text that cannot be decoded further.
var ErrDamaged = errors.New("the compressed data are cut or damaged")

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
