package otf2

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The reference library refuses an archive if the name of a property in its anchor file is
// not a namespace, "::" and a name, each of letters, digits and underscores. Properties of
// other names go into one of ours: a JSON object of their names and values.
const otherProperties = "TRACEKIT::PROPERTIES"

// isPropertyName reports whether the reference library takes a name.
func isPropertyName(name string) bool {
	namespace, rest, ok := strings.Cut(name, "::")
	foreign := func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return ok && namespace != "" && rest != "" && !strings.ContainsFunc(namespace+rest, foreign)
}

// packProperties returns the properties of an anchor file, in the order of their names.
func packProperties(all map[string]string) (list []property) {
	others := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if isPropertyName(name) && name != otherProperties {
			list = append(list, property{name, all[name]})
		} else {
			others[name] = all[name]
		}
	}
	if len(others) > 0 {
		text, _ := json.Marshal(others) // strings always have a JSON form
		list = append(list, property{otherProperties, string(text)})
	}
	return list
}

// unpackProperties is the inverse of packProperties. What is not a JSON object of texts is
// kept as it is.
func unpackProperties(list []property) map[string]string {
	all := make(map[string]string)
	for _, p := range list {
		var others map[string]string
		if p.name == otherProperties && json.Unmarshal([]byte(p.value), &others) == nil {
			maps.Copy(all, others)
		} else {
			all[p.name] = p.value
		}
	}
	return all
}
