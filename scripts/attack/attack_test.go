package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
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
		{"rank0.csv", "ranj,start,name\n0,1,x\n", false, "table"},
		{"rank0.csv", "rank,start,name\n0,\x00,x\n", false, ""},
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

// sampleOf returns the samples of the repository that need no conversion.
func sampleOf(t *testing.T) []*sample {
	files, err := readFiles(filepath.Join("..", "..", "samples", "archives", "ring-4-plain"))
	if err != nil {
		t.Fatal(err)
	}
	tkf := tracetest.ReadFile(t, filepath.Join("..", "..", "formulae", "tkf", "testdata", "lossless.tkf"))
	return []*sample{
		{name: "ring", format: "otf2", files: files, open: []string{"."}, weight: 1},
		{name: "ring", format: "tkf lossless", files: []file{{"x.tkf", tkf}}, open: []string{"x.tkf"}, weight: 1},
		{name: "beside", format: "profile", files: []file{{"profile.json", []byte("{}")}, {"trace/x.json", []byte("[]")}},
			open: []string{"trace"}, made: 1, weight: 1},
		{name: "text", format: "json", files: []file{{"x.json", []byte("[{\"ph\":\"i\",\"ts\":1},\n{\"ph\":\"i\",\"ts\":2}]\n")}},
			open: []string{"x.json"}, weight: 1},
	}
}

// TestRepeatable: what a run does follows from the seed and its number, and nearly always
// something is changed.
func TestRepeatable(t *testing.T) {
	c := &campaign{seed: 1, samples: sampleOf(t), commands: commands}
	changed := 0
	const runs = 150
	for k := range runs {
		var once, again []file
		for _, files := range []*[]file{&once, &again} {
			dir := t.TempDir()
			p := c.plan(k)
			if p.member != nil {
				continue // a FIFO cannot be read
			}
			if err := c.lay(t.Context(), p.sample, dir, "."); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "tmp")); err != nil {
				t.Fatal(err)
			}
			data, err := p.mutate(dir)
			if err != nil {
				t.Fatal(k, p, err)
			}
			if written, err := os.ReadFile(filepath.Join(dir, p.sample.files[p.file].name)); err != nil || !bytes.Equal(written, data) {
				t.Errorf("run %d: %s: it is not what was written, %v", k, p, err)
			}
			if *files, err = readFiles(dir); err != nil {
				t.Fatal(err)
			}
		}
		same := func(a, b file) bool { return a.name == b.name && bytes.Equal(a.data, b.data) }
		if !slices.EqualFunc(once, again, same) {
			t.Errorf("run %d: %s: another mutant the second time", k, c.plan(k))
		}
		if !slices.EqualFunc(once, c.plan(k).sample.files, same) {
			changed++
		}
	}
	if changed < runs*9/10 {
		t.Errorf("%d of %d runs change something", changed, runs)
	}
}

// TestMended: damage beneath a checksum leaves it right.
func TestMended(t *testing.T) {
	data := sampleOf(t)[1].files[0].data
	same := mutate.Kind{Change: func(_ *rand.Rand, data []byte) []byte { return data }}
	for seed := range uint64(50) {
		mended := inSection(rand.New(rand.NewPCG(seed, 1)), data, mutate.Bits(3))
		again := inSection(rand.New(rand.NewPCG(seed, 1)), mended, same)
		if bytes.Equal(data, mended) || !bytes.Equal(mended, again) {
			t.Errorf("seed %d: changed %t, checksums right %t", seed, !bytes.Equal(data, mended), bytes.Equal(mended, again))
		}
	}
	files := []file{{"x/a.arrow", []byte("a")}, {"x/tracekit.json", []byte(`{"files":{"a.arrow":1},"schema":"s"}`)}}
	if err := mendManifest(files); err != nil || string(files[1].data) != `{"files":{"a.arrow":3251651376},"schema":"s"}` {
		t.Errorf("%s, %v", files[1].data, err)
	}
}

// TestMore: a finding is new if the sound trace has not as many, or tells a loss elsewhere; that
// the trace lies in another folder is nothing new.
func TestMore(t *testing.T) {
	read := func(severity, text string, count int) answer {
		second := `{"code":"x","severity":"loss","count":1,"text":"the second trace"}`
		a, err := readAnswer(fmt.Appendf(nil, `{"findings":[{"code":"x","severity":%q,"count":%d,"text":%q},%s]}`, severity, count, text, second),
			nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, c := range map[string]struct {
		than, answer answer
		want         bool
	}{
		"the same":      {read("loss", "sound/trace.prv: line 2", 1), read("loss", "t/trace.prv: line 2", 1), false},
		"fewer":         {read("loss", "line 2", 2), read("loss", "line 2", 1), false},
		"more":          {read("loss", "line 2", 1), read("loss", "line 2", 2), true},
		"another place": {read("loss", "line 2", 1), read("loss", "line 3", 1), true},
		"information":   {read("info", "line 2", 1), read("info", "line 3", 1), false},
	} {
		if _, codes := c.answer.more(c.than); (len(codes) > 0) != c.want {
			t.Errorf("%s: %q", name, codes)
		}
	}
}

// TestVerdicts: what a command may say of a mutant, and what not.
func TestVerdicts(t *testing.T) {
	sound := `{"schema":"s","x":1,"findings":[]}`
	told := `{"schema":"s","x":2,"findings":[{"code":"corrupt","severity":"error","count":1}]}`
	answer, err := readAnswer([]byte(sound), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ending ending
		files  []file
		want   outcome
	}{
		"same":       {ending: ending{stdout: []byte(sound)}, want: same},
		"announced":  {ending: ending{stdout: []byte(told)}, want: announced},
		"by nature":  {ending: ending{stdout: []byte(`{"schema":"s","x":2,"findings":[]}`)}, want: natural},
		"written":    {ending: ending{stdout: []byte(told)}, files: []file{{"x.json", []byte("{}")}}, want: announced},
		"refused":    {ending: ending{code: 3, stderr: []byte("no trace\n")}, want: refused},
		"silent":     {ending: ending{code: 3}, want: bad},
		"left":       {ending: ending{code: 1, stderr: []byte("no\n")}, files: []file{{"x.prv", nil}}, want: bad},
		"no JSON":    {ending: ending{stdout: []byte(sound[1:])}, want: bad},
		"bad file":   {ending: ending{stdout: []byte(sound)}, files: []file{{"x.svg", []byte("<svg>\x01</svg>")}}, want: bad},
		"usage":      {ending: ending{code: 2, stderr: []byte("usage\n")}, want: bad},
		"crash":      {ending: ending{code: 1, stderr: []byte("x: runtime error: y\n")}, want: bad},
		"escape":     {ending: ending{code: 3, stderr: []byte("\x1b[2J\n")}, want: bad},
		"hang":       {ending: ending{spent: hang(0) + 1, stdout: []byte(sound)}, want: bad},
		"memory":     {ending: ending{peak: leastMemory + 1, stdout: []byte(sound)}, want: bad},
		"no answer":  {ending: ending{visited: visited{wrong: "500"}, stdout: []byte(sound)}, want: bad},
		"slow end":   {ending: ending{visited: visited{ended: mostEnding + 1}, stdout: []byte(sound)}, want: bad},
		"by a limit": {ending: ending{code: -1}, want: bad},
	} {
		text := sampleOf(t)[3]
		j := judgement{campaign: &campaign{self: &program{path: "false"}}, dir: t.TempDir(), baseline: &baseline{answer: answer},
			ending: c.ending, files: c.files,
			plan: plan{sample: text, document: true}, mutants: []mutant{{first, text.files[0].data}}}
		// The records cannot be counted here: no value is told from a lost record.
		j.campaign.sound.Store(soundKey{text, "census", false}, func() (*baseline, error) { return new(baseline), nil })
		if got, why := j.judge(t.Context()); got != c.want {
			t.Errorf("%s: outcome %d (%s), want %d", name, got, why, c.want)
		}
	}
}

// TestLog: a log has what was noted, and a last line that was cut off is a run that was not made.
func TestLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	for k := range 3 {
		l, err := openLog(name)
		if err != nil || len(l.done) != k {
			t.Fatal(k, l, err)
		}
		r := result{k, "json", "info", 3, refused, 5, 7}
		if err := l.add(r); err != nil {
			t.Fatal(err)
		}
		if k > 0 && l.done[k-1].Command != "info" {
			t.Error(l.done)
		}
		if _, err := l.file.WriteString(`{"run":9`); err != nil {
			t.Fatal(err)
		}
		l.close()
	}
}

// TestBeside: what a command has left behind must not change an answer without a word; a profile may.
func TestBeside(t *testing.T) {
	answer, err := readAnswer([]byte(`{"x":1}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, left := range map[outcome][]file{natural: nil, bad: {{"profile.json", []byte("{}")}}} {
		s := *sampleOf(t)[2]
		s.left = left
		j := judgement{campaign: &campaign{self: &program{path: "false"}}, dir: t.TempDir(), baseline: &baseline{answer: answer},
			ending: ending{stdout: []byte(`{"x":2}`)},
			plan:   plan{sample: &s, document: true}, mutants: []mutant{{first, []byte("[]")}}}
		j.campaign.sound.Store(soundKey{&s, "census", false}, func() (*baseline, error) { return new(baseline), nil })
		if got, why := j.judge(t.Context()); got != want {
			t.Errorf("%d files left behind: outcome %d (%s), want %d", len(left), got, why, want)
		}
	}
}
