package arrowdir

import (
	"errors"

	"tracekit/trace"
)

// WriteParquet writes a table of a reconciled trace as one Parquet file.
func WriteParquet(name string, t trace.TraceTable) error {
	w, err := newParquetWriter(name, t.Schema)
	if err != nil {
		return err
	}
	for r := range t.Records {
		if _, err := w.write(r, false); err != nil {
			return errors.Join(err, w.close())
		}
	}
	return w.close()
}
