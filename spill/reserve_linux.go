package spill

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func reserve(f *os.File, at, n int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, at, n)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fill(f, at, n)
	}
	return err
}
