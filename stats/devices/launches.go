package devices

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/stats/numbers"
	"tracekit/trace"
)

// linkAtOnce is how many identifiers of launches are looked up at a time.
const linkAtOnce = 1 << 20

// A numbered is a launch by its identifier.
type numbered struct {
	id uint64
	row
}

// link finds the launch of every kernel of the host. Identifiers are taken in as many portions
// as memory asks for.
func (h *host) link(c *collector, ledger *trace.Ledger) {
	total := 0
	for _, p := range h.threads {
		total += p.launches.Len()
	}
	portions := uint64(1 + total/linkAtOnce)
	index := make([]numbered, 0, min(total, 2*linkAtOnce))
	for k := range portions {
		index = h.index(c, k, portions, index[:0], ledger)
		for _, d := range h.devices {
			for _, p := range d.streams {
				at := 0 // in the index: the next kernel's launch is near that of the one before
				for _, rows := range p.kernels.Rows {
					for i := range rows {
						x := &rows[i]
						if x.id == 0 || portions > 1 && x.id%portions != k {
							continue
						}
						if at = numbers.Seek(index, at, func(r *numbered) bool { return r.id < x.id }); at < len(index) && index[at].id == x.id {
							x.launch = h.choose(index[at].row, x.start)
						}
					}
				}
			}
		}
	}
}

// index returns the launches of one portion of the identifiers, ascending: of those with the same one that
// which is found last, from which the others are found.
func (h *host) index(c *collector, portion, portions uint64, index []numbered, ledger *trace.Ledger) []numbered {
	for i, p := range h.threads {
		for first, rows := range p.launches.Rows {
			for j := range rows {
				if id := rows[j].id; portions == 1 || id%portions == portion {
					index = append(index, numbered{id, row{uint32(i + 1), uint32(first + j)}})
				}
			}
		}
	}
	index = numbers.SortRuns(index, func(a, b *numbered) bool { return a.id < b.id })
	var repeated []numbered
	n := 0
	for _, r := range index {
		if n > 0 && index[n-1].id == r.id {
			old := &index[n-1]
			x, before := h.at(r.row), h.at(old.row)
			if old.thread == r.thread && x.enter <= before.leave {
				continue // inside the call that was found
			}
			x.same, x.repeats, before.repeats = old.row, true, true
			repeated = append(repeated, r)
			n--
		}
		index[n] = r
		n++
	}
	slices.SortFunc(repeated, func(a, b numbered) int { return a.row.compare(b.row) })
	for _, r := range repeated {
		ledger.Add(trace.CodeCorrelationRepeats, trace.Place{Location: h.threads[r.thread-1].location, Offset: -1},
			fmt.Sprintf("number %d, %s", r.id, c.t.Defs.RegionLabel(h.at(r.row).call)))
	}
	return index[:n]
}

// compare orders rows by thread, then by their place in its table.
func (r row) compare(o row) int {
	return cmp.Or(cmp.Compare(r.thread, o.thread), cmp.Compare(r.row, o.row))
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
