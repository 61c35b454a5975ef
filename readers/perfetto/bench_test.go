package perfetto

import (
	"bytes"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/spill"
)

// BenchmarkRead measures how fast packets become tables, in bytes of the file.
func BenchmarkRead(b *testing.B) {
	g := &generator{}
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.packet(fieldSequence, 5, fieldFlags, flagCleared, fieldDefaults, message(fieldEvent, message(eventTrack, 2)),
		fieldInterned, message(internedNames, message(1, 1, 2, "step"), internedCategories, message(1, 1, 2, "user")))
	event := func(time int, fields ...any) {
		g.packet(fieldTime, time, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(fields...))
	}
	for i := range 200_000 {
		event(1_000_000_000_000+1000*i, eventType, typeBegin, eventNameID, 1, eventCategoryID, 1)
		event(1_000_000_000_000+1000*i+700, eventType, typeEnd)
	}
	b.SetBytes(int64(g.Len()))
	b.ReportAllocs()
	for b.Loop() {
		store := spill.NewStore(spill.DefaultBudget(), "")
		f := recording.NewFile("x", store)
		if err := newReader(f).all(b.Context(), bytes.NewReader(g.Bytes())); err != nil {
			b.Fatal(err)
		}
		f.Set.Close()
		store.Close()
	}
}
