// Package gate decides conditions on the JSON document of a command: a path into the document, a comparison and a number.
package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"tracekit/trace"
)

// A Condition compares the number that a path into a document leads to with a limit.
type Condition struct {
	text  string
	path  []pathStep
	op    string
	limit float64
}

// String returns the condition as it was written.
func (c Condition) String() string { return c.text }

// ErrUndefined says that the path leads to a value that the trace does not define. All other errors of a path are mistakes of who
// wrote it.
var ErrUndefined = errors.New("it is not defined for this trace")

// conditionForm is a path, a comparison and a number. A path may hold what else looks like
// a comparison, in brackets.
var conditionForm = trace.Expression(`^\s*(.*[^<>=!\s])\s*(<=|>=|==|!=|<|>)\s*([^\s<>=!\]]+)\s*$`)

// Parse reads a condition such as efficiency.parallel_efficiency<0.8.
func Parse(s string) (Condition, error) {
	m := conditionForm().FindStringSubmatch(s)
	if m == nil {
		return Condition{}, errors.New("want PATH, one of < <= > >= == !=, and a number, as in 'efficiency.parallel_efficiency<0.8'")
	}
	path, err := parsePath(m[1])
	if err != nil {
		return Condition{}, err
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || math.IsInf(limit, 0) { // a gate that is always open, or never
		return Condition{}, fmt.Errorf("%q is not a number", m[3])
	}
	return Condition{text: s, path: path, op: m[2], limit: limit}, nil
}

// Tree returns a document as its JSON is read back, for Holds.
func Tree(document any) (tree any, err error) {
	text, err := json.Marshal(document)
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	return tree, err
}

// Holds reports whether the condition holds in a tree that Tree made, and returns the number that it was decided by; true is 1,
// false is 0. A path that leads to no number is an error: a gate that cannot be decided must not stay open unnoticed.
func (c Condition) Holds(tree any) (holds bool, value float64, err error) {
	if value, err = c.number(tree); err != nil {
		return false, 0, err
	}
	return c.compare(value), value, nil
}

// number returns the number that the path leads to.
func (c Condition) number(tree any) (float64, error) {
	v, err := follow(tree, c.path)
	if err != nil {
		return 0, err
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
		return 0, ErrUndefined
	case map[string]any:
		return 0, fmt.Errorf("this is a block, not a number; it has %s", listed(keysOf(v)))
	case []any:
		return 0, errors.New("this is a list, not a number; choose an element, as in call_sites[MPI_Allreduce halo.c:100].time_ns")
	default:
		return 0, fmt.Errorf("this is %v, not a number", v)
	}
}

// ByName refuses elements that are chosen by their number, for documents whose lists have no fixed
// order.
func (c Condition) ByName() error {
	for _, s := range c.path {
		if _, err := strconv.Atoi(s.key); s.choice && err == nil {
			return errors.New("the order of a comparison's lists is not fixed; choose the element by its words, " +
				"as in changes[solve own_ns].change or results[messages.count].change")
		}
	}
	return nil
}

func (c Condition) compare(v float64) bool {
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

// keysOf returns the keys of a block in order.
func keysOf(block map[string]any) []string { return slices.Sorted(maps.Keys(block)) }
