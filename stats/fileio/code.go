package fileio

import (
	"cmp"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/trace"
)

// Code implements stats.Shared.
func (f *Finder) Code(c *codec.Coder, l trace.LocationID) {
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
func (p *part) code(c *codec.Coder, calls []Call, rank uint32, events uint64) {
	model.Map(c, &p.operations, cmp.Compare, func(r *trace.RegionID, s **sum) {
		codec.Number(c, r)
		codeSum(c, s, events)
		if int(*r) >= len(calls) || calls[*r] == NoCall {
			c.Refuse("region %d works on no files", *r)
		}
	})
	model.Map(c, &p.files, compareFiles, func(k *fileKey, f **fileSum) {
		codec.Flag(c, &k.handle)
		codec.Number(c, &k.id)
		if c.Reading() {
			*f = &fileSum{ranks: []uint32{rank}}
		}
		for i := range (*f).kinds {
			s := &(*f).kinds[i]
			codeNumbers(c, s, events)
		}
	})
	model.Map(c, &p.sizes, compareSizes, func(k *sizeKey, s **sum) {
		codec.Number(c, &k.call, codec.Within("kind of call", 0, Other))
		codec.Number(c, &k.class, codec.Within("size", 0, maxClass))
		codeSum(c, s, events)
	})
	model.Map(c, &p.ranks, cmp.Compare, func(r *uint32, time *int64) {
		codec.Number(c, r, codec.Within("rank", rank, rank))
		codec.Number(c, time)
	})
	codec.Number(c, &p.time)
	codec.Number(c, &p.own)
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
func codeSum(c *codec.Coder, s **sum, events uint64) {
	if c.Reading() {
		*s = new(sum)
	}
	if codeNumbers(c, *s, events); (*s).calls == 0 {
		c.Refuse("a sum of no calls")
	}
}

func codeNumbers(c *codec.Coder, s *sum, events uint64) {
	codec.Number(c, &s.calls, codec.Within("calls", 0, events))
	codec.Number(c, &s.sized, codec.Within("calls", 0, s.calls))
	codec.Number(c, &s.bytes)
	codec.Number(c, &s.time)
	codec.Number(c, &s.sizedTime)
	codec.Number(c, &s.min)
	codec.Number(c, &s.max)
}
