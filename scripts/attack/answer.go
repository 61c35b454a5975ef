package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// An answer is what a command said and wrote about a trace.
type answer struct {
	sum      [sha256.Size]byte // of document without findings, and of all files
	findings map[string]uint64 // by code: how many
	losses   map[string]string // by code: all that is said of them, unless it is information
}

// A finding as documents have it.
type finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Count    uint64 `json:"count"`
	Text     string `json:"text"`
}

// others are the keys of documents that hold no result: how large files are, where a page is.
var others = []string{"bytes", "sizes", "url"}

// folders are those in which a command finds the sound trace and the mutants.
var folders = regexp.MustCompile(`\b(` + sound + `|` + first + `|` + again + `)/`)

// readAnswer takes a document and the files beside it apart. An error says which of them is
// none of its format.
func readAnswer(document []byte, files []file) (answer, error) {
	a := answer{findings: make(map[string]uint64), losses: make(map[string]string)}
	h := sha256.New()
	if err := a.readDocument(h, document); err != nil {
		return a, err
	}
	for _, f := range files {
		if err := wellFormed(f); err != nil {
			return a, fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Fprintf(h, "%s %d\n", f.name, len(f.data))
		h.Write(f.data)
	}
	h.Sum(a.sum[:0])
	return a, nil
}

func (a *answer) readDocument(h hash.Hash, document []byte) error {
	var keys map[string]json.RawMessage
	if !utf8.Valid(document) {
		return errors.New("the document is no UTF-8")
	}
	if err := json.Unmarshal(document, &keys); err != nil {
		return fmt.Errorf("the document is no JSON: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(others, key) {
			continue
		}
		if !strings.HasPrefix(key, "findings") {
			fmt.Fprintln(h, key)
			h.Write(keys[key])
			continue
		}
		var list []finding
		if err := json.Unmarshal(keys[key], &list); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		for _, f := range list {
			code := key + " " + f.Severity + " " + f.Code
			a.findings[code] += f.Count
			if f.Severity != "info" {
				a.losses[code] += folders.ReplaceAllString(f.Text, "") + "\n" // of several traces
			}
		}
	}
	return nil
}

// wellFormed checks what a command wrote as far as the standard library knows it.
func wellFormed(f file) error {
	switch {
	case strings.HasSuffix(f.name, ".json") && !json.Valid(f.data):
		return errors.New("it is no JSON")
	case strings.HasSuffix(f.name, ".svg"):
		for d := xml.NewDecoder(bytes.NewReader(f.data)); ; {
			if _, err := d.RawToken(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// more returns the findings of a that b has not, has fewer of, or tells of another record: the
// weightiest severity and the codes.
func (a answer) more(b answer) (severity string, codes []string) {
	for _, key := range slices.Sorted(maps.Keys(a.findings)) {
		if a.findings[key] <= b.findings[key] && a.losses[key] == b.losses[key] {
			continue
		}
		part := strings.Fields(key)
		codes = append(codes, part[2])
		if severity == "" || part[1] != "info" {
			severity = part[1]
		}
	}
	return severity, codes
}

// controlCharacter returns the first one that a terminal would obey, but for line ends and
// tabulators, or what is no UTF-8; "" if there is none.
func controlCharacter(text []byte) string {
	for at := 0; at < len(text); {
		c, n := utf8.DecodeRune(text[at:])
		if c == utf8.RuneError && n == 1 || c < ' ' && c != '\n' && c != '\t' || c >= 0x7F && c < 0xA0 {
			return fmt.Sprintf("%q at %d", text[at:at+n], at)
		}
		at += n
	}
	return ""
}
