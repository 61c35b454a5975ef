package wire

import "io"

// Refill reads into the room that a window has, behind what is not consumed of it, which moves to the front: window[pos:]. It returns the
// window, how many bytes came, and whether that was the end. The reason is given unless the input is over.
func Refill(r io.Reader, window []byte, pos int) (filled []byte, n int, end bool, err error) {
	kept := copy(window[:cap(window)], window[pos:])
	n, err = io.ReadFull(r, window[kept:cap(window)])
	end = err != nil
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return window[:kept+n], n, end, err
}
