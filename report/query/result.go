package query

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"tracekit/document/outcome"
	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// tableOf makes a table of the rows of an answer. A column is of names if it has a text, else of numbers if it has one that is no integer,
// else of integers.
func tableOf(name string, columns []string, rows [][]any) arrowdir.Table {
	t := arrowdir.Table{Name: name}
	indices := make([]map[string]uint32, len(columns)) // of names; nil: the column has none
	for i, title := range columns {
		c := arrowdir.TableColumn{Name: title}
		for _, row := range rows {
			switch row[i].(type) {
			case string, []byte:
				indices[i] = make(map[string]uint32)
			case float64:
				c.Real = true
			}
		}
		if indices[i] != nil {
			c.Real, c.Names = false, []string{}
			for _, row := range rows {
				text := outcome.Cell(row[i])
				if _, known := indices[i][text]; !known && row[i] != nil {
					indices[i][text], c.Names = uint32(len(c.Names)), append(c.Names, text)
				}
			}
		}
		t.Columns = append(t.Columns, c)
	}
	t.Fill = func(out *arrowdir.Rows) {
		for _, row := range rows {
			for i, v := range row {
				n, integer := v.(int64)
				f, _ := v.(float64)
				switch {
				case v == nil && indices[i] != nil:
					out.Name(trace.None)
				case v == nil:
					out.Missing()
				case indices[i] != nil:
					out.Name(indices[i][outcome.Cell(v)])
				case !t.Columns[i].Real:
					out.Int(n)
				case integer:
					out.Real(float64(n))
				default:
					out.Real(f)
				}
			}
			if !out.End() {
				return
			}
		}
	}
	return t
}

// WriteParquet writes the rows of an answer as a file of Parquet, by way of one in a temporary directory, with so many goroutines.
func WriteParquet(ctx context.Context, w io.Writer, jobs int, columns []string, rows [][]any) error {
	dir, err := os.MkdirTemp("", "tracekit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const name = "rows"
	if err := arrowdir.WriteParquet(ctx, dir, jobs, tableOf(name, columns, rows)); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, name+".parquet"))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
