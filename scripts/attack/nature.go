package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// byNature says why a format cannot tell that the content of a mutant is not what was
// recorded; "" if it can. It judges by the mutated file alone, and by what the format's own
// definition asks of a file, not by what the reader thinks of it. The rules and their reasons
// are in docs/ATTACK.md.
func byNature(name string, data []byte, mended bool) string {
	switch {
	case strings.HasSuffix(name, ".gz") && mended:
		plain, err := unzip(data)
		if err != nil {
			return ""
		}
		return byNature(strings.TrimSuffix(name, ".gz"), plain, true)
	case strings.HasSuffix(name, ".json") && isJSON(data):
		return "JSON"
	case strings.HasSuffix(name, ".prv") && isParaver(data):
		return "Paraver"
	case strings.HasSuffix(name, ".pcf") || strings.HasSuffix(name, ".row"):
		return "labels"
	case mended:
		return "mended"
	}
	return ""
}

// isJSON reports whether a file is JSON, one value or one on each line, or an array whose end
// is missing, which Chrome's format allows.
func isJSON(data []byte) bool {
	text := bytes.TrimRight(bytes.TrimSpace(data), ",")
	if json.Valid(data) || json.Valid(append(bytes.Clone(text), ']')) {
		return true
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(bytes.TrimSpace(line), ",")
		if len(line) > 0 && len(line) != 1 && !json.Valid(line) {
			return false
		}
	}
	return true
}

var paraverLine = regexp.MustCompile(`^(#.*|c:\d+(:\d+)*|i(:\d+)+|1(:\d+){7}|2(:\d+){5}(:\d+:\d+)+|3(:\d+){14})?$`)

// isParaver reports whether all lines of a trace are records as the format defines them.
func isParaver(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("#Paraver (")) {
		return false
	}
	for line := range bytes.Lines(data) {
		if !paraverLine.Match(bytes.TrimRight(line, "\r\n")) {
			return false
		}
	}
	return true
}
