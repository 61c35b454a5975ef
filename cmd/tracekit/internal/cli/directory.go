package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/readers"
	"tracekit/readers/arrowdir"
	"tracekit/tempfile"
)

// contentsFile lists the files of an output directory, so that --force can tell what
// tracekit wrote from everything else.
const contentsFile = "contents.txt"

const contentsHead = "# Written by tracekit. --force replaces the files below, and no others.\n"

// DirFlags are the flags of a command that writes a directory of reports.
type DirFlags struct {
	Dir   string // "": none
	Force bool
}

// AddDir adds -o and --force.
func (f *DirFlags) AddDir(set *pflag.FlagSet, usage string) {
	flags.VarP(set, &f.Dir, flags.Directory(), "output", "o", "", usage)
	set.BoolVar(&f.Force, "force", false, ForceUsage)
}

// Validate refuses, before any work is done, a directory that cannot be written.
func (f *DirFlags) Validate() error {
	if f.Dir == "" {
		return nil
	}
	return checkReportDir(f.Dir, f.Force)
}

// Fill makes the directory, complete or not at all, of what fill puts into it, if it has a name. Its pictures say if their trace was
// rebuilt.
func (f *DirFlags) Fill(ctx context.Context, jobs int, rebuilt bool, fill func(*ReportDir) error) error {
	if f.Dir == "" {
		return nil
	}
	d := newReportDir(f.Dir)
	d.rebuilt = rebuilt
	return d.close(ctx, jobs, fill(d))
}

// A ReportDir collects the files of an output directory; close writes them, several at a
// time. They are written under a temporary name, so that the directory appears complete or
// not at all. With --force they take the place of those that tracekit wrote into a
// directory before: none of these is left, and nothing else is touched.
type ReportDir struct {
	path   string
	temp   string // where files are written
	err    error
	Names  []string // of the files
	files  []func(context.Context) error
	tables []arrowdir.Table // the other files

	rebuilt bool // pictures say that their trace was rebuilt
}

func checkReportDir(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if ext := filepath.Ext(path); isFileExtension(ext) {
			return Usagef("%s: -o names a directory, but the name ends in %s; --json prints one document", path, ext)
		}
		return nil
	case !info.IsDir():
		return Usagef("%s is a file, not a directory", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	if old, err := readContents(path); err != nil {
		return err
	} else if old == nil {
		return Usagef("%s holds files that tracekit did not write; choose another directory", path)
	}
	if !force {
		return Usagef("%s exists; use --force to replace the earlier report", path)
	}
	return nil
}

// isFileExtension reports whether a name with the extension is meant for a file.
func isFileExtension(ext string) bool {
	return readers.IsTraceName(ext) || slices.Contains([]string{".txt", ".html", ".htm", ".md", ".csv", ".png", ".svg", ".pdf", ".gz"},
		strings.ToLower(ext))
}

func newReportDir(path string) *ReportDir {
	d := &ReportDir{path: filepath.Clean(path)}
	parent := filepath.Dir(d.path)
	if d.err = os.MkdirAll(parent, 0o777); d.err == nil {
		d.temp, d.err = tempfile.Mkdir(d.path)
	}
	return d
}

// close writes the files, unless the caller has failed, and gives them their place; after
// an error, the caller's or its own, it leaves everything as it was and returns the error.
func (d *ReportDir) close(ctx context.Context, jobs int, err error) error {
	if err == nil {
		err = d.err
	}
	if err == nil {
		slices.Sort(d.Names)
		d.File(contentsFile, func(w io.Writer) error {
			_, err := io.WriteString(w, contentsHead+strings.Join(d.Names[:len(d.Names)-1], "\n")+"\n")
			return err
		})
		if len(d.tables) > 0 { // first, as they take the longest
			d.files = slices.Insert(d.files, 0, func(ctx context.Context) error { return d.writeTables(ctx, jobs) })
		}
		_, err = engine.Map(ctx, jobs, len(d.files), func(ctx context.Context, i int) (struct{}, error) {
			return struct{}{}, d.files[i](ctx)
		})
	}
	if err == nil {
		err = d.publish()
	}
	if d.temp != "" {
		err = errors.Join(err, os.RemoveAll(d.temp)) // not there any more if it has its name
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing %s: %w", d.path, err)
}

// publish gives the files their place.
func (d *ReportDir) publish() error {
	if _, err := os.Stat(d.path); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(d.temp, d.path)
	}
	old, err := readContents(d.path)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(d.path) // which no link of a folder leads out of
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range d.Names {
		switch _, err := dir.Lstat(name); {
		case err == nil && !slices.Contains(old, name):
			return fmt.Errorf("%s exists and was not written by tracekit; move it or choose another directory", name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for _, name := range old {
		if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if folder := filepath.Dir(name); folder != "." {
			_ = dir.Remove(folder) // if it is empty now
		}
	}
	for _, name := range d.Names {
		if err := dir.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(d.temp, name), filepath.Join(d.path, name)); err != nil {
			return err
		}
	}
	return nil
}

// readContents returns the names of the files that tracekit wrote into a directory, the
// list itself last. Names that lead out of the directory, or to what is no file, are none.
func readContents(dir string) (names []string, err error) {
	file := filepath.Join(dir, contentsFile)
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), contentsHead) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		name := filepath.FromSlash(strings.TrimSpace(line))
		if strings.HasPrefix(name, "#") || !filepath.IsLocal(name) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return append(names, contentsFile), nil
}

// Add adds a file; its name may have a folder in front.
func (d *ReportDir) Add(name string, write func(ctx context.Context, path string) error) {
	d.Names = append(d.Names, name)
	d.files = append(d.files, func(ctx context.Context) error {
		path := filepath.Join(d.temp, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return write(ctx, path)
	})
}

// File adds a file that a function writes.
func (d *ReportDir) File(name string, write func(io.Writer) error) {
	d.Add(name, func(ctx context.Context, path string) error { return WriteAtomically(ctx, path, false, write) })
}

// JSON adds a document.
func (d *ReportDir) JSON(name string, document any) {
	d.File(name, func(w io.Writer) error { return PrintJSON(w, 1, document) })
}

// Figure adds a figure as PNG and as SVG.
func (d *ReportDir) Figure(name string, f *plots.Figure) {
	if d.rebuilt {
		f = f.Stamped("rebuilt from statistics, not recorded")
	}
	for _, format := range []plots.Format{plots.PNG, plots.SVG} {
		d.File(name+"."+string(format), func(w io.Writer) error { return f.Encode(w, format) })
	}
}

// Table adds a table as a Parquet file below tables.
func (d *ReportDir) Table(t arrowdir.Table) {
	d.Names = append(d.Names, filepath.Join("tables", t.Name+".parquet"))
	d.tables = append(d.tables, t)
}

func (d *ReportDir) writeTables(ctx context.Context, jobs int) error {
	dir := filepath.Join(d.temp, "tables")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return arrowdir.WriteParquet(ctx, dir, jobs, d.tables...)
}
