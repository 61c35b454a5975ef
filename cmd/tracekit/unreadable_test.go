package main

import (
	"net"
	"strings"
	"testing"
)

// TestNoFile: what is no file that can be read is named, not waited for, wherever a file is
// expected.
func TestNoFile(t *testing.T) {
	sound := sampleArchive(t, "ring-4-plain")
	dir := lay(t, "file", "loop>loop", "a.json>b.json", "b.json>a.json", "x.prv>x.prv", "pipe|", "pipe.json|", "pipe.prv|", "pipe.tkf|",
		"anchor/traces.otf2|", "global/traces.otf2>"+sound+"/traces.otf2", "global/traces.def|", "gone>nowhere", "empty/")
	t.Chdir(dir)
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	check := func(path string, want int, args ...string) {
		t.Helper()
		stdout, stderr, code := tracekit(t, dir, args...)
		if code != want || stdout != "" || !strings.Contains(stderr, path) {
			t.Errorf("%q: exit code %d, want %d, %s%s", args, code, want, stdout, stderr)
		}
	}
	long := strings.Repeat("x", 300)
	for _, path := range []string{"loop", "loop/x", "a.json", "x.prv", "pipe", "pipe.json", "pipe.prv", "pipe.tkf", "socket", "/dev/zero",
		"/dev/tty",
		"anchor", "anchor/traces.otf2", "global", "file/x", "file", "empty", "gone", "nowhere", long} {
		check(path, exitNotATrace, "info", path)
		check(path, exitNotATrace, "compare", sound, path)
		check(path, exitNotATrace, "compare", sound, sound, "--repeat", path)
		check(path, exitNotATrace, "convert", path, "out.json")
		check(path, exitUsage, "analyze", sound, "--profile", path)
	}
	for _, path := range []string{"loop", "a.json", "pipe", "socket", "/dev/zero", "file/x", "empty", long} {
		check(path, exitUsage, "view", sound, "--keep-index="+path)
	}
	check("nul", exitNotATrace, "info", "nul\x00")
}

// TestNoSuch: what the trace, or the program, does not have is named.
func TestNoSuch(t *testing.T) {
	sound := sampleArchive(t, "ring-4")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"explain", sound, "99@1s"}, exitFailed, "the trace has no rank 99; it has ranks 0 to 3"},
		{[]string{"analyze", sound, "--ranks", "99"}, exitFailed, "the trace has no rank 99; it has ranks 0 to 3"},
		{[]string{"help", "nothing"}, exitUsage, "help: unknown command nothing"},
	} {
		stdout, stderr, code := tracekit(t, t.TempDir(), test.args...)
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit code %d, want %d, %s%s", test.args, code, test.code, stdout, stderr)
		}
	}
}
