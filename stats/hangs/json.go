package hangs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// deepest is how many containers of a JSON dump may lie in each other.
const deepest = 64

// unjson returns the value of a JSON text. With an error, it is what lies before the place where it went wrong.
func unjson(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	x, err := value(d, 0)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	if err != nil {
		err = fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	return x, err
}

func value(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if depth > deepest {
		return nil, errors.New("values lie too deep in each other")
	}
	switch t := t.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		f, err := t.Float64()
		return f, err
	case json.Delim:
		if t == '[' {
			out := &list{}
			for d.More() {
				x, err := value(d, depth+1)
				if x != nil || err == nil {
					out.items = append(out.items, x)
				}
				if err != nil {
					return out, err
				}
			}
			_, err := d.Token()
			return out, err
		}
		out := dict{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return out, err
			}
			x, err := value(d, depth+1)
			if name, ok := key.(string); ok && (x != nil || err == nil) {
				out[name] = x
			}
			if err != nil {
				return out, err
			}
		}
		_, err := d.Token()
		return out, err
	}
	return t, nil // nil, bool, string
}
