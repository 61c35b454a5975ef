package output

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestLineKeepsOrder: whoever is done first, the items of a queue end in the order of Put.
func TestLineKeepsOrder(t *testing.T) {
	const queues = 3
	for _, workers := range []int{1, 2, 7} {
		var next [queues]int
		l := NewLine(workers, queues, func() *[2]int { return new([2]int) },
			func(x *[2]int) { x[1] = x[0] * x[0] },
			func(x *[2]int) error {
				queue := x[0] % queues
				if want := next[queue]*queues + queue; x[0] != want || x[1] != want*want {
					return fmt.Errorf("item %v where %d is next", *x, want)
				}
				next[queue]++
				return nil
			})
		for i := range 1000 {
			l.Take()[0] = i
			if err := l.Put(i % queues); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil || next[0]+next[1]+next[2] != 1000 {
			t.Errorf("%d workers: %v items, %v", workers, next, err)
		}
	}
}

// TestLineFails: the first error is returned, and nothing is ended after it.
func TestLineFails(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 3} {
		ended := 0
		l := NewLine(workers, 1, func() *int { return new(int) }, func(*int) {}, func(x *int) error {
			if ended++; *x == 5 {
				return broken
			}
			return nil
		})
		var err error
		for i := 0; i < 100 && err == nil; i++ {
			*l.Take() = i
			err = l.Put(0)
		}
		if cerr := l.Close(); cerr != broken || err != nil && err != broken || ended != 6 {
			t.Errorf("%d workers: %v, %v, %d items ended", workers, err, cerr, ended)
		}
	}
}

// TestGzip: what is written is one stream that any program reads, the same for every number
// of workers and however it is cut.
func TestGzip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for len(text) < 3*blockBytes+777 {
		text = fmt.Appendf(text, "line %d of the text\n", rnd.IntN(1000))
	}
	for _, n := range []int{0, 1, blockBytes, len(text)} {
		var want []byte
		for _, workers := range []int{1, 2, 5} {
			path := filepath.Join(t.TempDir(), "x.gz")
			f, err := Create(path, workers)
			if err != nil {
				t.Fatal(err)
			}
			for rest := text[:n]; len(rest) > 0; {
				k := min(len(rest), 1+rnd.IntN(300_000))
				if _, err := f.Write(rest[:k]); err != nil {
					t.Fatal(err)
				}
				rest = rest[k:]
			}
			if err := errors.Join(f.Complete(), f.Publish(), f.Discard()); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			z, err := gzip.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			z.Multistream(false)
			if back, err := io.ReadAll(z); err != nil || !bytes.Equal(back, text[:n]) || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %d workers: %d come back, %v", n, workers, len(back), err)
			}
		}
	}
}

// TestDiscard: nothing is left of a file that is not published, complete or not.
func TestDiscard(t *testing.T) {
	for _, name := range []string{"x", "x.gz"} {
		dir := t.TempDir()
		f, err := Create(filepath.Join(dir, name), 2)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(make([]byte, 3<<20))
		if err := f.Discard(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", name, left, err)
		}
	}
}
