package jsontrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// readAhead is readText with several goroutines and blocks of that size.
func readAhead(t testing.TB, data []byte, window, block int) string {
	t.Helper()
	s, err := readFile(t, data, 3, func(f *file) { f.window, f.block = window, block })
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	return render(t, s)
}

// Parsing ahead changes nothing of what is read, whatever the blocks, in good files and in
// those where a byte is changed or the end is missing.
func TestAheadChangesNothing(t *testing.T) {
	for name, text := range samples(t) {
		rnd := rand.New(rand.NewPCG(5, uint64(len(text))))
		variants := [][]byte{text}
		for range 3 {
			variants = append(variants, mutate.Bytes(1, `"{}[]\,`).Apply(rnd, text), mutate.Truncation.Apply(rnd, text))
		}
		for i, v := range variants {
			want := readText(t, v, windowBytes)
			for _, block := range []int{61, 4 << 10} {
				if got := readAhead(t, v, 512, block); got != want {
					t.Fatalf("%s, variant %d, blocks of %d: another trace\n%s\nwant\n%s", name, i, block, got, want)
				}
			}
		}
	}
}

// The same with real files as a whole.
func TestAheadRealTraces(t *testing.T) {
	for _, path := range RealTraces(t) {
		data := tracetest.ReadFile(t, path)
		if readAhead(t, data, 4<<10, 16<<10) != readText(t, data, windowBytes) {
			t.Errorf("%s: another trace", path)
		}
	}
}

// Whatever form the events stand in, nearly all of them are found ahead.
func TestAheadFindsEvents(t *testing.T) {
	event := `{"ph":"X","ts":1,"args":{"shapes":[{"a":1}, {"a":2}]}}`
	for name, text := range map[string]string{
		"lines":     strings.Repeat(event+"\n", 100),
		"commas":    strings.Repeat(",\n  "+event, 100),
		"one line":  strings.Repeat(event+",", 100),
		"blanks":    strings.Repeat(event+", ", 100),
		"indented":  strings.Repeat(strings.ReplaceAll(event, `"args"`, "\n    \"args\"")+",\n", 100),
		"cut event": `1}]}},` + "\n" + strings.Repeat(event+"\n", 100),
	} {
		b := block{text: []byte(text)}
		b.parse(nanoDigits)
		n := 0
		for _, p := range b.parsed {
			if p.phase == 'X' {
				n++
			}
		}
		if n < 98 {
			t.Errorf("%s: %d of 100 events", name, n)
		}
	}
}

// Text made so that all guesses fail late is given up early.
func TestAheadGivesUp(t *testing.T) {
	const depth = 2000
	text := strings.Repeat("{\"a\":[\n", depth) + strings.Repeat("]x}", depth)
	b := block{text: []byte(strings.Repeat("}\n{!", depth) + text)}
	b.parse(nanoDigits)
	if len(b.parsed) > guessLimit {
		t.Errorf("%d events in text without any", len(b.parsed))
	}
}

// An endless reads events until it fails or is no more asked for.
type endless struct {
	left int
	err  error
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left--; e.left < 0 {
		return 0, e.err
	}
	line := []byte("{\"ph\":\"i\",\"pid\":1,\"ts\":1,\"name\":\"a\"}\n")
	return copy(p, bytes.Repeat(line, len(p)/len(line)+1)[:len(p)/len(line)*len(line)]), nil
}

// Errors and cancelling end the goroutines.
func TestAheadEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	broken := errors.New("broken")
	for _, reads := range []int{1, 2, 5, 50} {
		f := newFile("x", nil)
		f.jobs = 3
		err := f.read(context.Background(), &endless{reads, broken})
		if !errors.Is(err, broken) {
			t.Errorf("after %d reads: %v", reads, err)
		}
		f.set.Spool.Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := newFile("x", nil)
	f.jobs = 3
	r := io.MultiReader(&endless{40, io.EOF}, readerFunc(func() { cancel() }), &endless{1 << 30, io.EOF})
	if err := f.read(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	f.set.Spool.Close()
	for range 100 { // one that has ended may be counted for a moment
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(fmt.Sprint(runtime.NumGoroutine()-before, " goroutines are left"))
}

// A readerFunc is an empty text that does something when it is read.
type readerFunc func()

func (f readerFunc) Read([]byte) (int, error) { f(); return 0, io.EOF }
