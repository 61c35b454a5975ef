package otf2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// anchor is the content of the anchor file (section 4 of the format).
type anchor struct {
	format      uint8
	traceFormat uint8
	version     [3]uint8
	eventChunk  uint64
	defChunk    uint64
	substrate   uint8
	compression uint8
	locations   uint64
	definitions uint64
	machine     string
	creator     string
	description string
	properties  []property
	traceID     uint64
	snapshots   uint32
	thumbnails  uint32
	trailing    int64 // offset of the first byte behind the end mark; -1: none
	noEnd       bool  // the end mark is missing
	bigEndian   bool
}

type property struct{ name, value string }

const magic = "OTF2\x00"

// isAnchor reports whether a file that begins with head is an OTF2 anchor file.
func isAnchor(head []byte) bool {
	return len(head) >= 2+len(magic) && head[0] == idHeader &&
		(head[1] == markLittle || head[1] == markBig) && string(head[2:2+len(magic)]) == magic
}

// Sniff reports whether a path is an archive, sound or not: head is how its file begins, nil
// if it is a directory.
func Sniff(path string, head []byte) bool {
	if head != nil {
		return isAnchor(head)
	}
	_, err := findAnchor(path)
	return !errors.Is(err, trace.ErrNotATrace)
}

// findAnchor returns the anchor file of the archive in a directory: the only *.otf2 file,
// or traces.otf2 among several. The error wraps trace.ErrNotATrace if there is none.
func findAnchor(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	found := anchorsOf(names)
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no .otf2 file in %s: %w", dir, trace.ErrNotATrace)
	case 1:
		return filepath.Join(dir, found[0]), nil
	}
	return "", fmt.Errorf("several archives in %s: name one of %s", dir, strings.Join(found, ", "))
}

// anchorsOf returns the names among those in a directory that an anchor file of the archive in it may
// have: traces.otf2, else all that end in .otf2.
func anchorsOf(names []string) []string {
	if slices.Contains(names, "traces.otf2") {
		return []string{"traces.otf2"}
	}
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasSuffix(name, ".otf2") })
	slices.Sort(found)
	return found
}

// maxAnchor bounds the size of anchor files: texts and properties, a few hundred bytes.
const maxAnchor = 16 << 20

func readAnchor(path string) (*anchor, error) {
	f, err := openNeeded(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := f.Span(0, maxAnchor)
	if err != nil {
		return nil, err
	}
	data = bytes.Clone(data)
	a, err := parseAnchor(data)
	if err != nil && !errors.Is(err, trace.ErrNotATrace) {
		err = &trace.SyntaxError{File: path, Offset: -1, Record: "anchor", Err: err}
	} else if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return a, err
}

var (
	errAnchorShort = errors.New("the anchor file ends before its fields do")
	errCompression = errors.New("the archive is compressed with zlib, which OTF2 no longer supports; decompress it with OTF2 2.x")
	errSubstrate   = errors.New("the archive is in a SION container; convert it to plain files with OTF2's tools")
)

// parseAnchor reads an anchor. What an older version of the format lacks, or what is cut
// off behind the fields that are needed to find the records, has its zero value.
func parseAnchor(data []byte) (*anchor, error) {
	if !isAnchor(data) {
		return nil, trace.ErrNotATrace
	}
	a := &anchor{trailing: -1, bigEndian: data[1] == markBig}
	c := &wire.Cursor{Data: data, Pos: 2 + len(magic), BigEndian: a.bigEndian}
	a.format, a.traceFormat = c.Uint8(), c.Uint8()
	a.version = [3]uint8{c.Uint8(), c.Uint8(), c.Uint8()}
	a.eventChunk, a.defChunk = c.Uint64(), c.Uint64()
	a.substrate, a.compression = c.Uint8(), c.Uint8()
	if c.Err != nil {
		return nil, errAnchorShort
	}
	if a.compression == 2 {
		return nil, errCompression
	}
	if a.substrate == 2 {
		return nil, errSubstrate
	}
	if err := errors.Join(checkChunkSize(a.eventChunk), checkChunkSize(a.defChunk)); err != nil {
		return nil, err
	}
	a.parseRest(c)
	return a, nil
}

// parseRest reads the fields that reading the archive does not depend on.
func (a *anchor) parseRest(c *wire.Cursor) {
	a.locations, a.definitions = c.Uint64(), c.Uint64()
	a.machine, a.creator, a.description = c.CString(), c.CString(), c.CString()
	if a.format >= 2 {
		for range c.Count(uint64(c.Uint32()), 2) {
			a.properties = append(a.properties, property{c.CString(), c.CString()})
		}
		a.traceID = c.Uint64()
	}
	if a.format >= 3 {
		a.snapshots, a.thumbnails = c.Uint32(), c.Uint32()
	}
	if a.format > 3 && c.Err == nil {
		return // newer fields follow; they are not known
	}
	if c.Err != nil || c.Uint8() != idEndOfFile {
		a.noEnd = true
		return
	}
	rest := chunk{data: c.Data}
	a.trailing = rest.trailing(c.Pos - 1)
}

// bytes returns the anchor as it lies in the file, little-endian and of format 3.
func (a *anchor) bytes() []byte {
	b := append([]byte{idHeader, markLittle}, magic...)
	b = append(b, 3, a.traceFormat, a.version[0], a.version[1], a.version[2])
	for _, v := range []uint64{a.eventChunk, a.defChunk} {
		b = appendFixed(b, v, 8)
	}
	b = append(b, a.substrate, a.compression)
	b = appendFixed(appendFixed(b, a.locations, 8), a.definitions, 8)
	b = appendCString(appendCString(appendCString(b, a.machine), a.creator), a.description)
	b = appendFixed(b, uint64(len(a.properties)), 4)
	for _, p := range a.properties {
		b = appendCString(appendCString(b, p.name), p.value)
	}
	b = appendFixed(b, a.traceID, 8)
	b = appendFixed(appendFixed(b, uint64(a.snapshots), 4), uint64(a.thumbnails), 4)
	return append(b, idEndOfFile, idEndOfBuffer, 0)
}

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
