package rocpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
)

var jsonOpener = recordingtest.Opener(OpenJSON)

const jsonFile = "testdata/json/7_results.json"

// TestJSONGolden states what becomes of JSON, and that the device does what it does in the databases.
func TestJSONGolden(t *testing.T) {
	got := recordingtest.Render(t, jsonOpener.Open(t, recording.Options{}, jsonFile))
	recordingtest.Golden(t, got, "testdata/json.txt", *update)
	if strings.Contains(got, "sesame") {
		t.Error("the trace has a secret of the environment")
	}
	database := recordingtest.Render(t, opener.Open(t, recording.Options{}, versions[0]))
	for _, location := range []string{`"stream 1"`, `"stream 2"`} {
		if got, want := events(got, location), events(database, location); got == "" || got != want {
			t.Errorf("%s:\n%s\nwant\n%s", location, got, want)
		}
	}
}

// events returns the events of a location in the text form.
func events(text, location string) string {
	_, text, _ = strings.Cut(text, location+" ")
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\nlocation")
	return text
}

func jsonData(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestJSONDamage(t *testing.T) { jsonOpener.Damage(t, "a.json", jsonData(t)) }

// FuzzJSON: whatever the file, nothing panics and every promise holds.
func FuzzJSON(f *testing.F) { jsonOpener.Fuzz(f, "a.json", jsonData(f)) }

// numbered are what have numbers in the order in which they are met.
var numbered = regexp.MustCompile(`(Metric|Instant) \d+`)

// The trace is the same whatever the order of the members.
func TestJSONOrder(t *testing.T) {
	var document map[string][]map[string]json.RawMessage
	if err := json.Unmarshal(jsonData(t), &document); err != nil {
		t.Fatal(err)
	}
	members := document[jsonMember][0]
	want := ""
	for _, order := range []string{
		"metadata agents counters strings kernel_symbols callback_records buffer_records",
		"buffer_records callback_records kernel_symbols strings counters agents metadata",
		"callback_records agents counters metadata strings kernel_symbols buffer_records",
		"metadata buffer_records agents counters strings kernel_symbols callback_records",
	} {
		var text []string
		for key := range strings.FieldsSeq(order) {
			text = append(text, fmt.Sprintf("%q:%s", key, members[key]))
		}
		s := jsonOpener.Try(t, filepath.Join(t.TempDir(), "a.json"), []byte(`{"`+jsonMember+`":[{`+strings.Join(text, ",")+"}]}"))
		if s == nil {
			t.Fatal("no trace")
		}
		_, got, _ := strings.Cut(recordingtest.Render(t, s), "\nlocation ")
		got = numbered.ReplaceAllString(got, "$1")
		s.Close()
		if want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s: %s", order, cmp.Diff(want, got))
		}
	}
}

// What stands behind the end of the outer object is told.
func TestJSONTrailing(t *testing.T) {
	for _, more := range []string{"", " \n", "x", "{}"} {
		s := jsonOpener.Try(t, filepath.Join(t.TempDir(), "a.json"), append(jsonData(t), more...))
		if s == nil {
			t.Fatal("no trace")
		}
		if n := recordingtest.Count(s, trace.CodeTrailingData); (n > 0) != (strings.TrimSpace(more) != "") {
			t.Errorf("%q: %d findings", more, n)
		}
		s.Close()
	}
}

// A value that is longer than is kept in memory ends the trace with a finding.
func TestJSONPortion(t *testing.T) {
	long := bytes.Repeat([]byte("x"), portionBytes+1<<20)
	data := bytes.Replace(jsonData(t), []byte("open sesame"), long, 1)
	s := jsonOpener.Try(t, filepath.Join(t.TempDir(), "a.json"), data)
	if s == nil {
		t.Fatal("no trace")
	}
	defer s.Close()
	if recordingtest.Count(s, trace.CodeCorrupt) == 0 {
		t.Errorf("findings %v", s.Findings())
	}
}
