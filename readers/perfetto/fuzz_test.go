package perfetto

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// FuzzRead states that no bytes break what a source promises, and that the same bytes give the same trace.
func FuzzRead(f *testing.F) {
	g := &generator{}
	g.snapshot(1, clockBoottime, 1000, clockMonotonic, 900, clockRealtime, 1_700_000_000_000_000_000)
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.named(3, 1, "STREAM [1]")
	g.named(4, 1, "requests")
	g.counter(5, 1, "sent", 3, 3, 5, 1)
	g.packet(fieldSequence, 5, fieldFlags, flagCleared, fieldDefaults, message(fieldClock, clockMonotonic, fieldEvent, message(eventTrack, 2)),
		fieldInterned, message(internedNames, message(1, 1, 2, "hipLaunchKernel"), internedCategories, message(1, 1, 2, "hip_api")))
	g.packet(fieldTime, 950, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(eventType, typeBegin, eventNameID, 1, eventCategoryID, 1,
		eventFlow, fixed(7), eventArgument, number("corr_id", 3)))
	g.packet(fieldTime, 960, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(eventType, typeEnd))
	g.begin(1100, 3, "kernel", "kernel_dispatch", eventLast, fixed(7))
	g.end(1200, 3)
	g.begin(1100, 4, "request", "")
	g.event(typeInstant, 1150, 4, "mark", "")
	g.event(typeCounter, 1150, 5, "", "", eventCounter, 4)
	f.Add(g.Bytes())
	compressed := &generator{}
	compressed.packet(fieldCompressed, deflated(g.Bytes()))
	f.Add(compressed.Bytes())
	f.Add(tracetest.Gzip(g.Bytes()))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := fuzzed(t, data)
		second, again := fuzzed(t, data)
		if first != second || (err == nil) != (again == nil) {
			t.Errorf("twice the same bytes gave\n%s%v\nand\n%s%v", first, err, second, again)
		}
	})
}

// fuzzed renders what bytes are as a trace.
func fuzzed(t *testing.T, data []byte) (string, error) {
	src, err := recording.Open(t.Context(), Format, []string{"x"}, recording.Options{Jobs: 1}, func(ctx context.Context, f *recording.File) error {
		return newReader(f).all(ctx, bytes.NewReader(data))
	})
	if err != nil {
		if !errors.Is(err, trace.ErrNotATrace) {
			t.Fatalf("an error that is not the file's: %v", err)
		}
		return "", err
	}
	defer src.Close()
	if err := src.Defs().Check(); err != nil {
		t.Fatal(err)
	}
	Sniff("x", data)
	return tracetest.MustFormat(t, src), nil
}
