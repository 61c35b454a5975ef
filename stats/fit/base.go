package fit

import "math"

// Base says which of the measured points a profile has kept.
type Base struct {
	Tolerance float64 `json:"tolerance"` // asked for
	Error     float64 `json:"error"`     // the largest relative error of t_max that interpolation makes at a measured point
	Measured  int     `json:"measured"`  // points
}

// Thinned returns the profile with the base points alone: the fewest that a greedy choice finds with which T_f(p, b), interpolated,
// is nowhere further from a measured t_max than tolerance·t_max. So base points lie close where T_f bends. The corners of each
// operation stay. Between measured points nothing is known, and so nothing promised.
func (p Profile) Thinned(tolerance float64) Profile {
	out := p
	out.Entries, out.Base = []Entry{}, &Base{Tolerance: tolerance, Measured: len(p.Entries)}
	for rest := p.Entries; len(rest) > 0; {
		rows := p.rows(rest[0].Key)
		n := 0
		for _, row := range rows {
			n += len(row)
		}
		kept := thinned(rows, tolerance)
		surface := Profile{Entries: kept}
		for _, e := range rest[:n] {
			out.Base.Error = max(out.Base.Error, surface.off(e))
		}
		out.Entries, rest = append(out.Entries, kept...), rest[n:]
	}
	return out
}

// off returns by how much, relative to it, interpolation misses an entry's t_max.
func (p Profile) off(e Entry) float64 {
	at, _ := p.Limit(e.Key)
	return math.Abs(float64(at.TMax-e.TMax)) / max(float64(e.TMax), 1)
}

// thinned returns the base points of one operation in one role, whose rows are of one number of processes each. It begins with the first
// and the last row, and adds the row that is missed by most until none is missed; rows of their own are thinned before.
func thinned(rows [][]Entry, tolerance float64) (kept []Entry) {
	bases := make([][]Entry, len(rows))
	for i, row := range rows {
		bases[i] = thinnedRow(row, tolerance)
	}
	in := make([]bool, len(rows))
	in[0], in[len(rows)-1] = true, true
	for {
		kept = kept[:0]
		for i, base := range bases {
			if in[i] {
				kept = append(kept, base...)
			}
		}
		worst, most := -1, tolerance
		for i, row := range rows {
			for _, e := range row {
				if off := (Profile{Entries: kept}).off(e); off > most && !in[i] {
					worst, most = i, off
				}
			}
		}
		if worst < 0 {
			return kept
		}
		in[worst] = true
	}
}

// thinnedRow returns the base points of a row: its ends, and the point between two that is missed by most, until none is missed.
func thinnedRow(row []Entry, tolerance float64) []Entry {
	if len(row) < 3 {
		return row
	}
	ends := Profile{Entries: []Entry{row[0], row[len(row)-1]}}
	worst, most := 0, tolerance
	for i, e := range row[1 : len(row)-1] {
		if off := ends.off(e); off > most {
			worst, most = i+1, off
		}
	}
	if worst == 0 {
		return ends.Entries
	}
	left := thinnedRow(row[:worst+1], tolerance)
	return append(left[:len(left):len(left)], thinnedRow(row[worst:], tolerance)[1:]...)
}
