//go:build unix && !linux

package spill

import "os"

func reserve(f *os.File, at, n int64) error { return fill(f, at, n) }

func residentFiles() int64 { return 0 }

func present([]byte) bool { return false }

func populate([]byte) {}

func writeAt(f *os.File, pieces [][]byte, at int64) error { return writeEach(f, pieces, at) }
