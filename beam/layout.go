package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"tracekit/readers"
)

// A layout is a file with all that opening a trace needs, which lies beside the shards: who starts the
// workers makes it once, so that they do not each ask a store for thousands of definition files. It
// is a ZIP archive whose entries are named by addresses: those of files that are read, and empty ones for
// files with events, whose comment is their size.
const layoutName = ".layout"

// pack makes the layout of what was laid out, and puts it into the directory of the shards.
func (x *objects) pack(ctx context.Context, parts string, files readers.Files) error {
	f, err := x.create(parts + "/" + layoutName)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	z := zip.NewWriter(f)
	for _, name := range files.Opened {
		err = errors.Join(err, x.packFile(z, name))
	}
	for _, name := range files.Events {
		size, _ := x.sizeOf(name)
		_, failed := z.CreateHeader(&zip.FileHeader{Name: name, Comment: strconv.FormatInt(size, 10)})
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		return fmt.Errorf("packing definitions: %w", err)
	}
	if err := os.Rename(f.Name(), x.local(parts+"/"+layoutName)); err != nil {
		return err
	}
	return x.put(ctx, parts+"/"+layoutName)
}

func (x *objects) packFile(z *zip.Writer, name string) error {
	f, err := os.Open(x.local(name))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := z.Create(name)
	if err == nil {
		_, err = io.Copy(w, f)
	}
	return err
}

// unpack lays out in the mirror what a layout holds.
func (x *objects) unpack(ctx context.Context, parts string) error {
	if err := x.get(ctx, parts+"/"+layoutName); err != nil {
		return err
	}
	z, err := zip.OpenReader(x.local(parts + "/" + layoutName))
	if err != nil {
		return fmt.Errorf("%s/%s: %w", parts, layoutName, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if err := x.unpackFile(ctx, f); err != nil {
			return fmt.Errorf("%s/%s: %q: %w", parts, layoutName, f.Name, err)
		}
	}
	return nil
}

func (x *objects) unpackFile(ctx context.Context, f *zip.File) error {
	if !readers.IsAddress(f.Name) {
		return errors.New("it is not an address")
	}
	if f.Comment != "" {
		size, err := strconv.ParseInt(f.Comment, 10, 64)
		if err != nil || size < 0 {
			return fmt.Errorf("%q is not a size", f.Comment)
		}
		x.note(f.Name, size)
		return x.hole(ctx, f.Name)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := x.create(f.Name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close(), os.Rename(w.Name(), x.local(f.Name)))
}

// removeLayout removes the layout, at last.
func (x *objects) removeLayout(ctx context.Context, parts string) error {
	ctx, stop := atLast(ctx)
	defer stop()
	name := parts + "/" + layoutName
	os.Remove(filepath.FromSlash(x.local(name))) // it may never have been made
	if !readers.IsAddress(name) {
		return nil
	}
	return x.remove(ctx, []string{name})
}
