package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var numbered = regexp.MustCompile(`\[\d+\]`)

// flatten calls add with the path of each value in a document: keys with dots between them, and
// numbers of elements in brackets. A list itself has its length as value.
func flatten(path string, node any, add func(path, kind, value string)) {
	switch node := node.(type) {
	case map[string]any:
		add(path, "object", "object")
		for key, value := range node {
			flatten(strings.TrimPrefix(path+"."+key, "."), value, add)
		}
	case []any:
		add(path, "list", fmt.Sprintf("list of %d", len(node)))
		for i, value := range node {
			flatten(fmt.Sprintf("%s[%d]", path, i), value, add)
		}
	case json.Number:
		add(path, "number", node.String())
	case bool:
		add(path, "bool", fmt.Sprint(node))
	case string:
		add(path, "string", strconv.Quote(node))
	default:
		add(path, "null", "null")
	}
}

// documentParts returns, of a document, the values at the paths of a golden's lines "path = value", in
// their order, and the kinds of values of all its paths, those of all elements of a list together.
func documentParts(t *testing.T, document, lines string) (values, keys string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(document))
	d.UseNumber() // as they are written
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	all, kinds := make(map[string]string), make(map[string]map[string]bool)
	flatten("", tree, func(path, kind, value string) {
		all[path] = value
		path = numbered.ReplaceAllString(path, "[]")
		if kinds[path] == nil {
			kinds[path] = make(map[string]bool)
		}
		kinds[path][kind] = true
	})
	for line := range strings.Lines(lines) {
		path, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		value, ok := all[path]
		if !ok {
			t.Errorf("the document has no %s", path)
		}
		values += path + " = " + value + "\n"
	}
	delete(kinds, "") // the document itself
	for _, path := range slices.Sorted(maps.Keys(kinds)) {
		keys += path + ": " + strings.Join(slices.Sorted(maps.Keys(kinds[path])), " or ") + "\n"
	}
	return values, keys
}
