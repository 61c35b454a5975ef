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

// SniffJSON reports whether a path is JSON of rocprofv3, or a directory with some and without databases, which hold the same. head is
// how the file begins, nil for a directory.
func SniffJSON(path string, head []byte) bool {
	if head == nil {
		return !Sniff(path, nil) && len(JSONIn(path)) > 0
	}
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`+jsonMember+`"`))
}

// JSONIn returns the files of JSON of rocprofv3 in a directory, in order of name. Those in its directories of hosts and processes are among
// them; with them those that cannot be opened, which may be such. What else is JSON there is not among them.
func JSONIn(dir string) []string {
	some := false
	files := slices.DeleteFunc(recording.FilesIn(dir, ".json", levels), func(path string) bool {
		f, _, err := wire.OpenRegular(path)
		if err != nil {
			return errors.Is(err, wire.ErrNotRegular)
		}
		defer f.Close()
		head := make([]byte, 512)
		n, _ := io.ReadFull(f, head)
		is := SniffJSON(path, head[:n])
		some = some || is
		return !is
	})
	if !some {
		return nil
	}
	return files
}

// OpenJSON reads one trace from files of JSON, or from directories of them. An error wraps trace.ErrNotATrace if one is none.
func OpenJSON(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	var files []string
	for _, path := range paths {
		if in := JSONIn(path); len(in) > 0 {
			files = append(files, in...)
		} else {
			files = append(files, path)
		}
	}
	return recording.Open(ctx, JSONFormat, files, o, readJSON)
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
	var early error // of the first time: the second one goes over what is defined
	var earlyAt int64
	for again := true; again; {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r := &jsonReader{ctx: ctx, f: f, stream: newStream(file), again: tools != nil, tools: tools}
		err, at := r.document(), r.at()
		if again = r.early && !r.again; again {
			early, earlyAt = err, at
		} else if err == nil && early != nil {
			err, at = early, earlyAt
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errForm):
			return fmt.Errorf("%s: %w: %w", f.Path, trace.ErrNotATrace, err)
		case again:
		case err != nil:
			code := trace.CodeCorrupt
			if errors.Is(err, io.ErrUnexpectedEOF) {
				code = trace.CodeTruncated
			}
			f.Ledger.Add(code, f.Place(at), err.Error())
		default:
			if _, err := r.peek(); !errors.Is(err, io.ErrUnexpectedEOF) {
				f.Ledger.Add(trace.CodeTrailingData, f.Place(r.at()), "text behind the end of the outer object")
			}
		}
		f.Ledger.AddN(trace.CodeBadValue, r.bad, f.Place(-1), "a record whose members have other types than they should")
		tools = r.tools
	}
	f.Changed(changed())
	return nil
}

// A jsonReader goes over a file.
type jsonReader struct {
	*stream
	ctx    context.Context
	f      *recording.File
	again  bool // the file was read before: all is defined
	early  bool // records come before what defines their names
	tools  []*tool
	bad    uint64
	values int
}

// next takes the next value.
func (r *jsonReader) next() ([]byte, error) {
	if r.values++; r.values%4096 == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	return r.value()
}

// decode decodes the next value. One of another type is counted, and the zero value.
func (r *jsonReader) decode(v any) error {
	data, err := r.next()
	if err != nil {
		return err
	}
	return r.unmarshal(data, v)
}

func (r *jsonReader) unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		r.bad++
		return nil
	}
	return err
}

// document reads the outer object.
func (r *jsonReader) document() error {
	if c, err := r.peek(); err != nil || c != '{' {
		return errForm
	}
	first := true
	return r.members(func(key string) error {
		switch {
		case !first:
			return r.skip()
		case key != jsonMember:
			return errForm
		}
		first = false
		return r.processes()
	})
}

// processes reads what is of each process: an array, or the object of a single one.
func (r *jsonReader) processes() error {
	if c, err := r.peek(); err != nil || c == '{' {
		return r.members(r.process(0))
	}
	number := 0
	return r.elements(func() error {
		if number++; number > maxSets {
			return r.skip()
		}
		return r.members(r.process(number - 1))
	})
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
		data, err := r.next()
		if err != nil {
			return err
		}
		var x jsonRecord
		if !x.parse(data) {
			x = jsonRecord{}
			if err := r.unmarshal(data, &x); err != nil {
				return err
			}
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
