package trace

import (
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MarshalJSON returns a value as JSON for a file in which people look as well: what in names is no graphic
// character, as controls and overrides of direction, stands as an escape. The errors are those of json.Marshal.
func MarshalJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	var out []byte
	for _, r := range string(text) {
		high, low := utf16.EncodeRune(r)
		switch {
		case unicode.IsGraphic(r):
			out = utf8.AppendRune(out, r)
		case high != unicode.ReplacementChar:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out, err
}
