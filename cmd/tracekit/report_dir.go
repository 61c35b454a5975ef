package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tracekit/plots"
	"tracekit/readers/arrowdir"
)

// A reportDir writes files into an output directory until the first error, which it keeps.
// A new directory has a temporary name until close, so that it appears complete or not at
// all; into one that exists, complete files are written.
type reportDir struct {
	path  string
	dir   string // where files are written: path, or its temporary name
	force bool
	err   error
}

func newReportDir(path string, force bool) *reportDir {
	path = filepath.Clean(path)
	d := &reportDir{path: path, dir: path, force: force}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(path)
		if d.err = os.MkdirAll(parent, 0o755); d.err == nil {
			d.dir, d.err = os.MkdirTemp(parent, "."+filepath.Base(path)+"-*")
		}
	}
	return d
}

// close gives a new directory its name; after an error, the caller's or its own, it removes
// the directory and returns the error.
func (d *reportDir) close(err error) error {
	if err == nil {
		err = d.err
	}
	if d.dir != d.path && err == nil {
		if err = os.Chmod(d.dir, 0o755); err == nil {
			err = os.Rename(d.dir, d.path)
		}
	}
	if err == nil {
		return nil
	}
	if d.dir != d.path && d.dir != "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return fmt.Errorf("writing %s: %w", d.path, err)
}

// file writes a file; its name may have a folder in front.
func (d *reportDir) file(name string, write func(io.Writer) error) {
	path := filepath.Join(d.dir, name)
	if d.err == nil {
		d.err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if d.err == nil {
		d.err = writeAtomically(path, d.force, write)
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
func (d *reportDir) table(t arrowdir.Table) {
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
