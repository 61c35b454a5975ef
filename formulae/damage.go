package formulae

import (
	"errors"

	"tracekit/trace"
)

// errDamaged says that the content of a section contradicts itself although its checksum
// is right: the file was made by a faulty or a malicious program.
var errDamaged = errors.New("the content of the section is not valid")

// syntaxError says where a file is malformed.
func syntaxError(file string, offset int64, record string, err error) error {
	return &trace.SyntaxError{File: file, Offset: offset, Record: record, Err: err}
}
