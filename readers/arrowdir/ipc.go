package arrowdir

import (
	"errors"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ipcWriter writes an Arrow IPC file, one record for each group of rows.
type ipcWriter struct {
	file *outputFile
	out  *ipc.FileWriter
}

func newIPCWriter(name string, schema *arrow.Schema) (*ipcWriter, error) {
	f, err := createOutput(name)
	if err != nil {
		return nil, err
	}
	out, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &ipcWriter{f, out}, nil
}

func (w *ipcWriter) encode(arrow.Record, *encoded) error { return nil }

func (w *ipcWriter) put(r arrow.Record, _ *encoded) error { return w.out.Write(r) }

func (w *ipcWriter) close() (checksum uint32, err error) {
	err = errors.Join(w.out.Close(), w.file.Close())
	return w.file.sum.Sum32(), err
}

// ipcFile reads an Arrow IPC file.
type ipcFile struct {
	file *os.File
	in   *ipc.FileReader
}

// openIPC opens a file whose records must have the schema. They are not compressed: none
// takes more memory than the file has bytes.
func openIPC(f *os.File, size int64, schema *arrow.Schema) (*ipcFile, error) {
	if err := checkFooter(f, size, schema); err != nil {
		return nil, err
	}
	in, err := ipc.NewFileReader(f, ipc.WithAllocator(bounded{memory.NewGoAllocator(), size}))
	if err != nil {
		return nil, err
	}
	return &ipcFile{f, in}, checkSchema(in.Schema(), schema)
}

func (f *ipcFile) groups() int { return f.in.NumRecords() }

func (f *ipcFile) record(group int) (arrow.Record, error) { return f.in.RecordAt(group) }

func (f *ipcFile) close() error { return f.file.Close() }
