//go:build !unix

package spill

import (
	"errors"
	"os"
)

const canMap = false

func mapFile(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func mapMemory(int, int) (mapping, aligned []byte) { return nil, nil }

func unmap([]byte) {}

func discard([]byte) {}
