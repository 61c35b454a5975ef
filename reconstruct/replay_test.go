package reconstruct

import (
	"runtime"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// replayHeld returns the bytes that a calibration's replay of so many ranks holds when it has ended, beside
// what the store keeps in a file.
func replayHeld(t *testing.T, ranks int) int64 {
	src := statstest.Generated(t, samples.Options{Program: "halo", Ranks: ranks, Iterations: 16, Seed: 1})
	store := spill.NewStore(0, t.TempDir())
	defer store.Close()
	p, err := formulae.Learn(t.Context(), src, formulae.Options{Jobs: 1, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	before := tracetest.LiveBytes()
	ranksOf, places := partners.RanksOf(src.Defs()), placesOf(p.Locations)
	var tables []*spill.Table[step]
	for l := range p.Locations {
		table, err := storeSteps(store, newRebuilt(ranksOf, trace.LocationID(l), &p.Locations[l]), places[l], leastEvents)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	r := newReplay(ranksOf, p.Locations, places, func(l int) stepper { return &stored{table: tables[l]} }, 1, leastEvents, 1)
	if _, err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := tracetest.LiveBytes() - before
	for _, alive := range []any{src, p, r} {
		runtime.KeepAlive(alive)
	}
	return held
}

// TestHeldOfReplay: a calibration holds little of a rank: its events lie in the store, and the rebuilder that
// made them is gone.
func TestHeldOfReplay(t *testing.T) {
	const few, many, most = 64, 576, 2000
	held := (replayHeld(t, many) - replayHeld(t, few)) / (many - few)
	t.Logf("%d bytes for each rank", held)
	if held > most {
		t.Errorf("%d bytes are held for each rank, want at most %d", held, most)
	}
}
