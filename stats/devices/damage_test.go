package devices_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"tracekit/merge"
	"tracekit/spill"
	"tracekit/stats/devices"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// TestDamaged drops events of a planted trace, moves times, and exchanges regions and
// identifiers. Whatever comes of it, what must add up does, and neither the number of jobs nor the
// memory changes a byte.
func TestDamaged(t *testing.T) {
	for seed := range uint64(150) {
		src := damaged(planted(300, 3), rand.New(rand.NewPCG(seed, 7)))
		found(t, src) // states the sums
		var first string
		for _, o := range []struct {
			jobs   int
			memory int64
		}{{1, spill.LeastBudget}, {4, 1}} {
			tr, err := merge.Merge(t.Context(), src, merge.Options{Clock: merge.ClockNone, Store: spill.NewStore(o.memory, "")})
			if err != nil {
				t.Fatal(err)
			}
			from, to, err := scope.Window(tr, scope.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			r := find(t, tr, devices.Options{Jobs: o.jobs, From: from + (to-from)/10, To: to})
			for _, d := range r.Devices {
				checkSums(t, &d)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(text)
			} else if string(text) != first {
				t.Errorf("%d jobs, %d bytes: another result", o.jobs, o.memory)
			}
			tr.Store.Close()
		}
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}

func damaged(src *trace.MemorySource, r *rand.Rand) *trace.MemorySource {
	for l, batches := range src.Batches {
		out := new(trace.Batch)
		out.Reset(trace.LocationID(l), 0)
		for _, b := range batches {
			attr := 0
			for i := range b.Flow.Seq {
				id := uint64(0)
				if attr < len(b.Attrs.Seq) && b.Attrs.Seq[attr] == b.Flow.Seq[i] {
					id = b.Attrs.Value[attr]
					attr++
				}
				time, region := b.Flow.Time[i], b.Flow.Region[i]
				switch r.IntN(40) {
				case 0:
					continue
				case 1:
					time += int64(r.IntN(2000)) - 1000
				case 2:
					region = trace.RegionID(r.IntN(4)) // of which one is not defined
				case 3:
					id = uint64(r.IntN(20))
				}
				if id > 0 {
					out.AddAttr(0, trace.TypeUint64, id)
				}
				out.AddFlow(time, b.Flow.Kind[i], region)
			}
		}
		src.Batches[l] = []*trace.Batch{out}
	}
	return src
}
