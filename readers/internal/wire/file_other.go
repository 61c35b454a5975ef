//go:build !linux

package wire

import "os"

// mapFile maps nothing: files are read into buffers on this system.
func mapFile(*os.File, int64) []byte { return nil }

func unmapFile([]byte) error { return nil }

func fetch([]byte) {}

func discard([]byte) {}
