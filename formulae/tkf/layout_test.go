package tkf

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// fill gives every field of a value another value, lists two elements.
func fill(v reflect.Value, next *uint64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), next)
		fill(v.Index(1), next)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{fmt.Sprint("key ", *next): "value"}))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*next) / 7)
	case reflect.Uint8:
		v.SetUint(*next%255 + 1)
	default:
		if v.CanInt() {
			v.SetInt(-int64(*next))
		} else {
			v.SetUint(*next)
		}
	}
}

// Topologies are made by the reader of OTF2 from opaque definitions, which have their place.
var butTopologies = cmpopts.IgnoreFields(trace.Defs{}, "Topologies")

// Every field of the model has its place in the layout.
func TestNoFieldIsForgotten(t *testing.T) {
	var want, got about
	var n uint64
	fill(reflect.ValueOf(&want).Elem(), &n)
	form := pack.Form{Tables: coder.NewTables()}
	if err := pack.UnpackOpen(form, pack.PackOpen(form, &want, aboutLayout()), &got, aboutLayout()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, butTopologies); d != "" {
		t.Errorf("%d values, of which differ:\n%s", n, d)
	}
}

// Files that were written when this version of the format began are read for as long as
// there is this version. A change that makes them unreadable needs a new one.
func TestFilesOfThisVersion(t *testing.T) {
	src := tracetest.MustParse(t, small)
	for mode, in := range []string{Lossless: "lossless", Statistics: "stat"} {
		name := filepath.Join("testdata", in+".tkf")
		if *update {
			tracetest.WriteFile(t, name, compressed(t, Mode(mode)))
		}
		file, err := Open(name, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if d := cmp.Diff(src.Defs(), file.Defs()); d != "" {
			t.Errorf("%s: definitions differ:\n%s", in, d)
		}
		for l := range src.Defs().Locations {
			want, got := batch(t, src, trace.LocationID(l)), batch(t, file, trace.LocationID(l))
			if d := cmp.Diff(want.Order, got.Order); d != "" {
				t.Errorf("%s: location %d: tables of events differ:\n%s", in, l, d)
			}
			if d := cmp.Diff(want, got); Mode(mode) == Lossless && d != "" {
				t.Errorf("%s: location %d: events differ:\n%s", in, l, d)
			}
		}
	}
}

// batch returns the only batch of a location.
func batch(t *testing.T, src trace.Source, l trace.LocationID) (out *trace.Batch) {
	t.Helper()
	for b, err := range src.Events(t.Context(), l) {
		if err != nil || out != nil {
			t.Fatalf("location %d: a second batch, or %v", l, err)
		}
		out = b
	}
	return out
}

// A file of another version is refused with both versions and what to do.
func TestOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []byte{1, 4, versionLast + 1} {
		file := bytes.Clone(compressed(t, Lossless))
		file[3] = version
		_, err := readAll(t, file, 1)
		var syntax *trace.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != 3 {
			t.Fatalf("version %d: %v", version, err)
		}
		for _, say := range []string{fmt.Sprint("version ", version), fmt.Sprint("reads versions 5 to ", versionLast), "compress the trace again"} {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("version %d: %q does not say %q", version, err, say)
			}
		}
	}
}
