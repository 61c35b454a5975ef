package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tracekit/engine"
	"tracekit/plots"
	"tracekit/readers/arrowdir"
)

// A reportDir collects the files of an output directory; close writes them, several at a
// time. A new directory has a temporary name until then, so that it appears complete or not
// at all; into one that exists, complete files are written.
type reportDir struct {
	path  string
	dir   string // where files are written: path, or its temporary name
	force bool
	err   error

	rebuilt bool // pictures say that their trace was rebuilt
	files   []func() error
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

// close writes the files, unless the caller has failed, and gives a new directory its name;
// after an error, the caller's or its own, it removes the directory and returns the error.
func (d *reportDir) close(ctx context.Context, jobs int, err error) error {
	if err == nil {
		err = d.err
	}
	if err == nil {
		_, err = engine.Map(ctx, jobs, len(d.files), func(_ context.Context, i int) (struct{}, error) {
			return struct{}{}, d.files[i]()
		})
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

// file adds a file; its name may have a folder in front.
func (d *reportDir) file(name string, write func(io.Writer) error) {
	path := filepath.Join(d.dir, name)
	d.files = append(d.files, func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return writeAtomically(path, d.force, write)
	})
}

func (d *reportDir) json(name string, document any) {
	d.file(name, func(w io.Writer) error { return printJSON(w, document) })
}

// figure adds a figure as PNG and as SVG.
func (d *reportDir) figure(name string, f *plots.Figure) {
	if d.rebuilt {
		f = f.Stamped("rebuilt from statistics, not recorded")
	}
	for _, format := range []plots.Format{plots.PNG, plots.SVG} {
		d.file(name+"."+string(format), func(w io.Writer) error { return f.Encode(w, format) })
	}
}

// table adds a table as a Parquet file below tables.
func (d *reportDir) table(t arrowdir.Table) {
	dir := filepath.Join(d.dir, "tables")
	d.files = append(d.files, func() error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		path, temp := filepath.Join(dir, t.Name+".parquet"), filepath.Join(dir, "."+t.Name+"-tmp")
		if err := refuseExisting(path, d.force); err != nil {
			return err
		}
		err := arrowdir.WriteParquet(temp, t)
		if err == nil {
			return os.Rename(temp, path)
		}
		os.Remove(temp)
		return err
	})
}
