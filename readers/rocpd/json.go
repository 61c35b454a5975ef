package rocpd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// JSONFormat is the name of the format of rocprofv3's JSON.
const JSONFormat = "rocprofv3"

// jsonMember is the member of the outer object that holds everything.
const jsonMember = "rocprofiler-sdk-tool"

// SniffJSON reports whether a file that begins so is JSON of rocprofv3.
func SniffJSON(_ string, head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`+jsonMember+`"`))
}

// OpenJSON reads one trace from files of JSON. An error wraps trace.ErrNotATrace if one is none.
func OpenJSON(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	return recording.Open(ctx, JSONFormat, paths, o, readJSON)
}

var errForm = errors.New("it is not JSON of rocprofv3")

// readJSON reads a file; twice if records come before what defines their names.
func readJSON(ctx context.Context, f *recording.File) error {
	file, size, err := wire.OpenRegular(f.Path)
	var unopened *fs.PathError
	switch {
	case errors.As(err, &unopened):
		return &recording.Missing{Err: err}
	case err != nil:
		return err
	}
	defer file.Close()
	changed := wire.Watch(file)
	f.Size, f.Creator = size, "rocprofv3"
	var tools []*tool
	for again := true; again; {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		in := &portioned{r: file}
		r := &jsonReader{ctx: ctx, f: f, in: in, d: json.NewDecoder(in), again: tools != nil, tools: tools}
		err := r.document()
		again = r.early && !r.again
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errForm):
			return fmt.Errorf("%s: %w: %w", f.Path, trace.ErrNotATrace, err)
		case again:
		case err != nil:
			code := trace.CodeCorrupt
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				code = trace.CodeTruncated
			}
			f.Ledger.Add(code, f.Place(r.d.InputOffset()), err.Error())
		default:
			if _, err := r.token(); err != io.EOF {
				f.Ledger.Add(trace.CodeTrailingData, f.Place(r.d.InputOffset()), "text behind the end of the outer object")
			}
		}
		f.Ledger.AddN(trace.CodeBadValue, r.bad, f.Place(-1), "a record whose members have other types than they should")
		tools = r.tools
	}
	f.Changed(changed())
	return nil
}

// portionBytes bounds one value, which is in memory as a whole.
const portionBytes = 16 << 20

var errPortion = fmt.Errorf("a value is longer than %d MiB", portionBytes>>20)

// portioned is a reader that does not read more than a portion for one value.
type portioned struct {
	r    io.Reader
	left int
}

func (p *portioned) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, errPortion
	}
	n, err := p.r.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}

// A jsonReader goes over a file.
type jsonReader struct {
	ctx    context.Context
	f      *recording.File
	in     *portioned
	d      *json.Decoder
	again  bool // the file was read before: all is defined
	early  bool // records come before what defines their names
	tools  []*tool
	bad    uint64
	values int
}

// token returns the next token.
func (r *jsonReader) token() (json.Token, error) {
	r.in.left = portionBytes
	if r.values++; r.values%4096 == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	return r.d.Token()
}

// decode decodes the next value. One of another type is counted, and the zero value.
func (r *jsonReader) decode(v any) error {
	r.in.left = portionBytes
	if r.values++; r.values%4096 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	err := r.d.Decode(v)
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		r.bad++
		return nil
	}
	return err
}

// skip goes over the next value.
func (r *jsonReader) skip() error {
	first, err := r.token()
	return r.over(first, err)
}

// members calls member for each member of an object, behind whose key the decoder stands. What is no object is gone over.
func (r *jsonReader) members(member func(key string) error) error {
	open, err := r.token()
	if err != nil || open != json.Delim('{') {
		return r.over(open, err)
	}
	return r.rest(member)
}

// rest is members of an object whose begin was taken.
func (r *jsonReader) rest(member func(key string) error) error {
	for r.d.More() {
		key, err := r.token()
		if err != nil {
			return err
		}
		if err := member(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// elements calls element for each element of an array. What is no array is gone over.
func (r *jsonReader) elements(element func() error) error {
	open, err := r.token()
	if err != nil || open != json.Delim('[') {
		return r.over(open, err)
	}
	for r.d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err = r.token()
	return err
}

// over goes over a value that is of another kind than expected, of which the first token was taken.
func (r *jsonReader) over(first json.Token, err error) error {
	if err != nil {
		return err
	}
	if first != json.Delim('{') && first != json.Delim('[') {
		return nil
	}
	for depth := 1; depth > 0; {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// document reads the outer object.
func (r *jsonReader) document() error {
	first, err := r.token()
	if err != nil || first != json.Delim('{') {
		return errForm
	}
	key, err := r.token()
	if err != nil || key != jsonMember {
		return errForm
	}
	if err := r.processes(); err != nil {
		return err
	}
	return r.rest(func(string) error { return r.skip() })
}

// processes reads what is of each process: an array, or the object of a single one.
func (r *jsonReader) processes() error {
	open, err := r.token()
	switch {
	case err == nil && open == json.Delim('{'):
		return r.rest(r.process(0))
	case err != nil || open != json.Delim('['):
		return r.over(open, err)
	}
	for number := 0; r.d.More(); number++ {
		read := r.skip
		if number < maxSets {
			read = func() error { return r.members(r.process(number)) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	_, err = r.token()
	return err
}

// definitions are the members without which records cannot be understood.
var definitions = []string{"metadata", "agents", "strings", "kernel_symbols"}

// process returns what reads the members of a process.
func (r *jsonReader) process(number int) func(key string) error {
	if number == len(r.tools) {
		r.tools = append(r.tools, newTool(r.f))
	}
	t := r.tools[number]
	return func(key string) error {
		records := key == "buffer_records" || key == "callback_records"
		switch {
		case records && !r.again && (t.early[key] || len(t.defined) < len(definitions)):
			r.early, t.early[key] = true, true
		case records && r.again && !t.early[key]: // which were read
		case key == "buffer_records":
			return r.members(func(kind string) error { return r.records(t, kind) })
		case key == "callback_records":
			return r.members(func(kind string) error {
				if kind != "counter_collection" {
					return r.skip()
				}
				return r.elements(func() error {
					var c jsonCounters
					if err := r.decode(&c); err != nil {
						return err
					}
					t.collected(&c)
					return nil
				})
			})
		case r.again:
		case key == "strings":
			t.defined[key] = true
			return r.members(func(kind string) error { return r.strings(t, kind) })
		default:
			if slices.Contains(definitions, key) {
				t.defined[key] = true
			}
			return r.definition(t, key)
		}
		return r.skip()
	}
}

// maxKinds bounds the kinds of records.
const maxKinds = 1 << 10

// records reads the records of a kind.
func (r *jsonReader) records(t *tool, kind string) error {
	take := t.record(kind)
	if take == nil {
		return r.skip()
	}
	return r.elements(func() error {
		var x jsonRecord
		if err := r.decode(&x); err != nil {
			return err
		}
		take(&x)
		return nil
	})
}

// strings reads the names of kinds and operations, and the texts of markers.
func (r *jsonReader) strings(t *tool, kind string) error {
	switch kind {
	case "buffer_records":
		return r.elements(func() error {
			var k jsonKind
			err := r.decode(&k)
			k.Kind = r.f.Keep([]byte(k.Kind))
			for i, name := range k.Operations {
				k.Operations[i] = r.f.Keep([]byte(name))
			}
			if len(t.kinds) < maxKinds {
				t.kinds = append(t.kinds, k)
			}
			return err
		})
	case "marker_api":
		return r.elements(func() error {
			var m struct {
				Key   uint64
				Value string
			}
			err := r.decode(&m)
			if len(t.markers) < rowLimit {
				t.markers[m.Key] = r.f.Text(m.Value)
			}
			return err
		})
	}
	return r.skip()
}

// definition reads a member that defines something.
func (r *jsonReader) definition(t *tool, key string) error {
	switch key {
	case "metadata":
		var m jsonMetadata
		err := r.decode(&m)
		t.about(&m)
		return err
	case "agents":
		return r.elements(func() error {
			var a jsonAgent
			err := r.decode(&a)
			t.agent(&a)
			return err
		})
	case "counters":
		return r.elements(func() error {
			var c struct {
				ID   handle
				Name string
			}
			err := r.decode(&c)
			if len(t.counters) < rowLimit {
				t.counters[c.ID.Handle] = r.f.Keep([]byte(c.Name))
			}
			return err
		})
	case "kernel_symbols":
		return r.elements(func() error {
			var k struct {
				ID        uint64 `json:"kernel_id"`
				Formatted string `json:"formatted_kernel_name"`
				Demangled string `json:"demangled_kernel_name"`
				Name      string `json:"kernel_name"`
			}
			err := r.decode(&k)
			if k.Demangled == "" {
				k.Demangled = k.Formatted
			}
			if len(t.kernels) < rowLimit {
				t.kernels[k.ID] = r.f.Region(kernelName(k.Demangled, k.Name), kernelWhat)
			}
			return err
		})
	}
	return r.skip()
}
