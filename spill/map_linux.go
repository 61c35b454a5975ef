package spill

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

func reserve(f *os.File, at, n int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, at, n)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fill(f, at, n)
	}
	return err
}

// residentFiles returns how many bytes of mapped files are resident, 0 if that is not known.
func residentFiles() int64 {
	stat, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(stat)
	if err != nil || len(fields) < 3 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// present reports whether the system has an extent in memory, judged by its end: it comes and goes as a whole, mostly. To ask takes a
// fraction of the time of having it read what is there.
func present(b []byte) bool {
	page, in := os.Getpagesize(), [1]byte{}
	if len(b) < page {
		return false
	}
	b = b[len(b)-page:]
	_, _, err := unix.RawSyscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(unsafe.Pointer(&in)))
	return err == 0 && in[0]&1 > 0
}

// populate has the system give memory now that was asked for but not used yet; older ones (before
// Linux 5.14) do so when it is used. The call is short and never waits, so the scheduler is not told of it: that
// would look every 20 µs whether to give the processor to another goroutine meanwhile.
func populate(b []byte) {
	_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MADV_POPULATE_WRITE)
}

// writeAt writes pieces behind each other, in one call if the system is able to.
func writeAt(f *os.File, pieces [][]byte, at int64) error {
	n, err := unix.Pwritev(int(f.Fd()), pieces, at)
	if err == nil && n == len(pieces)*pageBytes {
		return nil
	}
	return writeEach(f, pieces, at) // which takes what did not fit, or says why it does not
}
