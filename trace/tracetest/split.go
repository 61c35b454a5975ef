package tracetest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tracekit/trace"
)

// MustParseSplit reads a hand-made trace, in which the events of a location may also stand apart
// from its definition, below a line "events N".
func MustParseSplit(t testing.TB, text string) trace.Source {
	t.Helper()
	head, events, _ := strings.Cut(text, "\nevents ")
	for i, list := range strings.Split(events, "\nevents ") {
		if events == "" {
			break
		}
		number, list, _ := strings.Cut(list, "\n")
		if number != strconv.Itoa(i) {
			t.Fatalf("events %s: want those of location %d", number, i)
		}
		at := strings.Index(head, fmt.Sprintf("location %d ", i))
		at += strings.Index(head[at:]+"\n", "\n")
		head = head[:at] + "\n" + strings.TrimRight(list, "\n") + head[at:]
	}
	src := MustParse(t, head+"\n")
	return src
}
