package page

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
)

// lineCalls are the calls of one line as they are drawn: a histogram for each of the keys that
// have the most of them, with the law that was fitted to all calls of the key.
type lineCalls struct {
	place
	Operation string    `json:"operation"`
	Keys      []keyBars `json:"keys"`
	KeysOf    int       `json:"keys_of"` // how many there are: a part is kept
}

// A place is where calls are made, as the rows of the document name it.
type place struct {
	Region string `json:"region"`
	File   string `json:"file"`
	Line   uint32 `json:"line"`
}

type keyBars struct {
	Role       string    `json:"role"`
	Processes  uint32    `json:"processes"`
	Bytes      uint64    `json:"bytes"`
	Calls      uint64    `json:"calls"`
	Origin     int64     `json:"origin_ns"`
	Width      int64     `json:"width_ns"`
	Counts     []uint64  `json:"counts"`             // by bar; the last are beyond all
	Expected   []float64 `json:"expected,omitempty"` // by the law, of as many calls as the line has
	Law        string    `json:"law"`                // "" if none is accepted
	PValue     *float64  `json:"p_value"`
	TMaxNs     int64     `json:"t_max_ns"`
	From       string    `json:"from"` // of t_max
	Unreliable bool      `json:"unreliable"`
}

// keysDrawn is how many keys of a line have a histogram.
const keysDrawn = 6

// histograms makes what is drawn of lines.
func histograms(a *analysis.Result) []lineCalls {
	out := []lineCalls{}
	if a == nil || a.Overhead == nil {
		return out
	}
	for _, l := range a.LineCalls {
		x := lineCalls{place: placeOf(l.SourceLine), Operation: l.Operation, KeysOf: len(l.Keys)}
		for _, k := range l.Keys[:min(len(l.Keys), keysDrawn)] {
			x.Keys = append(x.Keys, barsOf(&a.Overhead.Keys[k.Key], &k))
		}
		if len(x.Keys) > 0 {
			out = append(out, x)
		}
	}
	return out
}

func barsOf(k *document.OverheadKey, l *overhead.LineKey) keyBars {
	out := keyBars{Role: k.Role, Processes: k.Processes, Bytes: k.Bytes, Calls: l.Calls, Origin: l.Bars.Origin, Width: l.Bars.Width,
		Counts: l.Counts,
		Law:    string(k.Model), PValue: k.PValue, TMaxNs: k.TMaxNs, From: k.From, Unreliable: k.Unreliable}
	if r := &k.Fit; k.Model != "" && r.Chosen >= 0 && k.Calls > 0 {
		share := float64(l.Calls) / float64(k.Calls)
		for _, e := range r.Expected(r.Chosen, r.Estimate, l.Bars) {
			out.Expected = append(out.Expected, rounded(e*share))
		}
	}
	return out
}

// rounded leaves a number as many digits as a picture needs.
func rounded(x float64) (out float64) {
	_, _ = fmt.Sscan(fmt.Sprintf("%.3g", x), &out)
	return out
}

func placeOf(l field.SourceLine) place {
	return place{Region: string(l.Region), File: string(l.File), Line: uint32(l.Line)}
}
