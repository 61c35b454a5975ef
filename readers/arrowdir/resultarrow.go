package arrowdir

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// WriteArrow writes columns of the table, by their indices, in Arrow IPC: as a file or, if stream is set, as a stream. Names are
// dictionaries.
func (t Table) WriteArrow(w io.Writer, stream bool, wanted []int) error {
	columns, _ := resultColumns(t.Columns, true)
	var chosen []TableColumn
	for _, i := range wanted {
		chosen = append(chosen, t.Columns[i])
	}
	_, schema := resultColumns(chosen, true)
	var out interface {
		Write(arrow.Record) error
		Close() error
	}
	if stream {
		out = ipc.NewWriter(w, ipc.WithSchema(schema))
	} else {
		file, err := ipc.NewFileWriter(&shell{file: &serial{w}}, ipc.WithSchema(schema))
		if err != nil {
			return err
		}
		out = file
	}
	arrays := make([]arrow.Array, len(wanted))
	err := t.groups(columns, wanted, func(group []resultColumn, rows int) error {
		for k, i := range wanted {
			arrays[k] = group[i].array()
		}
		return out.Write(array.NewRecord(schema, arrays, int64(rows)))
	})
	return errors.Join(err, out.Close())
}

// A serial writer is written from its begin on.
type serial struct{ io.Writer }

func (s *serial) WriteAt(p []byte, _ int64) (int, error) { return s.Write(p) }
