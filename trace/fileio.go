package trace

import "strings"

// AttributeFile and AttributeBytes are the names of the attributes of the Enter of a call that
// works on a file: the file, a string, and how many bytes were read or written.
const (
	AttributeFile  = "file"
	AttributeBytes = "bytes"
)

// A FileCall says what a region does to files.
type FileCall uint8

// What calls do to files.
const (
	NoFileCall FileCall = iota
	FileRead
	FileWrite
	FileOther // opens, closes, seeks, asks, …
)

var fileCallNames = []string{"none", "read", "write", "other"}

// String returns the name in lower case.
func (c FileCall) String() string { return enumName(fileCallNames, int(c)) }

// FileCalls tells for each region what it does to files: by its role, or as a function of MPI-IO.
func (d *Defs) FileCalls() []FileCall {
	out := make([]FileCall, len(d.Regions))
	for i, r := range d.Regions {
		name := strings.ToLower(d.String(r.Name))
		switch mpi := strings.HasPrefix(strings.TrimPrefix(name, "p"), "mpi_file_"); {
		case r.Role == RoleFileIOMetadata:
			out[i] = FileOther
		case r.Role == RoleFileIO || mpi:
			out[i] = fileCall(name)
		}
	}
	return out
}

// fileCall tells what a function does by its name.
func fileCall(name string) FileCall {
	switch {
	case strings.Contains(name, "readdir"), strings.Contains(name, "readlink"):
		return FileOther
	case strings.Contains(name, "read"), strings.Contains(name, "recv"), strings.Contains(name, "scanf"), strings.HasPrefix(name, "fget"), strings.HasPrefix(name, "getc"):
		return FileRead
	case strings.Contains(name, "write"), strings.Contains(name, "send"), strings.Contains(name, "printf"), strings.HasPrefix(name, "fput"), strings.HasPrefix(name, "puts"):
		return FileWrite
	}
	return FileOther
}
