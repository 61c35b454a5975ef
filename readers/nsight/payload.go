package nsight

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tracekit/readers/internal/sqlite"
)

// A schemaKey tells a schema of payloads, by which a library has described them. The export has each once for each
// process that registered it.
type schemaKey struct{ domain, id int64 }

// A schema is where numbers lie in a payload.
type schema struct {
	fields    map[int64]payloadField // by index
	order     []int64                // the indexes, once a payload was read
	ambiguous bool                   // processes disagree
}

// A payloadField is one that holds a number.
type payloadField struct {
	name   string
	offset int64
	typ    int64
}

// The types of fields that are integers: how many bytes they have, and which have a sign.
var (
	widths = map[int64]int{5: 4, 6: 4, 9: 8, 10: 8, 11: 1, 12: 1, 13: 2, 14: 2, 15: 4, 16: 4, 17: 8, 18: 8, 22: 8}
	signed = map[int64]bool{5: true, 9: true, 11: true, 13: true, 15: true, 17: true}
)

// schemaLimit bounds the fields of all schemas.
const schemaLimit = 1 << 16

// schemas reads how payloads that are exported as bytes are laid out.
func (r *report) schemas() error {
	r.payloads = make(map[schemaKey]*schema)
	fields := 0
	return r.scan("NVTX_PAYLOAD_SCHEMA_ENTRIES", []string{"domainId", "schemaId", "idx", "type", "name", "offset"}, func(v []sqlite.Value) {
		key := schemaKey{v[0].Int(), v[1].Int()}
		s := r.payloads[key]
		if s == nil {
			s = &schema{fields: make(map[int64]payloadField)}
			r.payloads[key] = s
		}
		f := payloadField{r.f.Keep(v[4].Bytes()), v[5].Int(), v[3].Int()}
		if known, ok := s.fields[v[2].Int()]; ok {
			s.ambiguous = s.ambiguous || known != f
		} else if fields++; fields <= schemaLimit {
			s.fields[v[2].Int()] = f
		} else {
			s.ambiguous = true
		}
	})
}

// headBytes are those before a payload: domain and schema, of eight bytes each, of which the upper four are no part of
// the number; the size of the payload; the size of all.
const headBytes = 32

// payload returns the numbers of a payload by the names of their fields: from its text, or from its bytes. known is
// false if there are bytes whose schema is not known.
func (r *report) payload(text string, data []byte) (fields map[string]uint64, known bool) {
	if fields = payloadFields(text); len(fields) > 0 || len(data) < headBytes {
		return fields, len(fields) > 0 || len(data) == 0
	}
	s := r.payloads[schemaKey{int64(binary.LittleEndian.Uint32(data)), int64(binary.LittleEndian.Uint32(data[8:]))}]
	size := binary.LittleEndian.Uint64(data[16:])
	body := data[headBytes:]
	if s == nil || s.ambiguous || size > uint64(len(body)) {
		return nil, false
	}
	body = body[:size]
	if s.order == nil {
		s.order = slices.Sorted(maps.Keys(s.fields))
	}
	fields = make(map[string]uint64)
	for _, i := range s.order {
		if v, ok := s.fields[i].number(body); ok {
			fields[s.fields[i].name] = v
		}
	}
	return fields, true
}

// number returns the number of a field of a payload; ok is false if it has none, or one below 0.
func (f payloadField) number(body []byte) (v uint64, ok bool) {
	width := widths[f.typ]
	if width == 0 || f.offset < 0 || f.offset > int64(len(body)-width) {
		return 0, false
	}
	var b [8]byte
	copy(b[:], body[f.offset:f.offset+int64(width)])
	v = binary.LittleEndian.Uint64(b[:])
	return v, !signed[f.typ] || v <= math.MaxUint64>>(65-8*width)
}

// payloadFields returns the numbers of a payload, by the names of its fields.
func payloadFields(text string) map[string]uint64 {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	fields := make(map[string]uint64)
	key := ""
	for {
		token, err := d.Token()
		if err != nil {
			return fields
		}
		switch v := token.(type) {
		case string:
			if n, err := strconv.ParseUint(v, 0, 64); err == nil && key != "" {
				fields[key], key = n, ""
			} else {
				key = v
			}
		case json.Number:
			if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil && key != "" {
				fields[key] = n
			}
			key = ""
		default:
			key = ""
		}
	}
}
