//go:build unix

package engine

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFaultBecomesError: memory of a mapped file that is not there any more.
func TestFaultBecomesError(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	m, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Skip("files cannot be mapped here: ", err)
	}
	defer syscall.Munmap(m)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := Map(t.Context(), 1, 1, func(context.Context, int) (byte, error) { return m[0], nil }); err == nil {
		t.Error("no error")
	}
}
