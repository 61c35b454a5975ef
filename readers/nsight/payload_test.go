package nsight

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"testing"

	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
)

// TestPayload states what numbers payloads of bytes have.
func TestPayload(t *testing.T) {
	r := &report{payloads: map[schemaKey]*schema{
		{1, 7}: {fields: map[int64]payloadField{0: {"wide", 0, 18}, 1: {"narrow", 8, 5}, 2: {"text", 12, 30}, 3: {"outside", 13, 6},
			4: {"before", -4, 6}}},
		{1, 8}: {ambiguous: true},
	}}
	head := func(schema uint32, size uint64) []byte {
		b := make([]byte, headBytes)
		binary.LittleEndian.PutUint32(b, 1)
		binary.LittleEndian.PutUint32(b[8:], schema)
		binary.LittleEndian.PutUint64(b[16:], size)
		return b
	}
	body := []byte{1, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0}
	below := append(bytes.Clone(body[:8]), 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0)
	for _, c := range []struct {
		data  []byte
		want  map[string]uint64
		known bool
	}{
		{append(head(7, 16), body...), map[string]uint64{"wide": 1<<63 | 1, "narrow": 2}, true},
		{append(head(7, 16), below...), map[string]uint64{"wide": 1<<63 | 1}, true}, // below 0
		{append(head(7, 8), body...), map[string]uint64{"wide": 1<<63 | 1}, true},   // behind the end
		{append(head(7, 17), body...), nil, false},
		{append(head(7, 1<<63), body...), nil, false},
		{append(head(8, 16), body...), nil, false},
		{append(head(9, 16), body...), nil, false},
		{head(7, 0)[:31], nil, false},
		{nil, nil, true},
	} {
		got, known := r.payload("", c.data)
		if !maps.Equal(got, c.want) || known != c.known {
			t.Errorf("% x: %v, %t, want %v, %t", c.data, got, known, c.want, c.known)
		}
	}
}

// A payload whose layout is not in the export, and one that is not exported at all, are findings.
func TestPayloadsMissing(t *testing.T) {
	data, err := os.ReadFile(run + "/report1.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		code     trace.Code
	}{
		{"NVTX_PAYLOAD_SCHEMA_ENTRIES", "NVTX_PAYLOAD_SCHEMA_UNKNOWN", trace.CodeDanglingReference},
		{"binaryData", "binaryLost", trace.CodeIncompleteByWriter},
	} {
		s := opener.Bytes(t, "a.sqlite", bytes.ReplaceAll(data, []byte(c.old), []byte(c.new)))
		if n := recordingtest.Count(s, c.code); n != 1 {
			t.Errorf("without %s: %d findings of %s, want 1: %v", c.old, n, c.code, s.Findings())
		}
	}
}
