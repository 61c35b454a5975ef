package perfetto

import (
	"bytes"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/spill"
)

// BenchmarkRead measures the reading of slices without arguments, 19 bytes an event, and of calls with four as rocprof-sys writes
// them, 48 bytes an event.
func BenchmarkRead(b *testing.B) {
	const start = 1_000_000_000_000
	bare := func(int) []any { return []any{eventNameID, 1, eventCategoryID, 1} }
	call := func(at int) []any {
		return append(bare(at), eventArgument, number("begin_ns", at), eventArgument, number("end_ns", at+700),
			eventArgument, number("corr_id", at%1_000_000), eventArgument, number("stream_id", 1))
	}
	for name, fields := range map[string]func(at int) []any{"bare": bare, "calls": call} {
		b.Run(name, func(b *testing.B) {
			g := &generator{}
			g.process(1, 10, "app")
			g.thread(2, 1, 10, 10, "main")
			g.packet(fieldSequence, 5, fieldFlags, flagCleared, fieldDefaults, message(fieldEvent, message(eventTrack, 2)),
				fieldInterned, message(internedNames, message(1, 1, 2, "hipLaunchKernel"), internedCategories, message(1, 1, 2, "rocm_hip_api")))
			event := func(time int, fields ...any) {
				g.packet(fieldTime, time, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(fields...))
			}
			for i := range 200_000 {
				event(start+1000*i, append(fields(start+1000*i), eventType, typeBegin)...)
				event(start+1000*i+700, eventType, typeEnd)
			}
			b.SetBytes(int64(g.Len()))
			b.ReportMetric(float64(g.Len())/400_000, "B/event")
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
		})
	}
}
