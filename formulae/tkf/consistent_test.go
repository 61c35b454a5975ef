package tkf_test

import (
	"testing"

	"tracekit/formulae/tkf"
	"tracekit/samples"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// In rebuilt traces no message arrives before it was sent, and no rank leaves a collective
// before the last one has entered it, whatever the clocks of the trace say.
func TestRebuiltTimesAreConsistent(t *testing.T) {
	for _, program := range []string{"ring", "halo", "sweep"} {
		src := generate(t, samples.Options{Program: program, Ranks: 8, Iterations: 25, Seed: 3, Plant: samples.Plant{Skew: 1_000_000}})
		name, _ := compress(t, src, tkf.Options{Mode: tkf.Statistics})
		rebuilt := openTKF(t, name)
		messages, early := checkMessages(t, rebuilt)
		if messages == 0 || early > 0 {
			t.Errorf("%s: %d of %d messages are received before they are sent", program, early, messages)
		}
		if late := checkCollectives(t, rebuilt); late > 0 {
			t.Errorf("%s: %d members leave a collective before the last one has begun", program, late)
		}
		for _, f := range rebuilt.Findings() {
			t.Errorf("%s: %s: %s", program, f.Code, f.Text)
		}
	}
}

type route struct{ comm, from, to, tag uint32 }

// checkMessages matches messages by order, and counts them and those that arrive early.
// Locations are ranks of the world, the only communicator of messages.
func checkMessages(t *testing.T, src trace.Source) (messages, early int) {
	sent := make(map[route][]int64)
	received := make(map[route][]int64)
	for l := range src.Defs().Locations {
		p := events(t, src, trace.LocationID(l)).P2P
		for i, k := range p.Kind {
			switch k {
			case trace.KindMpiSend, trace.KindMpiIsend:
				r := route{uint32(p.Comm[i]), uint32(l), p.Peer[i], p.Tag[i]}
				sent[r] = append(sent[r], p.Time[i])
			case trace.KindMpiRecv, trace.KindMpiIrecv:
				r := route{uint32(p.Comm[i]), p.Peer[i], uint32(l), p.Tag[i]}
				received[r] = append(received[r], p.Time[i])
			}
		}
	}
	for r, times := range received {
		for i, at := range times {
			messages++
			if i >= len(sent[r]) || at <= sent[r][i] {
				early++
			}
		}
	}
	return messages, early
}

// checkCollectives counts the members of collectives on the world that end before the last
// member has begun.
func checkCollectives(t *testing.T, src trace.Source) (early int) {
	var begins, ends [][]int64 // by ordinal and rank
	for l := range src.Defs().Locations {
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			n, begun := 0, int64(0)
			for i, k := range b.Coll.Kind {
				if k == trace.KindCollectiveBegin {
					begun = b.Coll.Time[i]
				}
				if k != trace.KindCollectiveEnd || b.Coll.Comm[i] != 0 {
					continue
				}
				if n == len(begins) {
					begins, ends = append(begins, nil), append(ends, nil)
				}
				begins[n], ends[n] = append(begins[n], begun), append(ends[n], b.Coll.Time[i])
				n++
			}
		}
	}
	for n := range begins {
		for _, end := range ends[n] {
			for _, begin := range begins[n] {
				if end <= begin {
					early++
				}
			}
		}
	}
	return early
}
