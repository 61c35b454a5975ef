package gate

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tracekit/document/words"
	"tracekit/trace"
)

// A path leads from the top of a JSON document to a value: keys with dots between them,
// each of which may be followed by the choice of an element of a list in brackets.
//
//	efficiency.parallel_efficiency
//	wait_states.late_sender.share
//	call_sites[MPI_Allreduce halo.c:100].time_ns
//	comm_matrix[from=0 to=1].bytes
//	efficiency.useful_ns[3]

// A pathStep is a key of a block, or the choice of an element of a list.
type pathStep struct {
	key    string
	choice bool
}

func parsePath(s string) ([]pathStep, error) {
	var steps []pathStep
	rest := s
	for rest != "" {
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			return nil, fmt.Errorf("%q is not a path: a key is missing before %q", s, rest)
		}
		steps = append(steps, pathStep{key: rest[:n]})
		rest = rest[n:]
		for strings.HasPrefix(rest, "[") {
			end := closingSquare(rest)
			if end < 0 {
				return nil, fmt.Errorf("%q is not a path: [ is not closed", s)
			}
			steps = append(steps, pathStep{key: strings.TrimSpace(rest[1:end]), choice: true})
			rest = rest[end+1:]
		}
		if rest == "" {
			break
		}
		if rest[0] != '.' || len(rest) == 1 {
			return nil, fmt.Errorf("%q is not a path: want .KEY or [ELEMENT] at %q", s, rest)
		}
		rest = rest[1:]
	}
	return steps, nil
}

// closingSquare returns where the square bracket that a text begins with is closed.
func closingSquare(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// follow follows a path from the top. The error names what could have been meant.
func follow(tree any, steps []pathStep) (any, error) {
	node, at := tree, ""
	for _, s := range steps {
		var err error
		if s.choice {
			node, err = choose(node, at, s.key)
			at += "[" + s.key + "]"
		} else {
			node, err = descend(tree, node, at, s.key)
			at = strings.TrimPrefix(at+"."+s.key, ".")
		}
		if err != nil {
			return nil, err
		}
	}
	return node, nil
}

// descend returns the value of a key of a block.
func descend(tree, node any, at, key string) (any, error) {
	switch n := node.(type) {
	case map[string]any:
		if v, ok := n[key]; ok {
			return v, nil
		}
		what := "the document has no top-level key " + key
		if at != "" {
			what = at + " has no key " + key
		}
		if same := pathsTo(tree, key, ""); len(same) > 0 {
			return nil, fmt.Errorf("%s; did you mean %s?", what, alternatives(same))
		}
		return nil, fmt.Errorf("%s; it has %s", what, listed(keysOf(n)))
	case []any:
		return nil, fmt.Errorf("%s is a list: choose an element, as in %s[%s].%s", at, at, example(n), key)
	case nil:
		return nil, undefined(at)
	}
	return nil, fmt.Errorf("%s is not a block and has no %s", at, key)
}

// pathsTo returns the paths to all blocks' keys of that name, in order of keys.
func pathsTo(node any, key, at string) (found []string) {
	if list, ok := node.([]any); ok && len(list) > 0 {
		return pathsTo(list[0], key, at+"[…]")
	}
	block, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	for _, k := range keysOf(block) {
		here := strings.TrimPrefix(at+"."+k, ".")
		if k == key {
			found = append(found, here)
		}
		found = append(found, pathsTo(block[k], key, here)...)
	}
	return found
}

// undefined is the error of a path that leads through null.
func undefined(at string) error { return fmt.Errorf("%s is not defined for this trace", at) }

// choose returns the one element of a list that is meant: by its number from 0, or by words
// that each name a value of the element or, as KEY=VALUE, the value of a key.
func choose(node any, at, choice string) (any, error) {
	list, ok := node.([]any)
	if node == nil {
		return nil, undefined(at)
	}
	if !ok {
		return nil, fmt.Errorf("%s is not a list and has no element [%s]", at, choice)
	}
	if i, err := strconv.Atoi(choice); err == nil {
		if i < 0 || i >= len(list) {
			return nil, fmt.Errorf("%s has no element [%d]; it has %s, from [0] on", at, i, words.Plural(len(list), "element", "elements"))
		}
		return list[i], nil
	}
	var found []any
	for _, e := range list {
		if fits(choice, valuesOf(e)) {
			found = append(found, e)
		}
	}
	if len(found) == 0 && strings.HasPrefix(at, "findings") && isCode(choice) {
		return map[string]any{"count": 0.0}, nil // what was looked for and not found
	}
	switch len(found) {
	case 0:
		if len(list) == 0 {
			return nil, fmt.Errorf("%s is empty: it has no element [%s]", at, choice)
		}
		return nil, fmt.Errorf("%s has no element [%s]; it has, for example, %s", at, choice, elements(at, list))
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%s has %d elements [%s]: %s", at, len(found), choice, elements(at, found))
}

// isCode reports whether a word is the code of a finding.
func isCode(word string) bool {
	return slices.ContainsFunc(trace.Codes(), func(i trace.CodeInfo) bool { return string(i.Code) == word })
}

// fits reports whether a choice consists of values of an element and blanks. Values may
// hold blanks themselves.
func fits(choice string, values []string) bool {
	if choice == "" {
		return true
	}
	for _, v := range values {
		rest, ok := strings.CutPrefix(choice, v)
		if ok && v != "" && (rest == "" || rest[0] == ' ') && fits(strings.TrimSpace(rest), values) {
			return true
		}
	}
	return false
}

// valuesOf returns the words that an element may be chosen by.
func valuesOf(element any) []string {
	block, ok := element.(map[string]any)
	if !ok {
		return nil
	}
	var out []string
	for _, k := range keysOf(block) {
		switch v := block[k].(type) {
		case string:
			out = append(out, v, k+"="+v)
		case float64:
			out = append(out, k+"="+strconv.FormatFloat(v, 'f', -1, 64))
		case nil:
			out = append(out, k+"=null")
		case map[string]any: // the ends of a pair of lines
			for _, inner := range valuesOf(v) {
				out = append(out, k+"."+inner)
			}
		}
	}
	if file, ok := block["file"].(string); ok {
		out = append(out, path.Base(file))
		if line, ok := block["line"].(float64); ok {
			at := ":" + strconv.FormatFloat(line, 'f', -1, 64)
			out = append(out, file+at, path.Base(file)+at)
		}
	}
	return out
}

// identifying are the keys whose values name an element, in the order in which people say
// them.
func identifying() []string {
	return []string{"code", "operation", "name", "region", "file", "role", "processes", "bytes", "from", "to", "id", "rank", "metric"}
}

// example returns words that an element of a list can be chosen by.
func example(list []any) string {
	if len(list) == 0 {
		return "0"
	}
	return NameOf(list[0])
}

// NameOf returns words that an element of a list of a document can be chosen by: the values of its identifying keys, "0" if it has none.
func NameOf(element any) string {
	block, ok := element.(map[string]any)
	if !ok {
		return "0"
	}
	var words []string
	_, atLine := block["file"]
	for _, k := range identifying() {
		switch v := block[k].(type) {
		case string:
			if k == "file" {
				v = path.Base(v)
				if line, ok := block["line"].(float64); ok {
					v += ":" + strconv.FormatFloat(line, 'f', -1, 64)
				}
			}
			words = append(words, v)
		case float64:
			if !atLine { // where there is none, numbers tell elements apart
				words = append(words, k+"="+strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
	}
	if len(words) == 0 {
		return "0"
	}
	return strings.Join(words, " ")
}

// mostListed is how many candidates a message names.
const mostListed = 8

// elements lists elements for a message.
func elements(at string, list []any) string {
	var names []string
	for _, e := range list[:min(len(list), mostListed)] {
		names = append(names, at+"["+NameOf(e)+"]")
	}
	if more := len(list) - len(names); more > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return alternatives(names)
}

// listed lists keys for a message.
func listed(keys []string) string {
	if len(keys) == 0 {
		return "nothing"
	}
	return strings.Join(keys, ", ")
}

// alternatives joins what may be meant.
func alternatives(names []string) string {
	if len(names) > mostListed {
		return strings.Join(names[:mostListed], ", ") + fmt.Sprintf(" and %d more", len(names)-mostListed)
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
