package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// A memberMutation changes what a file is, not what it contains.
type memberMutation struct {
	name  string
	apply func(path, other string) error // the file is removed before
}

// replaced is the name of the mutation that puts another file of the trace into a file's place.
const replaced = "file replaced"

// memberMutations has last the one that needs another file of the trace.
var memberMutations = []memberMutation{
	{"file removed", func(string, string) error { return nil }},
	{"file emptied", func(path, _ string) error { return os.WriteFile(path, nil, 0o666) }},
	{"directory", func(path, _ string) error { return os.Mkdir(path, 0o777) }},
	{"FIFO", func(path, _ string) error { return syscall.Mkfifo(path, 0o666) }},
	{"symlink loop", func(path, _ string) error { return os.Symlink(filepath.Base(path), path) }},
	{"device", func(path, _ string) error { return os.Symlink("/dev/zero", path) }},
	{replaced, func(path, other string) error {
		data, err := os.ReadFile(other)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o666)
	}},
}

// replace applies a mutation to one file of a trace that lies below dir.
func (m memberMutation) replace(dir, name, other string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.Remove(path); err != nil {
		return err
	}
	return m.apply(path, filepath.Join(dir, filepath.FromSlash(other)))
}
