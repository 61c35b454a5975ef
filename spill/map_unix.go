//go:build unix

package spill

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

const canMap = true

// mapMore makes a file longer by n bytes of zeros from offset at on and maps them. The room
// is taken now: a disk that is full is an error here, not a fault when a row is written.
func mapMore(f *os.File, at, n int64) ([]byte, error) {
	if err := reserve(f, at, n); err != nil {
		return nil, err
	}
	m, err := unix.Mmap(int(f.Fd()), at, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Otherwise a fault makes what lies around it resident, too, which nobody counts.
	_ = unix.Madvise(m, unix.MADV_RANDOM)
	return m, nil
}

// fetch asks the system to read a part of the file ahead of its use.
func fetch(b []byte) { _ = unix.Madvise(b, unix.MADV_WILLNEED) }

// fill writes zeros, where the system cannot reserve room.
func fill(f *os.File, at, n int64) error {
	_, err := f.WriteAt(make([]byte, n), at)
	return err
}

// writeEach writes pieces of a page each behind each other.
func writeEach(f *os.File, pieces [][]byte, at int64) error {
	for i, piece := range pieces {
		if _, err := f.WriteAt(piece, at+int64(i)*pageBytes); err != nil {
			return err
		}
	}
	return nil
}

// addressSpace returns the limit of the process's address space.
func addressSpace() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || uint64(l.Cur) > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(l.Cur)
}

func unmap(m []byte) { _ = unix.Munmap(m) }

// discard gives the memory of a part of the file back; what was written there stays in the file.
func discard(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
