package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/spf13/pflag"
)

// A condition is a --fail-if gate: a path into the JSON document, a comparison and a number.
type condition struct {
	text  string
	path  []pathStep
	op    string
	limit float64
}

// gateFlags are the flags of commands whose document can make a gate.
type gateFlags struct {
	failIf     []string
	conditions []condition
}

func (f *gateFlags) add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.failIf, "fail-if", nil, "exit with 4 if this `condition` on the JSON document holds, such as 'efficiency.parallel_efficiency<0.8' or 'call_sites[MPI_Allreduce halo.c:100].time_ns>1e9'; repeatable")
}

func (f *gateFlags) validate() error {
	f.conditions = nil
	for _, s := range f.failIf {
		c, err := parseCondition(s)
		if err != nil {
			return err
		}
		f.conditions = append(f.conditions, c)
	}
	return nil
}

// conditionForm is a path, a comparison and a number. A path may hold what else looks like
// a comparison, in brackets.
var conditionForm = regexp.MustCompile(`^\s*(.*[^<>=!\s])\s*(<=|>=|==|!=|<|>)\s*([^\s<>=!\]]+)\s*$`)

func parseCondition(s string) (condition, error) {
	m := conditionForm.FindStringSubmatch(s)
	if m == nil {
		return condition{}, usagef("--fail-if %q: want PATH, one of < <= > >= == !=, and a number, as in 'efficiency.parallel_efficiency<0.8'", s)
	}
	path, err := parsePath(m[1])
	if err != nil {
		return condition{}, usagef("--fail-if %q: %w", s, err)
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || math.IsInf(limit, 0) { // a gate that is always open, or never
		return condition{}, usagef("--fail-if %q: %q is not a number", s, m[3])
	}
	return condition{text: s, path: path, op: m[2], limit: limit}, nil
}

// gate is for readFlags.finish.
func (f *gateFlags) gate(document any) func() ([]string, error) {
	return func() ([]string, error) { return failing(document, f.conditions) }
}

// failing returns a line for each condition that holds in the document. A path that leads
// to no number is an error: a gate that cannot be decided must not stay open unnoticed.
func failing(document any, conditions []condition) ([]string, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	var reasons []string
	for _, c := range conditions {
		v, err := c.number(tree)
		if err != nil {
			return nil, err
		}
		if c.holds(v) {
			reasons = append(reasons, fmt.Sprintf("--fail-if %s: it is %s", c.text, strconv.FormatFloat(v, 'g', 6, 64)))
		}
	}
	return reasons, nil
}

// number returns the number that the path leads to.
func (c condition) number(tree any) (float64, error) {
	v, err := follow(tree, c.path)
	if err != nil {
		return 0, usagef("--fail-if %s: %w", c.text, err)
	}
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool: // true is 1
		if v {
			return 1, nil
		}
		return 0, nil
	case nil:
		return 0, fmt.Errorf("--fail-if %s: it is not defined for this trace", c.text)
	case map[string]any:
		return 0, usagef("--fail-if %s: that is a block, not a number; it has %s", c.text, listed(sortedKeys(v)))
	case []any:
		return 0, usagef("--fail-if %s: that is a list, not a number; choose an element, as in call_sites[MPI_Allreduce halo.c:100].time_ns", c.text)
	default:
		return 0, usagef("--fail-if %s: that is %v, not a number", c.text, v)
	}
}

// byName refuses elements that are chosen by their number, for documents whose lists have no fixed
// order.
func (c condition) byName() error {
	for _, s := range c.path {
		if _, err := strconv.Atoi(s.key); s.choice && err == nil {
			return usagef("--fail-if %s: the order of a comparison's lists is not fixed; choose the element by its words, as in changes[solve own_ns].change or results[messages.count].change", c.text)
		}
	}
	return nil
}

func (c condition) holds(v float64) bool {
	switch c.op {
	case "<":
		return v < c.limit
	case "<=":
		return v <= c.limit
	case ">":
		return v > c.limit
	case ">=":
		return v >= c.limit
	case "==":
		return v == c.limit
	}
	return v != c.limit
}
