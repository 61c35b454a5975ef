package worker

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Serve(command)
	os.Exit(m.Run())
}

var hoard []byte

// command is what the tests' worker runs.
func command(args []string, stdout, stderr io.Writer) int {
	switch args[0] {
	case "say":
		fmt.Fprint(stdout, args[1], " in ", os.Getenv("TMPDIR"))
		fmt.Fprint(stderr, "beside")
		fmt.Fprint(os.Stderr, " and behind")
		return 3
	case "fail":
		var none []int
		none[len(args)]++
	case "spin":
		for {
			hoard = make([]byte, 1<<10)
		}
	case "hoard":
		hoard = make([]byte, 200<<20)
		for i := range hoard {
			hoard[i] = 1
		}
		hoard = nil
	case "leave":
		_, _ = os.Open(os.DevNull)
		stop := make(chan int)
		go func() { <-stop }()
	}
	return 0
}

func run(t *testing.T, w *Worker, args ...string) (Answer, bool) {
	t.Helper()
	a, ended, err := w.Run(t.Context(), time.Second, Request{Dir: t.TempDir(), Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return a, ended
}

// TestWorker states what is known of each command that a worker runs, and what a command does that ends it.
func TestWorker(t *testing.T) {
	begin := func() *Worker {
		w, err := Start(t.TempDir(), os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := begin()
	a, ended := run(t, w, "say", "hello")
	if ended || a.Code != 3 || !strings.HasPrefix(string(a.Stdout), "hello in /") || string(a.Stderr) != "beside and behind" {
		t.Errorf("%+v, %t", a, ended)
	}
	small := a.Peak
	if a, _ = run(t, w, "hoard"); a.Peak < small+200<<20 {
		t.Errorf("a peak of %d, before it %d", a.Peak, small)
	}
	if a, _ = run(t, w, "say", "again"); a.Peak > small+100<<20 || string(a.Stderr) != "beside and behind" {
		t.Errorf("a peak of %d, before it %d: %s", a.Peak, small, a.Stderr)
	}
	if a, _ = run(t, w, "leave"); a.Goroutines != 1 || a.Files != 1 {
		t.Errorf("%d goroutines and %d files are left, want 1 and 1", a.Goroutines, a.Files)
	}
	if a, ended = run(t, w, "fail"); !ended || a.Code != 2 || !strings.Contains(string(a.Stderr), "index out of range") {
		t.Errorf("%+v, %t: %s", a, ended, a.Stderr)
	}
	w = begin()
	if a, ended = run(t, w, "spin"); !ended || a.Code != -1 || a.Spent < time.Second {
		t.Errorf("%+v, %t", a, ended)
	}
}
