package main

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tracekit/readers"
	"tracekit/trace"
)

// steering is what clears a terminal, goes back in a line, begins a sequence in one byte and in
// one character, turns the direction, is nothing in XML, ends a string, and makes another line.
const steering = "\x1b[2J\r\x9b\u009b\u202e\ufffe\x00\u2028\U000e0001\nFORGED "

// checkPlain states that a text steers no terminal, and that no name begins a line.
func checkPlain(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "\nFORGED") {
		t.Errorf("a name begins a line:\n%q", text)
	}
	for i, r := range text {
		if r == '\n' {
			continue
		}
		if _, n := utf8.DecodeRuneInString(text[i:]); !unicode.IsGraphic(r) || r == utf8.RuneError && n == 1 {
			t.Errorf("%q in %q", r, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
}

// checkAligned states that each table's lines end before its rule does.
func checkAligned(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, rule := range lines {
		if len(rule) < 10 || strings.Trim(rule, "-") != "" {
			continue
		}
		for k := i + 1; k < len(lines) && lines[k] != "" && lines[k][0] != '#' && lines[k][0] != '+'; k++ {
			if utf8.RuneCountInString(lines[k]) > len(rule) && !strings.Contains(lines[k], "  time") {
				t.Errorf("wider than its table of %d columns:\n%s", len(rule), lines[k])
			}
		}
	}
}

// steeringTrace writes a sample whose every name steers, but those of MPI if they are kept.
func steeringTrace(t *testing.T, sample, path string, keepMPI bool) {
	t.Helper()
	src, err := readers.Open(t.Context(), sample, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	about, defs := src.Info(), *src.Defs()
	defs.Strings = slices.Clone(defs.Strings)
	for i, s := range defs.Strings {
		if !keepMPI || !strings.HasPrefix(s, "MPI_") {
			defs.Strings[i] = s + steering + s
		}
	}
	about.Creator, about.Machine, about.Description = "creator"+steering, "machine"+steering, "run"+steering
	about.Properties = maps.Clone(about.Properties)
	if about.Properties == nil {
		about.Properties = map[string]string{}
	}
	about.Properties["KEY"+steering] = "value" + steering
	w, err := readers.Create(path, about, &defs, readers.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for l := range defs.Locations {
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err := errors.Join(err, w.Write(b)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNamesDoNotSteerTerminals runs every command on traces whose every name, and that of the
// trace itself, holds what steers a terminal.
func TestNamesDoNotSteerTerminals(t *testing.T) {
	dir, sample := t.TempDir(), sampleArchive(t, "zoo-4")
	hostile := strings.NewReplacer("\x00", "", "/", "").Replace(steering)
	a, b := "mpi"+hostile, "all"+hostile
	t.Chdir(dir)
	steeringTrace(t, sample, a, true)
	steeringTrace(t, sample, b, false)
	var traces []string
	for _, extension := range []string{".arrow", ".parquet", ".json", ".prv"} {
		for _, in := range []string{a, b} {
			runPlain(t, dir, exitDone, "convert", in, in+extension)
			runPlain(t, dir, exitUsage, "convert", in, in+extension)
			traces = append(traces, in+extension)
		}
	}
	traces = append(traces, a, b)
	for _, in := range []string{a, b} {
		runPlain(t, dir, exitDone, "compress", "--by-memory", in, "-o", in+".tkf")
		runPlain(t, dir, exitDone, "compress", "--mode", "stat", in, "-o", in+"s.tkf")
		runPlain(t, dir, exitDone, "reconstruct", in+"s.tkf", "-o", in+"again")
		runPlain(t, dir, exitDone, "fit", in, "-o", in+"p.json", "--stability")
		runPlain(t, dir, exitDone, "analyze", "--profile", in+"p.json", "../"+filepath.Base(dir)+"/"+in)
		traces = append(traces, in+".tkf", in+"s.tkf", in+"again")
	}
	for _, name := range traces { // all commands on archives, the tables on all
		for i, args := range [][]string{
			{"info", "--counts"}, {"analyze", "--top", "100"}, {"info", "--json"}, {"analyze", "--json"}, {"analyze", "-o", name +
				".d"}, {"formulae"}, {"formulae", "--json"}, {"fit", "--paper"}, {"spacetime", "-o", name +
				".png"}, {"spacetime", "-o", name + ".svg"},
			{"compare", a}, {"compare", a, "--json"},
		} {
			if i > 1 && name != a && name != b {
				break
			}
			runPlain(t, dir, exitDone, append(slices.Clone(args), name)...)
		}
	}
	for _, args := range [][]string{
		{hostile}, {"help", hostile}, {"info", hostile}, {"info", "--" + hostile}, {"analyze", "--ranks", hostile, a},
		{"analyze", "--fail-if", hostile, a}, {"analyze", "--fail-if", "call_sites[" + hostile + "].time_ns>1", a},
		{"analyze", "--fail-if", "call_sites[MPI_Send].x>1", b}, {"analyze", "--profile", hostile, a}, {"analyze", "--profile", a, a},
		{"convert", a, "x" + hostile}, {"convert", a, "x.y" + hostile}, {"convert", a, hostile + "/x.prv"}, {"convert", "--format", hostile,
			a, "x"},
		{"generate", hostile, "-o", "x"}, {"generate", "halo", "--iterations", "2", "-o", "g" + hostile}, {"compress", a, "-o", hostile},
		{"analyze", "-o", a, a}, {"analyze", "--memory", hostile, a}, {"analyze", "--window", hostile, a}, {"info", "."},
	} {
		stdout, stderr, _ := tracekit(t, dir, args...)
		checkPlain(t, stdout)
		checkPlain(t, stderr)
	}
	checkFiles(t, dir)
}

// runPlain runs a command, which ends so and prints nothing that steers a terminal.
func runPlain(t *testing.T, dir string, want int, args ...string) {
	t.Helper()
	stdout, stderr, code := tracekit(t, dir, args...)
	if code != want {
		t.Errorf("%q: exit code %d, %s", args, code, stderr)
	}
	checkPlain(t, stdout)
	checkPlain(t, stderr)
	checkAligned(t, stdout)
	if t.Failed() {
		t.Fatalf("%q", args)
	}
}

// checkFiles checks the texts and pictures that the commands wrote.
func checkFiles(t *testing.T, dir string) {
	svgs, texts := 0, 0
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch filepath.Ext(name) {
		case ".svg":
			svgs++
			for d := xml.NewDecoder(strings.NewReader(string(text))); err == nil; {
				_, err = d.Token()
			}
			if err != io.EOF {
				t.Errorf("%q: %v", name, err)
			}
		case ".txt", ".json":
			texts++
			checkPlain(t, string(text))
		}
		return nil
	})
	if err != nil || svgs == 0 || texts == 0 {
		t.Errorf("%d SVGs, %d texts, %v", svgs, texts, err)
	}
}
