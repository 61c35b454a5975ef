package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/trace/tracetest"
)

// viewed runs view until its page was taken, and returns the page without what names the server,
// and what was said.
func viewed(t *testing.T, args ...string) (body, said string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, in := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan int)
	go func() {
		code := run(ctx, &cli.Streams{Out: in, Err: &errs, Width: 120}, append([]string{"view", "--quiet"}, args...))
		in.Close()
		ended <- code
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, errs.String())
	}
	for _, path := range []string{"", "tile?from=0&to=100000&steps=1000"} {
		answer, err := http.Get(strings.TrimSpace(address) + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status, err)
		}
		body += string(b)
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	return body, errs.String()
}

// TestKeepIndex: an index that is kept is used while the trace is the same, and made again when
// the trace has changed or the index cannot be read; a file that is none is left alone.
func TestKeepIndex(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "generate", "halo", "--iterations", "5", "-o", "halo")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	for _, c := range []struct{ name, flag, file string }{
		{"cache", "--keep-index", ""},
		{"beside", "--keep-index=beside", "halo.tracekit-index"},
		{"named", "--keep-index=mine", "mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, said := viewed(t, c.flag, "halo")
			if strings.Contains(said, "index") {
				t.Error(said)
			}
			if c.file == "" {
				found, err := filepath.Glob(filepath.Join("cache", "tracekit", "*"))
				if err != nil || len(found) != 1 {
					t.Fatal(found, err)
				}
				c.file = found[0]
			}
			written := func() time.Time {
				info, err := os.Stat(c.file)
				if err != nil {
					t.Fatal(err)
				}
				return info.ModTime()
			}
			at := written()
			again, said := viewed(t, c.flag, "halo")
			if again != first || strings.Contains(said, "index") || !written().Equal(at) {
				t.Errorf("the index is not used again: %q", said)
			}
			later := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join("halo", "traces.otf2"), later, later); err != nil {
				t.Fatal(err)
			}
			again, said = viewed(t, c.flag, "halo")
			if again != first || !strings.Contains(said, "the index was built from another trace or with other options; a new one is made") ||
				written().Equal(at) {
				t.Errorf("the trace has changed: %q", said)
			}
			if err := garble(c.file); err != nil {
				t.Fatal(err)
			}
			again, said = viewed(t, c.flag, "halo")
			if again != first || !strings.Contains(said, "damaged: ") || !strings.Contains(said, "; a new one is made") {
				t.Errorf("the index is damaged: %q", said)
			}
			if _, said = viewed(t, c.flag, "--clock", "none", "halo"); !strings.Contains(said, "a new one is made") {
				t.Errorf("another analysis: %q", said)
			}
		})
	}
	if err := os.Mkdir("src", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"int main", "int main()"} {
		tracetest.WriteFile(t, filepath.Join("src", "halo.c"), text)
		if _, said := viewed(t, "--keep-index=mine", "--source=src", "halo"); !strings.Contains(said, "a new one is made") {
			t.Errorf("with the source %q: %q", text, said)
		}
	}
	tracetest.WriteFile(t, "notes.txt", "mine")
	_, errs, code := tracekit(t, dir, "view", "--keep-index=notes.txt", "halo")
	if b, _ := os.ReadFile("notes.txt"); code != 2 || string(b) != "mine" || !strings.Contains(errs, "is not an index") {
		t.Errorf("a file of another kind: exit code %d, %q, it holds %q", code, errs, b)
	}
	for _, args := range [][]string{{"--keep-index=no/mine", "halo"}, {"--keep-index", "mine.new", "halo"}} {
		_, errs, code = tracekit(t, dir, append([]string{"view"}, args...)...)
		if _, err := os.Stat("no"); code != 2 || err == nil || !strings.Contains(errs, "no ") {
			t.Errorf("%v: exit code %d, %q", args, code, errs)
		}
	}
}
