package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCopies states that an archive of copies of a job has as many ranks, messages and events as these together, all of them sound.
func TestCopies(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3, in which scripts/copies.py is written, is not installed")
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "scripts", "copies.py"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, program := range []string{"multigrid", "collectives"} {
		succeed(t, dir, "generate", program, "--processes", "4", "--iterations", "3", "-o", program, "-q")
		one, _ := analysisOf(t, filepath.Join(dir, program, "traces.otf2"))
		c := exec.Command(python, script, filepath.Join(program, "traces.otf2"), "3", program+"3")
		c.Dir, c.Stderr = dir, os.Stderr
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		three, _ := analysisOf(t, filepath.Join(dir, program+"3", "traces.otf2"))
		if three.Trace.Processes != 3*one.Trace.Processes || three.Trace.Events != 3*one.Trace.Events ||
			three.Messages.Count != 3*one.Messages.Count {
			t.Errorf("%s: three copies of %+v, %d messages, are %+v, %d", program, one.Trace, one.Messages.Count, three.Trace, three.Messages.Count)
		}
		if len(three.Findings) > 0 {
			t.Errorf("%s: %+v", program, three.Findings)
		}
	}
}
