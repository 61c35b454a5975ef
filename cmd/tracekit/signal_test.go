package main

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary, run again, the program.
const asProgram = "TRACEKIT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// signalled runs a command as a process of its own in an empty folder, waits until it has begun
// to write, sends it the signals and returns the exit code, what it printed, and what is left.
func signalled(t *testing.T, command []string, signals ...syscall.Signal) (code int, stderr string, left []os.DirEntry) {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Stderr, c.Env = dir, &text, append(os.Environ(), asProgram+"=1", "TMPDIR="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); len(left) == 0 && time.Since(begin) < time.Minute; left, _ = os.ReadDir(dir) {
		time.Sleep(time.Millisecond)
	}
	for _, s := range signals {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // one is taken before the next
	}
	_ = c.Wait()
	left, _ = os.ReadDir(dir)
	return c.ProcessState.ExitCode(), text.String(), left
}

// TestSignals: a signal ends a process with its number and leaves nothing behind; one that is ignored stays ignored.
func TestSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input := t.TempDir() + "/in"
	succeed(t, ".", "generate", "halo", "--iterations", "10000", "-o", input)
	convert := func(out string) []string { return []string{self, "convert", "-q", input, out} }
	const hup, term = syscall.SIGHUP, syscall.SIGTERM
	// A child inherits what is ignored, as SIGHUP is under nohup and SIGINT in a script's background;
	// what its parent handles is at its default there.
	for _, s := range []os.Signal{hup, syscall.SIGINT} {
		if signal.Ignored(s) {
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, s)
			defer signal.Stop(caught)
		}
	}
	for _, c := range []struct {
		command []string
		signals []syscall.Signal
	}{
		{convert("x"), []syscall.Signal{hup}},
		{convert("x"), []syscall.Signal{term}},
		{convert("x"), []syscall.Signal{syscall.SIGINT}},
		{convert("x.prv"), []syscall.Signal{hup}},
		{convert("x.json.gz"), []syscall.Signal{hup}},
		{convert("x.arrow"), []syscall.Signal{hup}},
		{convert("x.parquet"), []syscall.Signal{hup}},
		{[]string{self, "compress", input, "-o", "x.tkf"}, []syscall.Signal{hup}},
		// Under nohup the terminal may go.
		{append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, convert("x.json.gz")...), []syscall.Signal{hup, term}},
	} {
		code, stderr, left := signalled(t, c.command, c.signals...)
		want := 128 + int(c.signals[len(c.signals)-1])
		if code != want || stderr != "tracekit: interrupted; no output was written\n" || len(left) > 0 {
			t.Errorf("%q, %v: exit code %d, want %d, %q, left behind: %v", c.command[1:], c.signals, code, want, stderr, left)
		}
	}
}
