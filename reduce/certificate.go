package reduce

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Figure is one number of an analysis, of the full trace and of the reduced one.
type Figure struct {
	Metric     string   `json:"metric"`           // its path in the document of analyze
	Full       *float64 `json:"full"`             // null: the analysis has no such figure
	Reduced    *float64 `json:"reduced"`          // null: likewise
	Difference *float64 `json:"difference_share"` // (reduced - full) / |full|; null: full is 0 or null, and reduced is not the same
}

// Weight returns by how much the figure is wrong, from 0 to 1: the share, at most 1, also of
// one that came or went.
func (f Figure) Weight() float64 {
	if f.Difference == nil {
		return 1
	}
	return math.Min(math.Abs(*f.Difference), 1)
}

// Certify compares two documents of an analysis figure by figure: every number in them, but
// for those that describe the file, name something, or stand for single events. The worst
// difference comes first. nameOf names an element of a list that is an object.
func Certify(full, reduced any, nameOf func(element any) string) ([]Figure, error) {
	a, err := flatten(full, nameOf)
	if err != nil {
		return nil, err
	}
	b, err := flatten(reduced, nameOf)
	if err != nil {
		return nil, err
	}
	out := make([]Figure, 0, len(a))
	for path, x := range a {
		f := Figure{Metric: path, Full: &x}
		if y, ok := b[path]; ok {
			f.Reduced = &y
		}
		f.Difference = difference(f.Full, f.Reduced)
		out = append(out, f)
	}
	for path, y := range b {
		if _, ok := a[path]; !ok {
			out = append(out, Figure{Metric: path, Reduced: &y})
		}
	}
	slices.SortFunc(out, func(a, b Figure) int { return cmp.Or(cmp.Compare(b.size(), a.size()), cmp.Compare(a.Metric, b.Metric)) })
	return out, nil
}

// size orders figures: those that cannot be compared come first.
func (f Figure) size() float64 {
	if f.Difference == nil {
		return math.Inf(1)
	}
	return math.Abs(*f.Difference)
}

func difference(full, reduced *float64) *float64 {
	d := 0.0
	switch {
	case reduced == nil && *full != 0:
		d = -1
	case reduced == nil || *full == *reduced:
	case *full == 0:
		return nil
	default:
		d = (*reduced - *full) / math.Abs(*full)
	}
	return &d
}

// Error returns the error of a certificate: the mean of the figures' weights, but for those
// that are 0 before and after; 0 without figures.
func Error(figures []Figure) float64 {
	sum, n := 0.0, 0.0
	for _, f := range figures {
		if f.Full == nil || *f.Full != 0 || f.Weight() > 0 {
			sum, n = sum+f.Weight(), n+1
		}
	}
	return sum / math.Max(n, 1)
}

// flatten returns the figures of a document by path.
func flatten(document any, nameOf func(any) string) (map[string]float64, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	out := make(map[string]float64)
	for key, v := range tree {
		switch key {
		case "coverage", "findings", "selection", "schema":
		case "trace":
			if t, ok := v.(map[string]any); ok {
				collect(out, key+".duration_ns", t["duration_ns"], nameOf)
			}
		case "phases": // single ones are single events
			if p, ok := v.(map[string]any); ok {
				delete(p, "rows")
				collect(out, key, p, nameOf)
			}
		default:
			collect(out, key, v, nameOf)
		}
	}
	return out, weigh(out, text)
}

// weigh makes sums over sampled messages estimates of the whole run: those that the document estimates, and those over parts of the
// messages.
func weigh(figures map[string]float64, document []byte) error {
	var sampled struct {
		Trace struct {
			Reduced struct {
				Estimates []struct {
					Key   string
					Value float64
				}
			}
		}
	}
	if err := json.Unmarshal(document, &sampled); err != nil {
		return err
	}
	weight, sums := 1.0, []string{"comm_matrix[", "messages.latencies[", "messages.sizes["}
	for _, e := range sampled.Trace.Reduced.Estimates {
		if n := figures[e.Key]; e.Key == "messages.count" && n > 0 {
			weight = e.Value / n
		}
		sums = append(sums, strings.TrimSuffix(e.Key, "time_ns"))
	}
	for path := range figures {
		if slices.ContainsFunc(sums, func(s string) bool { return strings.HasPrefix(path, s) }) {
			figures[path] *= weight
		}
	}
	return nil
}

// isName tells the keys of numbers that are no figures: they name something, are an example, or say why figures are missing.
func isName(key string) bool {
	return key == "line" || key == "rank" || strings.HasSuffix(key, "_rank") || key == "from" || key == "to" ||
		key == "from_ns" || key == "to_ns" || key == "start_ns" || key == "top" || key == "ranks" || key == "evidence" ||
		key == "id" || key == "parent" || key == "callpath" || key == "callpaths" ||
		key == "incomplete_calls_ns" || key == "unselected_wait_ns"
}

// collect adds the figures of a value.
func collect(out map[string]float64, path string, v any, nameOf func(any) string) {
	switch v := v.(type) {
	case float64:
		out[path] = v
	case map[string]any:
		for key, x := range v {
			if !isName(key) {
				collect(out, path+"."+key, x, nameOf)
			}
		}
	case []any:
		seen := make(map[string]int)
		for i, x := range v {
			name := strconv.Itoa(i)
			if element, ok := x.(map[string]any); ok {
				name = nameOf(x)
				if words, ok := element["path"].([]any); ok { // call paths have no other name
					name = strings.TrimSuffix(fmt.Sprintln(words...), "\n")
				} else if _, ok := element["from"].(float64); ok { // classes of sizes, pairs of ranks
					name = fmt.Sprintf("from=%v to=%v", element["from"], element["to"])
				}
				if seen[name]++; seen[name] > 1 {
					name += "#" + strconv.Itoa(seen[name])
				}
			}
			collect(out, path+"["+name+"]", x, nameOf)
		}
	}
}
