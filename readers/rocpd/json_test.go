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
	"tracekit/trace/tracetest"
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

// Damage in definitions that come behind the records is told, although the second reading goes over them.
func TestJSONDamagedNames(t *testing.T) {
	data := bytes.Replace(jsonData(t), []byte("MARKER_CORE_API"), []byte("MARKER_\x12ORE_API"), 1)
	s := jsonOpener.Bytes(t, "a.json", data)
	if recordingtest.Count(s, trace.CodeCorrupt) == 0 {
		t.Errorf("findings %v", s.Findings())
	}
}

// What is gone over ends where its bracket is closed by one of its own kind, and holds no bytes that JSON cannot have there; else the
// file is damaged.
func TestJSONBrackets(t *testing.T) {
	for other, want := range map[string]bool{`{"kind":[{},"start":1}]`: true, "[1\xb6]": true, "{\"a\":[2]\x12}": true, "\xf1[{}]": true,
		"nu[]": true, "NaN": false, "{\"a\xb6\" :\t[-2.5E+1, NaN,null]\r\n}": false} {
		data := bytes.Replace(jsonData(t), []byte(`"buffer_records":{`), []byte(`"buffer_records":{"other":`+other+`,`), 1)
		s := jsonOpener.Bytes(t, "a.json", data)
		if got := recordingtest.Count(s, trace.CodeCorrupt) > 0; got != want {
			t.Errorf("%q: findings %v", other, s.Findings())
		}
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

// A record that is read without package json is what package json reads.
func TestRecord(t *testing.T) {
	const record = `{"size":64,"kind":3,"operation":1,"thread_id":-7,"correlation_id":{"internal":5,"external":0},"start_timestamp":1002500,` +
		`"end_timestamp": 1004500 , "dispatch_info":{"size":8,"agent_id":{"handle":2},"queue_id":{"handle":1},"kernel_id":1},` +
		`"stream_id":{"handle":9223372036854775807},"src_agent_id":{"handle":3},"dst_agent_id":{"handle":4},"bytes":0,"agent_id":{},` +
		`"address":"0x7f","allocation_size":9,"more":{"a":{"b":"c"}}}`
	fast := 0
	hold := func(data []byte) {
		var got, want jsonRecord
		if !got.parse(data) {
			return
		}
		fast++
		if err := json.Unmarshal(data, &want); err != nil {
			t.Errorf("%s: %v", data, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
	}
	hold([]byte(record))
	if fast != 1 {
		t.Error("the record is not read")
	}
	for i := range record { // each byte lost, doubled, or another one
		hold([]byte(record[:i] + record[i+1:]))
		hold([]byte(record[:i+1] + record[i:]))
		for _, c := range "0-9.eE+\"{}[],:x \\\x00\x80null" {
			hold([]byte(record[:i] + string(c) + record[i+1:]))
		}
	}
	hold([]byte(strings.Repeat(`{"a":`, 1<<20) + "1" + strings.Repeat("}", 1<<20)))
}

// BenchmarkJSON measures how fast records become tables, in bytes of the file.
func BenchmarkJSON(b *testing.B) {
	before, rest, _ := strings.Cut(string(jsonData(b)), `"hip_api":[`)
	var data bytes.Buffer
	data.WriteString(before + `"hip_api":[`)
	for i := range 50_000 {
		fmt.Fprintf(&data, `{"size":64,"kind":1,"operation":%d,"thread_id":7,"correlation_id":{"internal":%d,"external":0},`+
			`"start_timestamp":%d,"end_timestamp":%d},`, i%2, i+100, 1003200+100*i, 1003290+100*i)
	}
	data.WriteString(rest)
	path := filepath.Join(b.TempDir(), "a.json")
	tracetest.WriteFile(b, path, data.Bytes())
	b.SetBytes(int64(data.Len()))
	for b.Loop() {
		s, err := OpenJSON(b.Context(), []string{path}, recording.Options{Jobs: 1})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
