package wire

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory; nil if that cannot be done.
func mapFile(f *os.File, size int64) []byte {
	if size == 0 || int64(int(size)) != size {
		return nil
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil // reading works where mapping does not
	}
	return m
}

func unmapFile(m []byte) error { return syscall.Munmap(m) }

// fetch has the system bring pages in now that are read next; older ones (before Linux 5.14) do so when they are read.
func fetch(m []byte) { _ = unix.Madvise(m, unix.MADV_POPULATE_READ) }

// discard tells the system that these pages are not needed; a failure costs memory only.
func discard(m []byte) { _ = syscall.Madvise(m, syscall.MADV_DONTNEED) }
