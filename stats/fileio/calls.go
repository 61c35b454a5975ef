package fileio

import (
	"strings"

	"tracekit/trace"
)

// A Call says what a region does to files.
type Call uint8

// What calls do to files.
const (
	NoCall Call = iota
	Read
	Write
	Other // opens, closes, seeks, asks, …
)

// String returns the name in lower case.
func (c Call) String() string { return [...]string{"none", "read", "write", "other"}[c] }

// Calls tells for each region what it does to files: by its role, or as a function of MPI-IO.
func Calls(d *trace.Defs) []Call {
	out := make([]Call, len(d.Regions))
	for i, r := range d.Regions {
		name := strings.ToLower(d.String(r.Name))
		switch mpi := strings.HasPrefix(strings.TrimPrefix(name, "p"), "mpi_file_"); {
		case r.Role == trace.RoleFileIOMetadata:
			out[i] = Other
		case r.Role == trace.RoleFileIO || mpi:
			out[i] = callOf(name)
		}
	}
	return out
}

// callOf tells what a function does by its name.
func callOf(name string) Call {
	switch {
	case strings.Contains(name, "readdir"), strings.Contains(name, "readlink"):
		return Other
	case strings.Contains(name, "read"), strings.Contains(name, "recv"), strings.Contains(name, "scanf"), strings.HasPrefix(name, "fget"),
		strings.HasPrefix(name, "getc"), strings.Contains(name, "get_"), strings.Contains(name, "load"), strings.Contains(name, "fetch"),
		strings.HasSuffix(name, ".iter"), strings.HasSuffix(name, ".yield"):
		return Read
	case strings.Contains(name, "write"), strings.Contains(name, "send"), strings.Contains(name, "printf"), strings.HasPrefix(name, "fput"),
		strings.HasPrefix(name, "puts"):
		return Write
	}
	return Other
}
