package devices

import (
	"fmt"

	"tracekit/trace"
)

// linkAtOnce is how many identifiers of launches are looked up at a time.
const linkAtOnce = 1 << 20

// link finds the launch of every kernel of the host. Identifiers are taken in as many portions
// as memory asks for.
func (h *host) link(c *collector, ledger *trace.Ledger) {
	total := 0
	for _, p := range h.threads {
		total += p.launches.Len()
	}
	portions := uint64(1 + total/linkAtOnce)
	for k := range portions {
		index := make(map[uint64]row, min(total, linkAtOnce))
		for i, p := range h.threads {
			h.index(c, p, uint32(i+1), k, portions, index, ledger)
		}
		for _, d := range h.devices {
			for _, p := range d.streams {
				for _, rows := range p.kernels.Rows {
					for i := range rows {
						if x := &rows[i]; x.id != 0 && x.id%portions == k {
							x.launch = h.choose(index[x.id], x.start)
						}
					}
				}
			}
		}
	}
}

// index puts the launches of a thread, of one portion of the identifiers, into the index.
func (h *host) index(c *collector, p *part, thread uint32, portion, portions uint64, index map[uint64]row, ledger *trace.Ledger) {
	for first, rows := range p.launches.Rows {
		for i := range rows {
			x := &rows[i]
			if x.id%portions != portion {
				continue
			}
			old, ok := index[x.id]
			if ok {
				before := h.at(old)
				if old.thread == thread && x.enter <= before.leave {
					continue // inside the call that was found
				}
				x.same, x.repeats, before.repeats = old, true, true
				ledger.Add(trace.CodeCorrelationRepeats, trace.Place{Location: p.location, Offset: -1},
					fmt.Sprintf("number %d, %s", x.id, c.t.Defs.RegionLabel(x.call)))
			}
			index[x.id] = row{thread, uint32(first + i)}
		}
	}
}

// repeats is how many launches of one identifier are looked at.
const repeats = 64

// choose returns, of the launches of one identifier, the last before a kernel begins, or if there
// is none the one found last.
func (h *host) choose(r row, start int64) row {
	best := r
	for n := 0; r.thread != 0 && n < repeats; n++ {
		x, b := h.at(r), h.at(best)
		if x.enter <= start && (b.enter > start || x.enter > b.enter) {
			best = r
		}
		r = x.same
	}
	return best
}

// at returns a launch.
func (h *host) at(r row) *launch { return h.threads[r.thread-1].launches.Ptr(int(r.row)) }

// launched returns the launch of a kernel, nil if it has none.
func (h *host) launched(k *kernel) *launch {
	if k.launch.thread == 0 {
		return nil
	}
	return h.at(k.launch)
}
