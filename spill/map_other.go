//go:build !unix

package spill

import (
	"errors"
	"math"
	"os"
)

const canMap = false

func mapMore(*os.File, int64, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func writeAt(*os.File, [][]byte, int64) error { return errors.ErrUnsupported }

func unmap([]byte) {}

func fetch([]byte) {}

func discard([]byte) {}

func addressSpace() int64 { return math.MaxInt64 }

func residentFiles() int64 { return 0 }

func present([]byte) bool { return false }

func populate([]byte) {}
