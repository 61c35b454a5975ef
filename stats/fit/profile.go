package fit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// profileSchema is the first value of an encoded profile.
const profileSchema = "tracekit.profile/1"

// minCalls is the least number of calls of an entry of a profile.
const minCalls = 50

// A Key is what calls must share to be comparable.
type Key struct {
	Operation string `json:"operation"` // MPI function
	Processes int    `json:"processes"` // ranks taking part: 2 for point-to-point
	Bytes     int64  `json:"bytes"`
}

// A Profile says how long calls of one machine may take: t_max for every MPI function
// over processes and bytes, T_f(p, b). It encodes as JSON.
type Profile struct {
	Schema    string  `json:"schema"`
	Machine   string  `json:"machine"`
	Library   string  `json:"library"`           // MPI library and version, as its maker says
	Creator   string  `json:"creator,omitempty"` // the program that wrote the traces
	Processes int     `json:"processes"`         // of the run it was learned from
	Quantile  float64 `json:"quantile"`
	Entries   []Entry `json:"entries"` // ordered by operation, processes, bytes
}

// An Entry is one point of a profile.
type Entry struct {
	Key            // Bytes is the mean over the entry's calls, rounded down
	Calls  int64   `json:"calls"`
	TMin   int64   `json:"t_min_ns"`
	TMax   int64   `json:"t_max_ns"`
	From   string  `json:"from"`             // as Result.From
	Model  Family  `json:"model,omitempty"`  // empty if none was accepted
	P      float64 `json:"p_value"`          // of the χ² test; 0 without a model
	Pooled []int64 `json:"pooled,omitempty"` // size classes joined to reach 50 calls; empty for one
	Few    bool    `json:"few,omitempty"`    // fewer than 50 calls in all classes together
}

// NewProfile fits the samples of a benchmark run or of the analysed trace itself:
// the entries of [Calibrate]. Machine, Library, Creator and Processes are the caller's to
// set.
func NewProfile(samples map[Key]*Sample, o Options) Profile {
	return ProfileOf(Calibrate(samples, o), o)
}

// ProfileOf returns the profile of groups that were calibrated with the same options.
func ProfileOf(groups []Group, o Options) Profile {
	p := Profile{Schema: profileSchema, Quantile: o.defaults().Quantile, Entries: []Entry{}}
	for _, g := range groups {
		p.Entries = append(p.Entries, g.Entry)
	}
	return p
}

// A Group is an entry of a profile with what it was made of.
type Group struct {
	Entry
	Classes []int64 // size classes, ascending
	Sample  *Sample
	Result  Result
}

// Calibrate fits samples. Keys of the same operation and processes are grouped by
// [SizeClass]; a class of fewer than 50 calls is joined with the next larger one (the
// largest with the next smaller), and its entry says so. Groups are ordered by
// operation, processes, bytes.
func Calibrate(samples map[Key]*Sample, o Options) []Group {
	var out []Group
	for _, g := range groups(samples) {
		r := Fit(g.sample, o)
		e := Entry{Key: g.key, Calls: r.Calls, TMin: r.TMin, TMax: r.TMax, From: r.From, Few: r.Calls < minCalls}
		e.Bytes = g.bytes / max(r.Calls, 1)
		if len(g.classes) > 1 {
			e.Pooled = g.classes
		}
		if r.Chosen >= 0 {
			e.Model, e.P = r.Models[r.Chosen].Family, r.Models[r.Chosen].Test.P
		}
		out = append(out, Group{Entry: e, Classes: g.classes, Sample: g.sample, Result: r})
	}
	return out
}

// A group is the calls of one entry.
type group struct {
	key     Key
	classes []int64
	bytes   int64 // summed over calls
	sample  *Sample
}

// groups returns the calls by operation, processes and size class, in order, small
// classes joined.
func groups(samples map[Key]*Sample) []group {
	keys := make([]Key, 0, len(samples))
	for k := range samples {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	var out []group
	for _, k := range keys {
		if samples[k].Len() == 0 {
			continue
		}
		class := SizeClass(k.Bytes)
		last := len(out) - 1
		if last < 0 || !sameTable(out[last].key, k) || out[last].classes[0] != class {
			out = append(out, group{key: k, classes: []int64{class}, sample: &Sample{Limit: samples[k].Limit}})
			last++
		}
		out[last].bytes += k.Bytes * samples[k].Len()
		out[last].sample.Combine(samples[k])
	}
	return joinSmall(out)
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Processes, b.Processes), cmp.Compare(a.Bytes, b.Bytes))
}

// sameTable tells whether two keys differ in bytes at most.
func sameTable(a, b Key) bool { return a.Operation == b.Operation && a.Processes == b.Processes }

// joinSmall joins each group that is too small with the next one of its table, and a
// last one with the one before.
func joinSmall(in []group) []group {
	var out []group
	for _, g := range in {
		last := len(out) - 1
		if last >= 0 && sameTable(out[last].key, g.key) && out[last].sample.Len() < minCalls {
			out[last].join(g)
			continue
		}
		if last > 0 && out[last].sample.Len() < minCalls && sameTable(out[last-1].key, out[last].key) {
			out[last-1].join(out[last])
			out = out[:last]
		}
		out = append(out, g)
	}
	if last := len(out) - 1; last > 0 && out[last].sample.Len() < minCalls && sameTable(out[last-1].key, out[last].key) {
		out[last-1].join(out[last])
		out = out[:last]
	}
	return out
}

// join adds the calls of h.
func (g *group) join(h group) {
	g.classes = append(g.classes, h.classes...)
	g.bytes += h.bytes
	g.sample.Combine(h.sample)
}

// ReadProfile decodes a profile and checks its schema and order.
func ReadProfile(r io.Reader) (Profile, error) {
	var p Profile
	if err := json.NewDecoder(r).Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("fit: decoding a profile: %w", err)
	}
	if p.Schema != profileSchema {
		return Profile{}, fmt.Errorf("fit: schema %q is not %q", p.Schema, profileSchema)
	}
	if !(p.Quantile > 0 && p.Quantile <= 1) {
		return Profile{}, fmt.Errorf("fit: the profile's quantile is %v", p.Quantile)
	}
	for j, e := range p.Entries {
		if e.Bytes < 0 || e.Processes < 0 || e.TMin < 0 || e.TMax < e.TMin {
			return Profile{}, fmt.Errorf("fit: entry %d of the profile is not sound", j)
		}
		if j > 0 && compareKeys(p.Entries[j-1].Key, e.Key) >= 0 {
			return Profile{}, errors.New("fit: entries of the profile are not in order")
		}
	}
	return p, nil
}

// TMax returns T_f(p, b) in ns by bilinear interpolation between the entries around
// it, first along bytes for each of the two numbers of processes, then between
// these. Outside the entries the nearest edge stands and extrapolated is true.
// It returns -1 if the profile does not know the operation.
func (p Profile) TMax(k Key) (tMax int64, extrapolated bool) {
	rows := p.rows(k.Operation)
	if len(rows) == 0 {
		return -1, true
	}
	i, j := around(len(rows), func(i int) bool { return rows[i][0].Processes >= k.Processes })
	extrapolated = k.Processes < rows[i][0].Processes || k.Processes > rows[j][0].Processes
	low, out1 := alongBytes(rows[i], k.Bytes)
	high, out2 := alongBytes(rows[j], k.Bytes)
	x := weight(float64(k.Processes), float64(rows[i][0].Processes), float64(rows[j][0].Processes))
	return int64(low + x*(high-low) + 0.5), extrapolated || out1 || out2
}

// rows returns the entries of an operation, one slice for each number of processes.
func (p Profile) rows(operation string) (rows [][]Entry) {
	from := sort.Search(len(p.Entries), func(j int) bool { return p.Entries[j].Operation >= operation })
	for _, e := range p.Entries[from:] {
		if e.Operation != operation {
			break
		}
		if last := len(rows) - 1; last >= 0 && rows[last][0].Processes == e.Processes {
			rows[last] = append(rows[last], e)
			continue
		}
		rows = append(rows, []Entry{e})
	}
	return rows
}

// alongBytes interpolates in one row.
func alongBytes(row []Entry, bytes int64) (tMax float64, extrapolated bool) {
	i, j := around(len(row), func(i int) bool { return row[i].Bytes >= bytes })
	x := weight(float64(bytes), float64(row[i].Bytes), float64(row[j].Bytes))
	low, high := float64(row[i].TMax), float64(row[j].TMax)
	return low + x*(high-low), bytes < row[i].Bytes || bytes > row[j].Bytes
}

// around returns the neighbours of a place among n points: the last point before
// reached and the first at or after it, the nearest point twice outside.
func around(n int, reached func(int) bool) (i, j int) {
	j = sort.Search(n, reached)
	return max(min(j-1, n-1), 0), min(j, n-1)
}

// weight returns how far x has come from a to b, 0 to 1; 0 where a = b.
func weight(x, a, b float64) float64 { return min(max(ratio(x-a, b-a), 0), 1) }
