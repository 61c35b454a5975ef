package paraver

import "io"

// Pieces that are read ahead, and their size.
const (
	aheadPieces = 4
	aheadBytes  = 256 << 10
)

// An ahead reads from another reader on a goroutine of its own, so that decompressing and
// parsing go on at the same time.
type ahead struct {
	pieces chan piece  // what was read, in order; closed at the end
	free   chan []byte // buffers to be filled
	stop   chan struct{}
	rest   []byte // of the current piece
	whole  []byte // the current piece
	err    error
}

// A piece is what one Read returned.
type piece struct {
	data []byte
	err  error
}

func newAhead(r io.Reader) *ahead {
	a := &ahead{pieces: make(chan piece, aheadPieces), free: make(chan []byte, aheadPieces+1), stop: make(chan struct{})}
	for range aheadPieces {
		a.free <- make([]byte, aheadBytes)
	}
	go a.run(r)
	return a
}

func (a *ahead) run(r io.Reader) {
	defer close(a.pieces)
	for {
		select {
		case <-a.stop:
			return
		case buf := <-a.free:
			n, err := io.ReadFull(r, buf)
			if err == io.ErrUnexpectedEOF {
				err = io.EOF
			}
			a.pieces <- piece{buf[:n], err} // there is room for every buffer
			if err != nil {
				return
			}
		}
	}
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.whole != nil {
			a.free <- a.whole[:cap(a.whole)]
		}
		next, ok := <-a.pieces
		if !ok {
			return 0, io.ErrClosedPipe
		}
		a.whole, a.rest, a.err = next.data, next.data, next.err
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close ends the goroutine. The reader behind is not used afterwards.
func (a *ahead) Close() error {
	close(a.stop)
	for range a.pieces {
	}
	return nil
}
