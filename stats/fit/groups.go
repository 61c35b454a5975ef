package fit

import (
	"cmp"
	"maps"
	"slices"
)

// minCalls is the least number of calls of an entry of a profile.
const minCalls = 50

// A Key is what calls must share to be comparable: they are calls of the same function with
// the same parameters.
type Key struct {
	Operation string `json:"operation"` // MPI function
	// what the call does of what its function may do: the root of a broadcast, the completion of sends
	Role      string `json:"role,omitempty"`
	Processes int    `json:"processes"` // ranks taking part: 2 for point-to-point
	Bytes     int64  `json:"bytes"`     // as the caller passed them
}

// CompareKeys orders by operation, role, processes, bytes.
func CompareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Processes, b.Processes),
		cmp.Compare(a.Bytes, b.Bytes))
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

// A Group is the calls that make one entry of a profile. No two share a sample, so that each
// can be fitted on a core of its own.
type Group struct {
	Entry          // TMin, TMax, From, Model, P and Unreliable are of Fit
	Sizes  []int64 // bytes of its keys, ascending
	Sample *Sample // of Fit
	Result Result  // of Fit

	samples []*Sample // of the keys
	bytes   int64     // summed over calls
}

// Groups returns the calls by key, in the order of keys, still to be fitted. A size of fewer than 50 calls is joined with the next larger
// one of its operation, role and number of processes; the largest with the next smaller. The entry lists the sizes that were joined.
func Groups(samples map[Key]*Sample) []Group {
	var sizes []Group
	for _, k := range slices.SortedFunc(maps.Keys(samples), CompareKeys) {
		if s := samples[k]; s.Len() > 0 {
			sizes = append(sizes, Group{Entry: Entry{Key: k, Calls: s.Len()}, Sizes: []int64{k.Bytes}, samples: []*Sample{s},
				bytes: k.Bytes * s.Len()})
		}
	}
	out := joinSmall(sizes)
	for i := range out {
		g := &out[i]
		g.Bytes, g.Few = g.bytes/g.Calls, g.Calls < minCalls
		if len(g.Sizes) > 1 || g.samples[0].Class {
			g.Pooled = g.Sizes
		}
	}
	return out
}

// joinSmall joins each group that is too small with the next one that differs in bytes only, and
// a last one with the one before.
func joinSmall(in []Group) []Group {
	var out []Group
	// back joins the last group with the one before if it stayed small.
	back := func() {
		if last := len(out) - 1; last > 0 && out[last].Calls < minCalls && out[last-1].besides(&out[last]) {
			out[last-1].add(&out[last])
			out = out[:last]
		}
	}
	for _, g := range in {
		if last := len(out) - 1; last >= 0 && out[last].besides(&g) && out[last].Calls < minCalls {
			out[last].add(&g)
			continue
		}
		back()
		out = append(out, g)
	}
	back()
	return out
}

// besides tells whether two groups differ in bytes at most.
func (g *Group) besides(h *Group) bool {
	return g.Operation == h.Operation && g.Role == h.Role && g.Processes == h.Processes
}

// add adds the calls of h.
func (g *Group) add(h *Group) {
	g.Sizes = append(g.Sizes, h.Sizes...)
	g.samples = append(g.samples, h.samples...)
	g.Calls += h.Calls
	g.bytes += h.bytes
}

// Fit returns the group with its sample, which is that of its key if there is one only, and its
// entry fitted.
func (g Group) Fit(o Options) Group {
	g.Sample = g.samples[0]
	if len(g.samples) > 1 {
		g.Sample = &Sample{Limit: g.Sample.Limit}
		for _, s := range g.samples {
			g.Sample.Combine(s)
		}
	}
	r := Fit(g.Sample, o)
	g.Result, g.TMin, g.TMax, g.From, g.Unreliable = r, r.TMin, r.TMax, r.From, r.Unreliable
	if r.Chosen >= 0 {
		g.Model, g.P = r.Models[r.Chosen].Family, r.Models[r.Chosen].Test.P
	}
	return g
}

// Calibrate returns the groups of samples, fitted one after another.
func Calibrate(samples map[Key]*Sample, o Options) []Group {
	out := Groups(samples)
	for i, g := range out {
		out[i] = g.Fit(o)
	}
	return out
}
