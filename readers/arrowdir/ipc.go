package arrowdir

import (
	"errors"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// ipcWriter writes an Arrow IPC file, one record for each batch.
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

func (w *ipcWriter) write(r arrow.Record, _ bool) (bool, error) { return true, w.out.Write(r) }

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
func openIPC(name string, schema *arrow.Schema) (*ipcFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	in, err := newIPCReader(f, schema)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &ipcFile{f, in}, nil
}

func newIPCReader(f *os.File, schema *arrow.Schema) (*ipc.FileReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkFooter(f, info.Size(), schema); err != nil {
		return nil, err
	}
	in, err := ipc.NewFileReader(f, ipc.WithAllocator(newBounded(info.Size())))
	if err != nil {
		return nil, err
	}
	return in, checkSchema(in.Schema(), schema)
}

func (f *ipcFile) groups() int { return f.in.NumRecords() }

// records iterates over some of the records.
func (f *ipcFile) records(indices []int) (recordIterator, error) {
	next := 0
	return recordIterator{
		next: func() (arrow.Record, error) {
			if next == len(indices) {
				return nil, nil
			}
			next++
			r, err := f.in.RecordAt(indices[next-1])
			return r, err
		},
		stop: func() {},
	}, nil
}

func (f *ipcFile) close() error { return errors.Join(f.in.Close(), f.file.Close()) }
