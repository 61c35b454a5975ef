package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// A condition is a --fail-if gate: a dotted path into the JSON document, a comparison and
// a number.
type condition struct {
	text  string
	path  []string
	op    string
	limit float64
}

// gateFlags are the flags of commands whose document can make a gate.
type gateFlags struct {
	failIf     []string
	conditions []condition
}

func (f *gateFlags) add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.failIf, "fail-if", nil, "exit with 4 if this `condition` on the JSON document holds, such as 'efficiency.parallel_efficiency<0.8'; repeatable")
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

func parseCondition(s string) (condition, error) {
	form := regexp.MustCompile(`^\s*([A-Za-z0-9_.]+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$`)
	m := form.FindStringSubmatch(s)
	if m == nil {
		return condition{}, usagef("--fail-if %q: want PATH, one of < <= > >= == !=, and a number, as in 'efficiency.parallel_efficiency<0.8'", s)
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return condition{}, usagef("--fail-if %q: %q is not a number", s, m[3])
	}
	return condition{text: s, path: strings.Split(m[1], "."), op: m[2], limit: limit}, nil
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
		v, err := c.lookUp(tree)
		if err != nil {
			return nil, err
		}
		if c.holds(v) {
			reasons = append(reasons, fmt.Sprintf("--fail-if %s: it is %s", c.text, strconv.FormatFloat(v, 'g', 6, 64)))
		}
	}
	return reasons, nil
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

// lookUp follows the path from the top of the document, or from the one block at the
// least depth that has it.
func (c condition) lookUp(tree any) (float64, error) {
	name := strings.Join(c.path, ".")
	level := []any{tree}
	for len(level) > 0 {
		var found, next []any
		for _, node := range level {
			if v, ok := follow(node, c.path); ok {
				found = append(found, v)
			}
			next = append(next, blocks(node)...)
		}
		if len(found) > 1 {
			return 0, usagef("--fail-if %s: several blocks have %s; name it from the top, as in efficiency.parallel_efficiency", c.text, name)
		}
		if len(found) == 1 {
			switch v := found[0].(type) {
			case float64:
				return v, nil
			case nil:
				return 0, fmt.Errorf("--fail-if %s: %s is not defined for this trace", c.text, name)
			default:
				return 0, usagef("--fail-if %s: %s is not a number (%v)", c.text, name, describe(v))
			}
		}
		level = next
	}
	return 0, usagef("--fail-if %s: the document has no %s", c.text, name)
}

func follow(node any, path []string) (any, bool) {
	for _, key := range path {
		switch n := node.(type) {
		case map[string]any:
			v, ok := n[key]
			if !ok {
				return nil, false
			}
			node = v
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(n) {
				return nil, false
			}
			node = n[i]
		default:
			return nil, false
		}
	}
	return node, true
}

// blocks returns the objects directly below an object, in the order of their keys.
func blocks(node any) []any {
	m, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []any
	for _, k := range keys {
		if _, ok := m[k].(map[string]any); ok {
			out = append(out, m[k])
		}
	}
	return out
}

func describe(v any) string {
	switch v := v.(type) {
	case map[string]any, []any:
		return "it is a block"
	default:
		return fmt.Sprintf("it is %v", v)
	}
}
