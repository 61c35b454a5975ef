package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
)

// profileSchema is the first value of an encoded profile.
const profileSchema = "tracekit.profile/1"

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

// ProfileOf returns the profile of groups that were fitted with the same options. Machine,
// Library, Creator and Processes are the caller's to set.
func ProfileOf(groups []Group, o Options) Profile {
	p := Profile{Schema: profileSchema, Quantile: o.defaults().Quantile, Entries: []Entry{}}
	for _, g := range groups {
		p.Entries = append(p.Entries, g.Entry)
	}
	return p
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
