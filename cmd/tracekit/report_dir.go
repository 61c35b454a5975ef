package main

import (
	"io"
	"os"
	"path/filepath"

	"tracekit/plots"
	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// A reportDir writes files into an output directory until the first error, which it keeps.
type reportDir struct {
	dir   string
	force bool
	err   error
}

func (d *reportDir) file(name string, write func(io.Writer) error) {
	if d.err == nil {
		d.err = os.MkdirAll(d.dir, 0o755)
	}
	if d.err == nil {
		d.err = writeAtomically(filepath.Join(d.dir, name), d.force, write)
	}
}

func (d *reportDir) json(name string, document any) {
	d.file(name, func(w io.Writer) error { return printJSON(w, document) })
}

// figure writes a figure as PNG and as SVG.
func (d *reportDir) figure(name string, f *plots.Figure) {
	for _, format := range []plots.Format{plots.PNG, plots.SVG} {
		d.file(name+"."+string(format), func(w io.Writer) error { return f.Encode(w, format) })
	}
}

// table writes a table as a Parquet file below tables.
func (d *reportDir) table(t trace.TraceTable) {
	dir := filepath.Join(d.dir, "tables")
	if d.err == nil {
		d.err = os.MkdirAll(dir, 0o755)
	}
	path := filepath.Join(dir, t.Name+".parquet")
	if d.err == nil {
		d.err = refuseExisting(path, d.force)
	}
	if d.err == nil {
		temp := filepath.Join(dir, "."+t.Name+"-tmp")
		if d.err = arrowdir.WriteParquet(temp, t); d.err == nil {
			d.err = os.Rename(temp, path)
		} else {
			os.Remove(temp)
		}
	}
}
