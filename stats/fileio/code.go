package fileio

import (
	"cmp"

	"tracekit/partial"
	"tracekit/partial/model"
	"tracekit/trace"
)

// Code implements stats.Shared.
func (f *Finder) Code(c *partial.Coder, l trace.LocationID) {
	if !f.wants(l) {
		return
	}
	if c.Reading() {
		f.parts[l] = newPart()
	} else {
		f.readings[l].end()
		f.parts[l] = f.readings[l].p
	}
	f.parts[l].code(c, f.calls, f.t.Rank[l], f.t.Span[l].Events)
}

// code codes what one location with so many events yields, of a trace whose regions make such calls.
func (p *part) code(c *partial.Coder, calls []Call, rank uint32, events uint64) {
	model.Map(c, &p.operations, cmp.Compare, func(r *trace.RegionID, s **sum) {
		partial.Number(c, r)
		codeSum(c, s, events)
		if int(*r) >= len(calls) || calls[*r] == NoCall {
			c.Refuse("region %d works on no files", *r)
		}
	})
	model.Map(c, &p.files, compareFiles, func(k *fileKey, f **fileSum) {
		partial.Flag(c, &k.handle)
		partial.Number(c, &k.id)
		if c.Reading() {
			*f = &fileSum{ranks: []uint32{rank}}
		}
		for i := range (*f).kinds {
			s := &(*f).kinds[i]
			codeNumbers(c, s, events)
		}
	})
	model.Map(c, &p.sizes, compareSizes, func(k *sizeKey, s **sum) {
		partial.Number(c, &k.call, partial.Within("kind of call", 0, Other))
		partial.Number(c, &k.class, partial.Within("size", 0, maxClass))
		codeSum(c, s, events)
	})
	model.Map(c, &p.ranks, cmp.Compare, func(r *uint32, time *int64) {
		partial.Number(c, r, partial.Within("rank", rank, rank))
		partial.Number(c, time)
	})
	partial.Number(c, &p.time)
	model.Ledger(c, &p.ledger)
}

func compareFiles(a, b fileKey) int {
	if a.handle != b.handle {
		if b.handle {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.id, b.id)
}

func compareSizes(a, b sizeKey) int {
	return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.class, b.class))
}

// maxClass is above the class of all accesses.
const maxClass = 62

// codeSum codes the sum of some calls, at least one.
func codeSum(c *partial.Coder, s **sum, events uint64) {
	if c.Reading() {
		*s = new(sum)
	}
	if codeNumbers(c, *s, events); (*s).calls == 0 {
		c.Refuse("a sum of no calls")
	}
}

func codeNumbers(c *partial.Coder, s *sum, events uint64) {
	partial.Number(c, &s.calls, partial.Within("calls", 0, events))
	partial.Number(c, &s.sized, partial.Within("calls", 0, s.calls))
	partial.Number(c, &s.bytes)
	partial.Number(c, &s.time)
	partial.Number(c, &s.sizedTime)
	partial.Number(c, &s.min)
	partial.Number(c, &s.max)
}
