package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// A memberMutation changes what a file is, not what it contains.
type memberMutation struct {
	name  string
	apply func(path, other string) error // the file is removed before
}

var memberMutations = []memberMutation{
	{"file removed", func(string, string) error { return nil }},
	{"file emptied", func(path, _ string) error { return os.WriteFile(path, nil, 0o666) }},
	{"file replaced", func(path, other string) error {
		data, err := os.ReadFile(other)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o666)
	}},
	{"directory", func(path, _ string) error { return os.Mkdir(path, 0o777) }},
	{"FIFO", func(path, _ string) error { return syscall.Mkfifo(path, 0o666) }},
	{"symlink loop", func(path, _ string) error { return os.Symlink(filepath.Base(path), path) }},
	{"device", func(path, _ string) error { return os.Symlink("/dev/zero", path) }},
}

// replace applies a mutation to one file of a trace that lies below dir.
func (m memberMutation) replace(r *rand.Rand, dir string, files []file, name string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	other := filepath.Join(dir, filepath.FromSlash(files[r.IntN(len(files))].name))
	if other == path {
		other = os.DevNull
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return m.apply(path, other)
}
