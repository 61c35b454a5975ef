package fit

import (
	"cmp"
	"maps"
	"slices"
)

// minCalls is the least number of calls of an entry of a profile.
const minCalls = 50

// A Key is what calls must share to be comparable.
type Key struct {
	Operation string `json:"operation"` // MPI function
	Processes int    `json:"processes"` // ranks taking part: 2 for point-to-point
	Bytes     int64  `json:"bytes"`
}

// compareKeys orders by operation, processes, bytes.
func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Processes, b.Processes), cmp.Compare(a.Bytes, b.Bytes))
}

// maxBytes is the largest size class, 4 MB.
const maxBytes = 4000000

// SizeClass returns the size class of a number of bytes, named by its smallest member: 0, 1,
// 10, 20, …, 100, 200, …, 1000, 2000, …, up to 4 MB.
func SizeClass(bytes int64) int64 {
	if bytes < 10 {
		return min(max(bytes, 0), 1)
	}
	bytes = min(bytes, maxBytes)
	decade := int64(10)
	for bytes >= 10*decade {
		decade *= 10
	}
	return bytes / decade * decade
}

// A Group is the calls that make one entry of a profile. Groups share nothing, so that
// each can be fitted on a core of its own.
type Group struct {
	Entry           // t_min and what follows it, but for Pooled and Few, is left to Fit
	Classes []int64 // size classes, ascending
	Sample  *Sample
	Result  Result // of Fit

	bytes int64 // summed over calls
}

// Groups returns the calls by operation, processes and [SizeClass], in this order; a class of
// fewer than 50 calls is joined with the next larger one (the largest with the next smaller),
// and its entry says so.
func Groups(samples map[Key]*Sample) []Group {
	var classes []Group
	for _, k := range slices.SortedFunc(maps.Keys(samples), compareKeys) {
		s := samples[k]
		if s.Len() == 0 {
			continue
		}
		class := Group{Entry: Entry{Key: k}, Classes: []int64{SizeClass(k.Bytes)}, Sample: &Sample{Limit: s.Limit}}
		if last := len(classes) - 1; last < 0 || !class.joins(&classes[last]) || class.Classes[0] != classes[last].Classes[0] {
			classes = append(classes, class)
		}
		g := &classes[len(classes)-1]
		g.bytes += k.Bytes * s.Len()
		g.Sample.Combine(s)
	}
	out := joinSmall(classes)
	for i := range out {
		g := &out[i]
		g.Calls = g.Sample.Len()
		g.Bytes = g.bytes / g.Calls
		g.Few = g.Calls < minCalls
		if len(g.Classes) > 1 {
			g.Pooled = g.Classes
		}
	}
	return out
}

// joins tells whether two groups may be joined: they differ in bytes at most.
func (g *Group) joins(h *Group) bool {
	return g.Operation == h.Operation && g.Processes == h.Processes
}

// joinSmall joins each group that is too small with the next one that it may be joined with, and
// a last one with the one before.
func joinSmall(in []Group) []Group {
	var out []Group
	// backwards joins the last group with the one before if it stayed small.
	backwards := func() {
		if last := len(out) - 1; last > 0 && out[last].Sample.Len() < minCalls && out[last].joins(&out[last-1]) {
			out[last-1].add(&out[last])
			out = out[:last]
		}
	}
	for _, g := range in {
		if last := len(out) - 1; last >= 0 && out[last].joins(&g) && out[last].Sample.Len() < minCalls {
			out[last].add(&g)
			continue
		}
		backwards()
		out = append(out, g)
	}
	backwards()
	return out
}

// add adds the calls of h.
func (g *Group) add(h *Group) {
	g.Classes = append(g.Classes, h.Classes...)
	g.bytes += h.bytes
	g.Sample.Combine(h.Sample)
}

// Fit fits the group's sample and completes its entry.
func (g *Group) Fit(o Options) {
	r := Fit(g.Sample, o)
	g.Result, g.TMin, g.TMax, g.From = r, r.TMin, r.TMax, r.From
	if r.Chosen >= 0 {
		g.Model, g.P = r.Models[r.Chosen].Family, r.Models[r.Chosen].Test.P
	}
}

// Calibrate returns the groups of samples, fitted one after another.
func Calibrate(samples map[Key]*Sample, o Options) []Group {
	out := Groups(samples)
	for i := range out {
		out[i].Fit(o)
	}
	return out
}
