package test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// folder is where the program is built once that a test needs it.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "tracekit-pages"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "tracekit")
	out, err := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", path, "./cmd/tracekit").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// tracekit returns a command line of the program in a folder, and skips the test if there is no browser.
func tracekit(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	chromium(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	return c
}

// succeed runs a command line that ends well, and returns what it printed.
func succeed(t testing.TB, dir string, args ...string) (stdout string) {
	t.Helper()
	c := tracekit(t, dir, args...)
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, complaints.String())
	}
	return string(out)
}

// made runs commands in a folder of their own, and returns its path.
func made(t testing.TB, commands ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, c := range commands {
		succeed(t, dir, strings.Fields(c)...)
	}
	return dir
}

// serve serves a page of traces until the test ends, and returns its address.
func serve(t testing.TB, traces ...string) string {
	t.Helper()
	c := tracekit(t, "", append([]string{"view", "--quiet"}, traces...)...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if address = strings.TrimSpace(address); err != nil || !strings.HasPrefix(address, "http://") {
		t.Fatalf("%q: %v", address, err)
	}
	return address
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
