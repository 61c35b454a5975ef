package formulae

import (
	"fmt"
	"os"
	"sync"
)

// A store keeps blocks until the file is written: the first ones in memory, the others in
// a temporary file, which has no name from the moment it is made and so vanishes however
// the program ends. It may be used concurrently.
type store struct {
	dir string

	mu     sync.Mutex
	memory int // bytes that may still be kept in memory
	file   *os.File
	end    int64
}

// A blockRef is a block in a store: in memory, or size bytes at an offset of the file.
type blockRef struct {
	memory []byte
	offset int64
	size   int
}

// put keeps a copy of a block.
func (s *store) put(block []byte) (blockRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(block) <= s.memory {
		s.memory -= len(block)
		return blockRef{memory: append([]byte{}, block...), size: len(block)}, nil
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "tracekit-*.tmp")
		if err != nil {
			return blockRef{}, err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return blockRef{}, err
		}
	}
	if _, err := s.file.WriteAt(block, s.end); err != nil {
		return blockRef{}, fmt.Errorf("writing temporary data: %w (set TMPDIR to a larger disk)", err)
	}
	r := blockRef{offset: s.end, size: len(block)}
	s.end += int64(len(block))
	return r, nil
}

// get returns a block, which must not be written.
func (s *store) get(r blockRef) ([]byte, error) {
	if r.memory != nil || r.size == 0 {
		return r.memory, nil
	}
	block := make([]byte, r.size)
	if _, err := s.file.ReadAt(block, r.offset); err != nil {
		return nil, fmt.Errorf("reading temporary data: %w", err)
	}
	return block, nil
}

// close gives the temporary file back.
func (s *store) close() {
	if s.file != nil {
		s.file.Close()
	}
}
