package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/reduce"
	"tracekit/report/show"
)

// A requirement is a bound for the differences of the figures of a certificate.
type requirement struct {
	text  string
	path  string // of figures: a path and all below it; "": all figures
	limit float64
	equal bool // the limit itself is allowed
}

var requirementForm = regexp.MustCompile(`^\s*(.*[^<=\s])\s*(<=|<)\s*([0-9.eE+-]+)\s*(%?)\s*$`)

func parseRequirement(s string) (requirement, error) {
	m := requirementForm.FindStringSubmatch(s)
	if m == nil {
		return requirement{}, errors.New("want 'difference<1%', or a path into the document of analyze in place of difference")
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || limit < 0 {
		return requirement{}, fmt.Errorf("%q is not a share such as 1%%", m[3])
	}
	if m[4] == "%" {
		limit /= 100
	}
	r := requirement{text: s, path: m[1], limit: limit, equal: m[2] == "<="}
	if r.path == "difference" {
		r.path = ""
	}
	return r, nil
}

// covers reports whether a requirement is about a figure.
func (r requirement) covers(metric string) bool {
	rest, ok := strings.CutPrefix(metric, r.path)
	return ok && (r.path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// holds reports whether a figure is as good as required.
func (r requirement) holds(f reduce.Figure) bool {
	if f.Difference == nil {
		return false
	}
	d := math.Abs(*f.Difference)
	return d < r.limit || r.equal && d == r.limit
}

// failing returns a line for each requirement that does not hold.
func failing(doc *outcome.Reduce, requirements []requirement) (reasons []string, err error) {
	for _, r := range requirements {
		covered, worse, worst := 0, 0, ""
		for _, f := range doc.Certificate {
			if !r.covers(f.Metric) {
				continue
			}
			covered++
			if !r.holds(f) {
				if worse++; worse == 1 {
					worst = f.Metric + " by " + show.Difference(f)
				}
			}
		}
		if covered == 0 {
			return nil, cli.Usagef("--require %s: the certificate has no figure %s", r.text, r.path)
		}
		if worse > 0 {
			reasons = append(reasons, fmt.Sprintf("--require %s: %s of %s differ by more; the worst is %s",
				r.text, words.Count(worse), words.Plural(covered, "figure", "figures"), worst))
		}
	}
	return reasons, nil
}
