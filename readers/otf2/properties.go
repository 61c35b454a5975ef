package otf2

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// The reference library refuses an archive if the name of a property in its anchor file is
// not a namespace, "::" and a name, each of letters, digits and underscores. Properties of
// other names go into one of ours: a JSON object of their names and values.
const otherProperties = "TRACEKIT::PROPERTIES"

var propertyName = regexp.MustCompile(`^[A-Za-z0-9_]+::[A-Za-z0-9_]+$`)

// packProperties returns the properties of an anchor file, in the order of their names.
func packProperties(all map[string]string) (list []property) {
	others := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if propertyName.MatchString(name) && name != otherProperties {
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
