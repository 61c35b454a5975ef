package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
)

// profileSchema is the first value of an encoded profile.
const profileSchema = "tracekit.profile/2"

// A Profile says how long calls of one machine may take: t_max for every MPI function
// over roles, processes and bytes, T_f(p, b). It encodes as JSON.
type Profile struct {
	Schema    string  `json:"schema"`
	Machine   string  `json:"machine"`
	Library   string  `json:"library"`           // MPI library and version, as its maker says
	Creator   string  `json:"creator,omitempty"` // the program that wrote the traces
	Processes int     `json:"processes"`         // of the run it was learned from
	Quantile  float64 `json:"quantile"`
	Base      *Base   `json:"base_points,omitempty"` // nil: all that were measured are kept
	Entries   []Entry `json:"entries"`               // ordered by operation, role, processes, bytes
}

// An Entry is one point of a profile.
type Entry struct {
	Key           // Bytes is the mean over the entry's calls, rounded down
	Calls int64   `json:"calls"`
	TMin  int64   `json:"t_min_ns"`
	TMax  int64   `json:"t_max_ns"`
	From  string  `json:"from"`            // as Result.From
	Model Family  `json:"model,omitempty"` // empty if none was accepted
	P     float64 `json:"p_value"`         // of the χ² test; 0 without a model
	// sizes that were joined; one: a size class of which the sizes are not known; none: calls of one size
	Pooled []int64 `json:"pooled,omitempty"`
	Few    bool    `json:"few,omitempty"` // fewer than 50 calls in all sizes together

	Unreliable bool `json:"unreliable,omitempty"` // as Result.Unreliable
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
	if p.Schema == "tracekit.profile/1" {
		return Profile{}, fmt.Errorf("fit: the profile has an older format (%s); make it again with 'tracekit fit'",
			p.Schema)
	}
	if p.Schema != profileSchema {
		return Profile{}, fmt.Errorf("fit: the file has schema %q, not %q; make a profile with 'tracekit fit -o FILE'", p.Schema, profileSchema)
	}
	if !(p.Quantile > 0 && p.Quantile <= 1) {
		return Profile{}, fmt.Errorf("fit: the profile's quantile is %v", p.Quantile)
	}
	for j, e := range p.Entries {
		if e.Bytes < 0 || e.Processes < 0 || e.TMin < 0 || e.TMax < e.TMin {
			return Profile{}, fmt.Errorf("fit: entry %d of the profile is not valid", j)
		}
		if j > 0 && CompareKeys(p.Entries[j-1].Key, e.Key) >= 0 {
			return Profile{}, errors.New("fit: entries of the profile are not in order")
		}
	}
	return p, nil
}

// A Limit is what a profile says of a key.
type Limit struct {
	TMin, TMax   int64 // ns
	Extrapolated bool  // the key lies outside the entries: that of the nearest edge
	Unreliable   bool  // an entry that it is made of is
}

// Limit returns T_f(p, b) by bilinear interpolation between the entries around it. It goes first along bytes for each of the two numbers of
// processes, then between these. Outside the entries the nearest edge stands. It is false if the profile does not know the operation in
// that role.
func (p Profile) Limit(k Key) (Limit, bool) {
	rows := p.rows(k)
	if len(rows) == 0 {
		return Limit{}, false
	}
	i, j := around(len(rows), func(i int) bool { return rows[i][0].Processes >= k.Processes })
	low, high := alongBytes(rows[i], k.Bytes), alongBytes(rows[j], k.Bytes)
	x := weight(float64(k.Processes), float64(rows[i][0].Processes), float64(rows[j][0].Processes))
	at := low.towards(high, x)
	return Limit{int64(at.tMin + 0.5), int64(at.tMax + 0.5),
		at.extrapolated || k.Processes < rows[i][0].Processes || k.Processes > rows[j][0].Processes, at.unreliable}, true
}

// Around returns between which t_max that of a key lies if T_f(p, b) does not turn around between the entries next to it: the least and the
// largest of theirs. Beyond all entries the nearest stands at one end, and at the other one what the last two promise. Exact says
// that the key is an entry, and the profile not an interpolation; so it is where it does not know the operation.
func (p Profile) Around(k Key) (low, high int64, exact bool) {
	rows := p.rows(k)
	if len(rows) == 0 {
		return 0, 0, true
	}
	i, j := around(len(rows), func(i int) bool { return rows[i][0].Processes >= k.Processes })
	if rows[j][0].Processes == k.Processes {
		i = j
	}
	ends, exact := []float64{}, false
	for _, row := range [][]Entry{rows[i], rows[j]} {
		a, b := around(len(row), func(i int) bool { return row[i].Bytes >= k.Bytes })
		if row[b].Bytes == k.Bytes {
			a = b
		}
		ends = append(ends, float64(row[a].TMax), float64(row[b].TMax))
		if a == b { // beyond the ends of the row
			x, y := row[max(min(a, len(row)-2), 0)], row[min(max(a, 1), len(row)-1)]
			ends = append(ends, onward(float64(x.TMax), float64(y.TMax), float64(x.Bytes), float64(y.Bytes), float64(k.Bytes)))
		}
		for _, e := range row {
			exact = exact || e.Processes == k.Processes && (e.Bytes == k.Bytes || slices.Contains(e.Pooled, k.Bytes))
		}
	}
	if i == j && len(rows) > 1 && rows[i][0].Processes != k.Processes {
		a, b := rows[max(min(i, len(rows)-2), 0)], rows[min(max(i, 1), len(rows)-1)]
		ends = append(ends, onward(alongBytes(a, k.Bytes).tMax, alongBytes(b, k.Bytes).tMax, float64(a[0].Processes),
			float64(b[0].Processes), float64(k.Processes)))
	}
	return int64(max(slices.Min(ends), 0)), int64(min(slices.Max(ends), math.MaxInt64/4)), exact
}

// onward returns what a line through two points promises at x; the nearest of them if they are one.
func onward(y0, y1, x0, x1, x float64) float64 {
	if x0 == x1 {
		return y0
	}
	return y0 + (x-x0)/(x1-x0)*(y1-y0)
}

// rows returns the entries of an operation in a role, one slice for each number of processes.
func (p Profile) rows(k Key) (rows [][]Entry) {
	first := func(k Key) int {
		return sort.Search(len(p.Entries), func(j int) bool { return CompareKeys(p.Entries[j].Key, k) >= 0 })
	}
	k.Processes, k.Bytes = 0, 0
	for from := first(k); from < len(p.Entries); {
		e := p.Entries[from].Key
		if e.Operation != k.Operation || e.Role != k.Role {
			break
		}
		e.Processes, e.Bytes = e.Processes+1, 0
		to := first(e)
		rows = append(rows, p.Entries[from:to])
		from = to
	}
	return rows
}

// A point lies between entries.
type point struct {
	tMin, tMax               float64
	extrapolated, unreliable bool
}

// towards returns the point that is a share x of the way from a to b.
func (a point) towards(b point, x float64) point {
	return point{a.tMin + x*(b.tMin-a.tMin), a.tMax + x*(b.tMax-a.tMax),
		x < 1 && a.extrapolated || x > 0 && b.extrapolated, x < 1 && a.unreliable || x > 0 && b.unreliable}
}

// alongBytes interpolates in one row.
func alongBytes(row []Entry, bytes int64) point {
	i, j := around(len(row), func(i int) bool { return row[i].Bytes >= bytes })
	at := func(e Entry) point { return point{float64(e.TMin), float64(e.TMax), false, e.Unreliable} }
	out := at(row[i]).towards(at(row[j]), weight(float64(bytes), float64(row[i].Bytes), float64(row[j].Bytes)))
	out.extrapolated = bytes < row[i].Bytes || bytes > row[j].Bytes
	return out
}

// around returns the neighbours of a place among n points: the last point before
// reached and the first at or after it, the nearest point twice outside.
func around(n int, reached func(int) bool) (i, j int) {
	j = sort.Search(n, reached)
	return max(min(j-1, n-1), 0), min(j, n-1)
}

// weight returns how far x has come from a to b, 0 to 1; 0 where a = b.
func weight(x, a, b float64) float64 { return min(max(ratio(x-a, b-a), 0), 1) }

// Write writes a profile as JSON, one entry in a line.
func (p *Profile) Write(w io.Writer) error {
	head := *p
	head.Entries = []Entry{}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	// The head ends in `"entries": []` and a brace.
	text = text[:len(text)-len("]\n}")]
	for i, e := range p.Entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n    "...), line...)
	}
	_, err = w.Write(append(text, "\n  ]\n}\n"...))
	return err
}
