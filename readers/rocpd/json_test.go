package rocpd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
