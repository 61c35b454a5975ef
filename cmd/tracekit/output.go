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
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	w := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
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
