package perfetto

import (
	"testing"

	"tracekit/readers/internal/protobuf/protobuftest"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace/tracetest"
)

// seeds returns a trace with something of all that is read, plain and with compressed packets.
func seeds() (g, compressed *generator) {
	g = &generator{}
	g.snapshot(1, clockBoottime, 1000, clockMonotonic, 900, clockRealtime, 1_700_000_000_000_000_000)
	g.process(1, 10, "app")
	g.thread(2, 1, 10, 10, "main")
	g.named(3, 1, "STREAM [1]")
	g.named(4, 1, "requests")
	g.counter(5, 1, "sent", 3, 3, 5, 1)
	g.packet(fieldSequence, 5, fieldFlags, flagCleared, fieldDefaults, message(fieldClock, clockMonotonic, fieldEvent, message(eventTrack, 2)),
		fieldInterned, message(internedNames, message(1, 1, 2, "hipLaunchKernel"), internedCategories, message(1, 1, 2, "hip_api")))
	g.packet(fieldTime, 950, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(eventType, typeBegin,
		eventNameID, 1, eventCategoryID, 1,
		eventFlow, fixed(7), eventArgument, number("corr_id", 3)))
	g.packet(fieldTime, 960, fieldSequence, 5, fieldFlags, flagNeeded, fieldEvent, message(eventType, typeEnd))
	g.begin(1100, 3, "kernel", "kernel_dispatch", eventLast, fixed(7))
	g.end(1200, 3)
	g.begin(1100, 4, "request", "")
	g.event(typeInstant, 1150, 4, "mark", "")
	g.event(typeCounter, 1150, 5, "", "", eventCounter, 4)
	compressed = &generator{}
	compressed.packet(fieldCompressed, deflated(g.Bytes()))
	return g, compressed
}

// opener opens traces of Perfetto.
var opener = recordingtest.Opener(Open)

// TestDamaged reads a trace that is cut, or of which bits are flipped.
func TestDamaged(t *testing.T) {
	plain, compressed := seeds()
	whole := plain.Bytes()
	opener.Cuts(t, "x.pftrace", whole, protobuftest.Ends(whole))
	for _, data := range [][]byte{whole, compressed.Bytes()} {
		opener.Flips(t, "x.pftrace", data, 300)
	}
}

// FuzzRead states that no bytes break what a source promises.
func FuzzRead(f *testing.F) {
	plain, compressed := seeds()
	opener.Fuzz(f, "x.pftrace", plain.Bytes(), compressed.Bytes(), tracetest.Gzip(plain.Bytes()))
}
