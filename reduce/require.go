package reduce

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tracekit/trace"
)

// A Requirement is a bound for the differences of the figures of a certificate.
type Requirement struct {
	Text  string // as it was written
	Path  string // of figures: a path and all below it; "": all figures
	limit float64
	equal bool // the limit itself is allowed
}

var requirementForm = trace.Expression(`^\s*(.*[^<=\s])\s*(<=|<)\s*([0-9.eE+-]+)\s*(%?)\s*$`)

// ParseRequirement reads a bound such as difference<1%, or one with a path in place of difference.
func ParseRequirement(s string) (Requirement, error) {
	m := requirementForm().FindStringSubmatch(s)
	if m == nil {
		return Requirement{}, errors.New("want 'difference<1%', or a path into the document of analyze in place of difference")
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || limit < 0 {
		return Requirement{}, fmt.Errorf("%q is not a share such as 1%%", m[3])
	}
	if m[4] == "%" {
		limit /= 100
	}
	r := Requirement{Text: s, Path: m[1], limit: limit, equal: m[2] == "<="}
	if r.Path == "difference" {
		r.Path = ""
	}
	return r, nil
}

// Covers reports whether a requirement is about a figure.
func (r Requirement) Covers(metric string) bool {
	rest, ok := strings.CutPrefix(metric, r.Path)
	return ok && (r.Path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Holds reports whether a figure is as good as required.
func (r Requirement) Holds(f Figure) bool {
	if f.Difference == nil {
		return false
	}
	d := math.Abs(*f.Difference)
	return d < r.limit || r.equal && d == r.limit
}
