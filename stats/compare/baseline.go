package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"tracekit/document/words"
	"tracekit/trace"
)

// BaselineSchema names the file that a Baseline is.
const BaselineSchema = "tracekit.baseline/1"

// MostBaseline is how many bytes a baseline has at most.
const MostBaseline = 32 << 20

// mostRuns is how many runs a baseline has at most: a comparison needs memory and time for each place in each run.
const mostRuns = 100

// A Baseline keeps what a comparison needs of several runs of one program (docs/DOCUMENTS.md). The order of its runs does not depend
// on that in which they are added.
type Baseline struct {
	Schema     string       `json:"schema"` // always BaselineSchema
	Clock      string       `json:"clock"`  // how the traces were read: --clock and --min-latency
	MinLatency int64        `json:"min_latency_ns"`
	Runs       checked[Run] `json:"runs"`
}

// NewBaseline returns a baseline without runs, of traces that are read with a correction of clocks and a least latency.
func NewBaseline(clock string, minLatency time.Duration) *Baseline {
	return &Baseline{Schema: BaselineSchema, Clock: clock, MinLatency: minLatency.Nanoseconds(), Runs: checked[Run]{}}
}

// Alike says why traces that are read otherwise cannot be compared with those of the baseline.
func (b *Baseline) Alike(clock string, minLatency time.Duration) error {
	if b.Clock != clock || b.MinLatency != minLatency.Nanoseconds() {
		return fmt.Errorf("its runs were read with --clock %s and --min-latency %s; use the same", b.Clock, time.Duration(b.MinLatency))
	}
	return nil
}

// Samples returns the runs for Of.
func (b *Baseline) Samples() (out []*Sample) {
	for i := range b.Runs {
		out = append(out, b.Runs[i].sample())
	}
	return out
}

// Add adds a run. It refuses one that is there already, since it would hide how much runs differ, and one of another shape.
func (b *Baseline) Add(s *Sample) error {
	if len(b.Runs) == mostRuns {
		return fmt.Errorf("the baseline has %d runs; no more fit", mostRuns)
	}
	added := s.Keep()
	if err := added.check(); err != nil {
		return fmt.Errorf("%s cannot be kept: %w", s.Trace.Path, err)
	}
	text, err := added.content()
	if err != nil {
		return err
	}
	at := len(b.Runs)
	for i, old := range b.Runs {
		other, err := old.content()
		if err != nil {
			return err
		}
		if bytes.Equal(other, text) {
			return fmt.Errorf("%s equals %s, which the baseline has; a run counts once", s.Trace.Path, old.Trace.Path)
		}
		if cmp.Or(cmp.Compare(s.Trace.Path, old.Trace.Path), bytes.Compare(text, other)) < 0 {
			at = min(at, i)
		}
	}
	if len(b.Runs) > 0 {
		if reasons := differences(b.Runs[0].sample(), s); reasons != nil {
			return fmt.Errorf("%s differs in shape from %s: %s", s.Trace.Path, b.Runs[0].Trace.Path, strings.Join(reasons, "; "))
		}
	}
	b.Runs = slices.Insert(b.Runs, at, added)
	return nil
}

// content is the text of a run but for the path of its trace.
func (r Run) content() ([]byte, error) {
	r.Trace.Path = ""
	return json.Marshal(r)
}

// numbers is a list of numbers as it is indented.
var numbers = trace.Expression(`\[\n[-0-9,\s]+\]`)

// Write writes the file: a figure a line, lists of numbers in one line.
func (b *Baseline) Write(w io.Writer) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return err
	}
	out := numbers().ReplaceAllFunc(text.Bytes(), func(list []byte) []byte { return bytes.Join(bytes.Fields(list), nil) })
	if len(out) > MostBaseline {
		return fmt.Errorf("the baseline would have %s, more than %s; keep fewer runs", words.Bytes(uint64(len(out))), words.Bytes(MostBaseline))
	}
	_, err := w.Write(out)
	return err
}

// ErrVersion says that a baseline has a version that this program does not know.
var ErrVersion = errors.New("another version of baselines")

// ReadBaseline reads a file that Write wrote. Errors say what is wrong with it.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	text, err := io.ReadAll(io.LimitReader(r, MostBaseline+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MostBaseline {
		return nil, fmt.Errorf("the file has more than %s; no baseline is that large", words.Bytes(MostBaseline))
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("not a baseline: %w", plainly(err))
	}
	switch {
	case head.Schema == "":
		return nil, errors.New("not a baseline: it has no schema; make one with 'tracekit baseline FILE TRACE...'")
	case head.Schema != BaselineSchema && strings.HasPrefix(head.Schema, "tracekit.baseline/"):
		return nil, fmt.Errorf("%w: it is %s, this tracekit knows %s; make it anew with 'tracekit baseline --replace'", ErrVersion,
			head.Schema, BaselineSchema)
	case head.Schema != BaselineSchema:
		return nil, fmt.Errorf("not a baseline: it has schema %q, not %q", head.Schema, BaselineSchema)
	}
	b := new(Baseline)
	if err := readAll(text, b); err != nil {
		return nil, fmt.Errorf("damaged baseline: %w", err)
	}
	switch n := len(b.Runs); {
	case n == 0:
		return nil, errors.New("damaged baseline: it has no runs")
	case n > mostRuns:
		return nil, fmt.Errorf("damaged baseline: it has %d runs, more than %d", n, mostRuns)
	}
	return b, nil
}

// readAll reads an object that has all keys of a struct, but for those that may be left out, and no others.
func readAll(text []byte, into any) error {
	keys := keysOf(reflect.TypeOf(into).Elem())
	met, err := keysIn(text, func(key string) bool { _, ok := keys[key]; return ok })
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if keys[key] && !met[key] {
			return fmt.Errorf("%s is missing", key)
		}
	}
	return plainly(json.Unmarshal(text, into))
}

// keysIn returns the keys of an object. The first that is not known, or is there again, ends it.
func keysIn(text []byte, known func(string) bool) (map[string]bool, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil {
		return nil, plainly(err)
	} else if first != json.Delim('{') {
		return nil, errors.New("it is no object")
	}
	met := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, plainly(err)
		}
		key, _ := token.(string)
		if !known(key) || met[key] {
			return nil, fmt.Errorf("%q does not belong here, or is there twice", key[:min(len(key), 40)])
		}
		met[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, plainly(err)
		}
	}
	return met, nil
}

// keysOf returns the keys of a struct, and whether they must be there.
func keysOf(form reflect.Type) map[string]bool {
	keys := make(map[string]bool)
	for f := range form.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			maps.Copy(keys, keysOf(f.Type))
			continue
		}
		keys[name] = options == ""
	}
	return keys
}

// plainly says in plain words what a file has that is no JSON, or not of the type that it must be.
func plainly(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		what := kind.Value
		if number, ok := strings.CutPrefix(what, "number "); ok {
			what = "number " + number[:min(len(number), 24)]
		}
		return fmt.Errorf("%s cannot be a %s", cmp.Or(kind.Field, "it"), what)
	}
	return err
}
