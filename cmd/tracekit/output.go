package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeAtomically makes a file complete or not at all: it is written under a temporary
// name beside its own and renamed when write has returned without error.
func writeAtomically(path string, force bool, write func(io.Writer) error) error {
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	w := bufio.NewWriterSize(f, 1<<16)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// checkFile refuses, before any work is done, a file that cannot be made.
func checkFile(path string, force bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("%s is a directory, not a file", path)
	}
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	return checkParent(path)
}

// checkTrace refuses, before any work is done, a trace that cannot be made. The directory
// of an OTF2 anchor is part of the archive and made with it.
func checkTrace(path string, force bool) error {
	if err := refuseExisting(path, force); err != nil || filepath.Ext(path) == ".otf2" {
		return err
	}
	return checkParent(path)
}

// checkParent refuses a name in a directory that does not exist.
func checkParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return usagef("%s: there is no directory %s to write it into", path, parent)
	}
	return nil
}

func refuseExisting(path string, force bool) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return usagef("%s exists; --force overwrites it", path)
	}
	return nil
}

// printJSON writes a document as one indented JSON value.
func printJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
