package main

import (
	"testing"
)

// TestByNature states what a format cannot know of its file.
func TestByNature(t *testing.T) {
	head := "#Paraver (01/02/2026 at 03:04):2000_ns:1(2):1:2(1:1,1:1),1\n"
	gz := func(text string) string { return string(zipped([]byte(text))) }
	for _, c := range []struct {
		name, text string
		mended     bool
		want       string
	}{
		{"x.json", `[{"ph":"i","ts":1},{"ph":"i"}]`, false, "JSON"},
		{"x.json", `[{"ph":"i","ts":1},{"ph":"i"},`, false, "JSON"},
		{"x.json", "{\"ph\":\"i\",\"ts\":NaN}\n,,{\"ph\":\"\\\"\"}", false, "JSON"},
		{"x.json", `[{"ph":"i","ts":1},{"ph":"i`, false, ""},
		{"x.json", `[{"ph":"i","ts":1},{"ph":]`, false, ""},
		{"x.json", "[{\"ph\":\"i\",\x80}]", false, ""},
		{"x.json.gz", gz(`[{}]`), true, "JSON"},
		{"x.json.gz", gz(`[{}]`), false, ""},
		{"x.json.gz", gz(`[{]`), true, ""},
		{"x.prv", head + "2:1:1:1:1:0:50:-1\n1:1:1:1:1:0:2:3\n\n", false, "Paraver"},
		{"x.prv", head + "2:1:1:1:1:0:50\n", false, ""},
		{"x.prv", head + "2:1:1:1:1:0:50:x\n", false, ""},
		{"x.prv", "2:1:1:1:1:0:50:1\n", false, ""},
		{"x.json", "\uFEFF[{}][{}]", false, "JSON"},
		{"x.pcf", "VALUES\n1 x\n", false, "labels"},
		{"x.pcf", "VALUES\n1 x", false, ""},
		{"x.pcf", "VALUES\n1 \x00\n", false, ""},
		{"traces/0.evt", "anything", false, ""},
		{"x.tkf", "anything", false, ""},
		{"x.tkf", "anything", true, "mended"},
	} {
		if got := byNature(c.name, []byte(c.text), c.mended); got != c.want {
			t.Errorf("%s %q, mended %t: %q, want %q", c.name, c.text, c.mended, got, c.want)
		}
	}
	for _, c := range [][3]string{
		{"traces/0.evt", "traces/1.evt", "OTF2"}, {"traces/0.evt", "traces/1.def", ""}, {"traces/0.def", "traces.def", ""},
		{"a.json", "b.json", "JSON"}, {"x.arrow/a.arrow", "x.arrow/b.arrow", ""},
	} {
		if got := byNatureOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s in the place of %s: %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
