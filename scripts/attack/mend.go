package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"tracekit/trace/tracetest/mutate"
)

// Formats with checksums refuse nearly every mutant at once. What lies behind the checksums is
// reached by mutants whose checksums are right.

// beneath damages a file beneath its checksums and returns it with right ones;
// nil if there is nothing to damage. Tables keep theirs in another file: see mendManifest.
func beneath(r *rand.Rand, name string, data []byte, k mutate.Kind) []byte {
	switch {
	case strings.HasSuffix(name, ".gz"):
		plain, err := unzip(data)
		if err == nil {
			plain = k.Apply(r, plain)
		}
		if err != nil || plain == nil {
			return nil
		}
		return zipped(plain)
	case strings.HasSuffix(name, ".tkf"):
		return inSection(r, data, k)
	}
	return k.Apply(r, data)
}

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func zipped(plain []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one
	z.Write(plain)                                  // into memory
	z.Close()
	return b.Bytes()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// inSection damages the payload of one section of a .tkf (docs/internals/TKF.md).
func inSection(r *rand.Rand, data []byte, k mutate.Kind) []byte {
	type section struct{ begin, body, end int }
	var all []section
	for at := 4; at < len(data); {
		_, n := binary.Uvarint(data[at+1:])
		size, k := binary.Uvarint(data[at+1+max(n, 0):])
		s := section{at, at + 1 + n + k, at + 1 + n + k + int(size)}
		if n <= 0 || k <= 0 || s.end+4 > len(data) || s.end < s.body {
			return nil // an earlier mutation has damaged it
		}
		if size > 0 {
			all = append(all, s)
		}
		at = s.end + 4
	}
	if len(all) == 0 {
		return nil
	}
	s := all[r.IntN(len(all))]
	payload := k.Apply(r, data[s.body:s.end])
	if payload == nil {
		return nil
	}
	_, n := binary.Uvarint(data[s.begin+1:])
	mended := binary.AppendUvarint(bytes.Clone(data[s.begin:s.begin+1+n]), uint64(len(payload)))
	mended = append(mended, payload...)
	mended = binary.LittleEndian.AppendUint32(mended, crc32.Checksum(mended, castagnoli))
	return slices.Concat(data[:s.begin], mended, data[s.end+4:])
}

// mendManifest puts the checksums of the tables into the manifest of a directory of tables.
func mendManifest(files []file) error {
	at := slices.IndexFunc(files, func(f file) bool { return strings.HasSuffix(f.name, "/tracekit.json") })
	if at < 0 {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(files[at].data, &m) != nil {
		return nil // it is what was mutated
	}
	dir, _ := strings.CutSuffix(files[at].name, "tracekit.json")
	sums := make(map[string]uint32)
	for i, f := range files {
		if name, ok := strings.CutPrefix(f.name, dir); ok && i != at {
			sums[name] = crc32.Checksum(f.data, castagnoli)
		}
	}
	list, err := json.Marshal(sums)
	if err != nil {
		return fmt.Errorf("checksums: %w", err)
	}
	m["files"] = list
	files[at].data, err = json.Marshal(m)
	return err
}
