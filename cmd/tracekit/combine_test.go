package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers"
	"tracekit/shards"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// makeShards goes through a trace in n shards, which it leaves in a directory.
func makeShards(t *testing.T, dir, command, trace, parts string, n int, flags ...string) {
	t.Helper()
	for i := range n {
		succeed(t, dir, append([]string{command, "--shard", fmt.Sprintf("%d/%d", i+1, n), "-o", parts, trace}, flags...)...)
	}
}

// TestCombined: the analysis of shards is that of the trace, byte for byte, for any number of
// shards, every format, with flags, and of damaged traces.
func TestCombined(t *testing.T) {
	dir := t.TempDir()
	for k, trace := range shardedTraces(t, dir) {
		for _, flags := range [][]string{{"--json"}, {"--json", "--clock", "clc", "--ranks", "0-2", "--from", "20%"}} {
			want, wantErr, wantCode := tracekit(t, dir, append([]string{"analyze", trace}, flags...)...)
			for _, n := range []int{1, 3, 7} {
				parts := fmt.Sprintf("parts-%d-%d", k, n)
				if _, err := os.Stat(filepath.Join(dir, parts)); err != nil {
					makeShards(t, dir, "analyze", trace, parts, n)
				}
				for _, pass := range [][]string{nil, {"--second-pass", shares(filepath.Join(dir, parts), n)}} {
					if pass != nil && n != 3 {
						continue
					}
					got, gotErr, gotCode := tracekit(t, dir, slices.Concat([]string{"combine", parts}, flags, pass)...)
					if got != want || gotErr != wantErr || gotCode != wantCode || wantCode != exitDone {
						t.Errorf("%s, %d shards, %v: exit code %d, want %d; %s; documents equal: %t", trace, n, flags, gotCode, wantCode,
							gotErr, got == want)
					}
				}
			}
		}
	}
}

// shardedTraces returns the samples (one with -short), copies of one in other formats, and one that is damaged.
func shardedTraces(t *testing.T, dir string) []string {
	t.Helper()
	var archives []string
	for _, name := range []string{"ring-4", "ring-4-plain", "halo2d-8", "masterworker-4", "sweep-6", "zoo-4"} {
		archives = append(archives, sampleArchive(t, name))
	}
	damaged := damagedArchive(t, dir, archives[2])
	if testing.Short() {
		return []string{archives[0], damaged}
	}
	traces := []string{"x.prv", "x.json", "x.parquet"}
	for _, name := range traces {
		succeed(t, dir, "convert", archives[0], name)
	}
	return append(append(traces, archives...), damaged)
}

// TestJoined: the file that is joined of shards is that of the trace, byte for byte, and so is
// the document, whatever the number of shards and the flags.
func TestJoined(t *testing.T) {
	dir := t.TempDir()
	for k, trace := range shardedTraces(t, dir) {
		for f, flags := range [][]string{nil, {"--time-error", "1us"}, {"--time-error", "1%", "--terms", "6", "--formulae", "paper"}} {
			want, wantErr, wantCode := tracekit(t, dir, append([]string{"compress", trace, "--json", "--force", "-o", "whole.tkf"},
				flags...)...)
			for _, n := range []int{2, 7} {
				parts := fmt.Sprintf("parts-%d-%d-%d", k, f, n)
				makeShards(t, dir, "compress", trace, parts, n, flags...)
				got, gotErr, gotCode := tracekit(t, dir, "combine", parts, "--json", "--force", "-o", "joined.tkf")
				if got != want || gotErr != wantErr || gotCode != wantCode || wantCode != exitDone {
					t.Errorf("%s, %d shards, %v: exit code %d, want %d; %s; documents equal: %t", trace, n, flags, gotCode, wantCode,
						gotErr, got == want)
				}
				whole, err := os.ReadFile(filepath.Join(dir, "whole.tkf"))
				joined, err2 := os.ReadFile(filepath.Join(dir, "joined.tkf"))
				if err != nil || err2 != nil || !bytes.Equal(whole, joined) {
					t.Errorf("%s, %d shards, %v: files differ; %v, %v", trace, n, flags, err, err2)
				}
			}
		}
	}
}

// TestWrittenInParts: what several processes have written, each a part, is the trace that one writes:
// its events, its findings and what is said of it, whatever the number of parts.
func TestWrittenInParts(t *testing.T) {
	dir := t.TempDir()
	for k, trace := range shardedTraces(t, dir) {
		for _, format := range []string{"arrow", "parquet"} {
			in := func(n int) string { return fmt.Sprintf("in-%d-%d-%s/x.%s", k, n, format, format) }
			said := make(map[int]string)
			for _, n := range []int{0, 2, 7} { // 0: not in parts
				out := in(n)
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(out)), 0o777); err != nil {
					t.Fatal(err)
				}
				last := []string{"convert", trace, out, "--json"}
				for i := range n {
					succeed(t, dir, "convert", "--shard", fmt.Sprintf("%d/%d", i+1, n), trace, out)
					last = []string{"combine", out, "--json"}
				}
				document := succeed(t, dir, last...)
				analysis, _, _ := tracekit(t, dir, "analyze", "--json", out)
				succeed(t, dir, "convert", out, filepath.Dir(out)+"/again")
				said[n] = strings.ReplaceAll(document+analysis, out, "OUT")
				if left, _ := filepath.Glob(filepath.Join(dir, out, "*.shard")); len(left) > 0 {
					t.Errorf("%s: %v is left", out, left)
				}
				if again := contentsOf(t, filepath.Join(dir, filepath.Dir(out), "again")); !maps.Equal(again,
					contentsOf(t, filepath.Join(dir, filepath.Dir(in(0)), "again"))) {
					t.Errorf("%s, %s, %d parts: what is written of it as OTF2 differs", trace, format, n)
				}
				if said[n] != said[0] {
					t.Errorf("%s, %s, %d parts: what is said differs", trace, format, n)
				}
			}
		}
	}
}

// TestUnfinishedParts: parts that are not a trace yet are not taken for one, and whoever would spoil
// a trace is refused.
func TestUnfinishedParts(t *testing.T) {
	dir, ring := t.TempDir(), sampleArchive(t, "ring-4")
	try := func(want string, wantCode int, args ...string) {
		t.Helper()
		if _, stderr, code := tracekit(t, dir, args...); code != wantCode || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, %q; want %d, %q", args, code, stderr, wantCode, want)
		}
	}
	try("", exitDone, "convert", "--shard", "1/2", ring, "x.parquet")
	try("it holds parts of a trace", exitNotATrace, "info", "x.parquet")
	try("1 of 2 shards are missing: 2", exitNotATrace, "combine", "x.parquet")
	try("exists", exitUsage, "convert", "--shard", "1/2", ring, "x.parquet")
	try("", exitDone, "convert", "--shard", "2/2", ring, "x.parquet")
	try("--output is not for parts", exitUsage, "combine", "x.parquet", "-o", "y")
	try("", exitDone, "combine", "x.parquet")
	try("is a complete trace", exitUsage, "convert", "--shard", "2/2", ring, "x.parquet")
	try("exists", exitUsage, "convert", ring, "x.parquet")
	try("", exitDone, "convert", "--force", ring, "x.parquet") // and now it is in one part
	try("--shard writes arrow, parquet or otf2", exitUsage, "convert", "--shard", "1/2", ring, "x.prv")
	try("name one instead of x.otf2", exitUsage, "convert", "--shard", "1/2", ring, "x.otf2")
	try("--clock is for", exitUsage, "convert", "--shard", "1/2", "--clock", "auto", ring, "y.arrow")
}

// TestArchivesInParts: the archive that is joined of shards is that of the trace, byte for byte, and so are the
// document and what is wrong with the trace, whatever the number of shards; there may be more than locations.
func TestArchivesInParts(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	instants := filepath.Join(dir, "instants.json")
	err := os.WriteFile(instants, []byte(`[{"ph":"X","name":"f","ts":1,"dur":9,"pid":0,"tid":0},
		{"ph":"i","name":"mark","ts":3,"pid":0,"tid":0},{"ph":"X","name":"g","ts":2,"dur":9,"pid":0,"tid":1}]`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	for k, trace := range append(shardedTraces(t, dir), instants) {
		want, wantErr, wantCode := tracekit(t, dir, "convert", "--json", trace, "joined")
		whole := contentsOf(t, filepath.Join(dir, "joined"))
		for _, n := range []int{1, 2, 7} {
			parts := fmt.Sprintf("parts-%d-%d", k, n)
			makeArchiveShards(t, dir, trace, parts, n)
			got, gotErr, gotCode := tracekit(t, dir, "combine", parts, "--json", "--force", "-o", "joined")
			if got != want || gotErr != wantErr || gotCode != wantCode || wantCode != exitDone {
				t.Errorf("%s, %d shards: exit code %d, want %d; %s; documents equal: %t", trace, n, gotCode, wantCode, gotErr, got == want)
			}
			if joined := contentsOf(t, filepath.Join(dir, "joined")); !maps.Equal(joined, whole) || len(whole) < 3 {
				t.Errorf("%s, %d shards: the archives differ", trace, n)
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "joined")); err != nil {
			t.Fatal(err)
		}
	}
	for _, where := range []string{dir, os.Getenv("TMPDIR")} {
		if left, err := filepath.Glob(filepath.Join(where, "*tracekit-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// makeArchiveShards leaves the event files of a trace in a directory, in n shards.
func makeArchiveShards(t *testing.T, dir, trace, parts string, n int) {
	t.Helper()
	for i := range n {
		succeed(t, dir, "convert", "--shard", fmt.Sprintf("%d/%d", i+1, n), trace, parts)
	}
}

// TestArchiveIsWholeOrNot: event files that are damaged, or asked for something else, make no archive, and
// leave what stood in its place.
func TestArchiveIsWholeOrNot(t *testing.T) {
	dir, ring := t.TempDir(), sampleArchive(t, "ring-4")
	makeArchiveShards(t, dir, ring, "parts", 2)
	succeed(t, dir, "convert", ring, "there")
	before := contentsOf(t, filepath.Join(dir, "there"))
	for _, args := range [][]string{{"-o", "x.prv"}, {"-o", "x.arrow"}, {}, {"-o", "x", "--clock", "auto"}, {"-o", "there"}} {
		if _, stderr, code := tracekit(t, dir, append([]string{"combine", "parts"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	if err := garble(filepath.Join(dir, "parts", shards.Name(2, 2))); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"new", "there"} {
		_, stderr, code := tracekit(t, dir, "combine", "parts", "--force", "-o", out)
		if code != exitNotATrace || !strings.Contains(stderr, "a checksum does not fit") {
			t.Errorf("exit code %d, %s", code, stderr)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || !maps.Equal(before, contentsOf(t, filepath.Join(dir, "there"))) {
		t.Errorf("%v is left, %v", left, err)
	}
}

// shares returns the command that makes all shares of the second pass.
func shares(parts string, n int) string {
	return fmt.Sprintf("for i in $(seq %d); do %s=1 '%s' combine -q --shard $i/%d '%s' || exit; done", n, asProgram, os.Args[0], n, parts)
}

// TestSecondPass: shares that fail or are not made end the analysis without a document, and say why;
// nothing but the shards is left.
func TestSecondPass(t *testing.T) {
	dir, ring := t.TempDir(), sampleArchive(t, "ring-4")
	makeShards(t, dir, "analyze", ring, "parts", 2)
	for command, want := range map[string]string{
		"exit 7":                               "exit status 7",
		":":                                    "00001-of-00002.profile: no such file",
		shares(filepath.Join(dir, "parts"), 3): "exit status",
	} {
		stdout, stderr, code := tracekit(t, dir, "combine", "parts", "--second-pass", command)
		if code == exitDone || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", command, code, stderr, want)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "parts", "*")); err != nil || len(left) != 2 {
			t.Errorf("%s: %v is left", command, left)
		}
	}
	if _, stderr, code := tracekit(t, dir, "combine", "parts", "--shard", "1/2"); code == exitDone ||
		!strings.Contains(stderr, "00001-of-00002.task") {
		t.Errorf("without a task: exit code %d, %s", code, stderr)
	}
	if _, _, code := tracekit(t, dir, "combine", "parts", "--shard", "1/2", "--ranks", "0"); code != exitUsage {
		t.Errorf("with a selection: exit code %d", code)
	}
}

// damagedArchive makes an archive one of whose locations is cut off and one garbled.
func damagedArchive(t *testing.T, dir, archive string) string {
	t.Helper()
	to := filepath.Join(dir, "damaged")
	if err := os.CopyFS(to, os.DirFS(archive)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(to, "*", "*.evt"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, change := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)*2/3] },
		func(b []byte) []byte { copy(b[len(b)/2:], bytes.Repeat([]byte{0xFF}, 40)); return b },
	} {
		if err := mutate.File(files[i], change); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestCombineRefuses: what is not all the shards of one trace is refused, with words that say
// why, and nothing is printed.
func TestCombineRefuses(t *testing.T) {
	ring, plain := sampleArchive(t, "ring-4"), sampleArchive(t, "ring-4-plain")
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, parts string) error
		want  string
	}{
		{"missing", func(t *testing.T, p string) error { return os.Remove(filepath.Join(p, shards.Name(2, 3))) },
			"1 of 3 shards are missing: 2"},
		{"cut off", func(t *testing.T, p string) error { return os.Truncate(filepath.Join(p, shards.Name(2, 3)), 500) },
			"it ends in the middle"},
		{"empty", func(t *testing.T, p string) error { return os.Truncate(filepath.Join(p, shards.Name(2, 3)), 0) }, "does not begin with"},
		{"garbled", func(t *testing.T, p string) error { return garble(filepath.Join(p, shards.Name(3, 3))) }, "a checksum does not fit"},
		{"twice", func(t *testing.T, p string) error {
			return os.Link(filepath.Join(p, shards.Name(1, 3)), filepath.Join(p, "again.shard"))
		}, "it is shard 1, like"},
		{"no directory", func(t *testing.T, p string) error { return os.RemoveAll(p) }, "name the directory with the shards"},
		{"a file", func(t *testing.T, p string) error { return errors.Join(os.RemoveAll(p), os.WriteFile(p, nil, 0o644)) },
			"not a directory; name the directory"},
		{"a directory", func(t *testing.T, p string) error { return os.Mkdir(filepath.Join(p, "x.shard"), 0o755) }, "it is not a file"},
		{"other number", func(t *testing.T, p string) error {
			_, stderr, code := tracekit(t, p, "analyze", "--shard", "1/2", "-o", p, ring)
			if code != exitDone {
				return fmt.Errorf("%s", stderr)
			}
			return nil
		}, "it is one of 3 shards"},
		{"other flags", func(t *testing.T, p string) error {
			for k, bound := range []string{"1us", "2us", "1us"} {
				_, stderr, code := tracekit(t, p, "compress", "--shard", fmt.Sprintf("%d/3", k+1), "--time-error", bound, "-o", p,
					"--force", ring)
				if code != exitDone {
					return fmt.Errorf("%s", stderr)
				}
			}
			return nil
		}, "compressed with other options"},
		{"other command", func(t *testing.T, p string) error {
			_, stderr, code := tracekit(t, p, "compress", "--shard", "2/3", "-o", p, "--force", ring)
			if code != exitDone {
				return fmt.Errorf("%s", stderr)
			}
			return nil
		}, "it belongs to another command"},
		{"other trace", func(t *testing.T, p string) error {
			_, stderr, code := tracekit(t, p, "analyze", "--shard", "2/3", "-o", p, "--force", plain)
			if code != exitDone {
				return fmt.Errorf("%s", stderr)
			}
			return nil
		}, "it belongs to another trace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			parts := filepath.Join(dir, "parts")
			makeShards(t, dir, "analyze", ring, parts, 3)
			if err := test.spoil(t, parts); err != nil {
				t.Fatal(err)
			}
			args := []string{"combine", parts}
			if strings.Contains(test.want, "compressed") {
				args = append(args, "-o", "joined.tkf")
			}
			stdout, stderr, code := tracekit(t, dir, args...)
			if code != exitNotATrace || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, %q, want %q", code, stderr, test.want)
			}
		})
	}
}

func garble(path string) error {
	return mutate.File(path, func(b []byte) []byte { return mutate.Flip(b, len(b)/2, 1) })
}

// TestCombineChanged: shards of a trace that was written again since are refused.
func TestCombineChanged(t *testing.T) {
	dir, ring, sweep := t.TempDir(), sampleArchive(t, "ring-4"), sampleArchive(t, "sweep-6")
	path := filepath.Join(dir, "trace")
	if err := os.CopyFS(path, os.DirFS(ring)); err != nil {
		t.Fatal(err)
	}
	makeShards(t, dir, "analyze", path, "parts", 2)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := tracekit(t, dir, "combine", "parts"); code != exitNotATrace {
		t.Errorf("without its trace: exit code %d, %s", code, stderr)
	}
	if err := os.CopyFS(path, os.DirFS(sweep)); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := tracekit(t, dir, "combine", "parts"); code != exitNotATrace || !strings.Contains(stderr, "or has changed since") {
		t.Errorf("with another trace: exit code %d, %s", code, stderr)
	}
}

// TestDamagedSince: that a trace was damaged after its shards were made is told, whoever makes the second pass.
func TestDamagedSince(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace")
	if err := os.CopyFS(path, os.DirFS(sampleArchive(t, "ring-4"))); err != nil {
		t.Fatal(err)
	}
	makeShards(t, dir, "analyze", path, "parts", 2)
	sound, _, _ := tracekit(t, dir, "combine", "parts", "--full")
	events := filepath.Join(path, "traces", "0.evt")
	data := tracetest.ReadFile(t, events)
	data[1126] = 0xC1 // of a time
	tracetest.WriteFile(t, events, data)
	damaged, stderr, code := tracekit(t, dir, "combine", "parts", "--full")
	if code != 0 || strings.Contains(sound, "changed_meanwhile") || !strings.Contains(damaged, "changed_meanwhile") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, damaged)
	}
	shared, stderr, code := tracekit(t, dir, "combine", "parts", "--full", "--second-pass", shares(filepath.Join(dir, "parts"), 2))
	if code != 0 || shared != damaged {
		t.Errorf("by others: exit code %d, %s\n%s", code, stderr, shared)
	}
}

// TestShardsNeedTheirOwnEvents: a shard is the same, byte for byte, if nothing but holes are where the event files of other
// locations were: of those it takes the size alone, which tells one trace from another.
func TestShardsNeedTheirOwnEvents(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "trace"), os.DirFS(sampleArchive(t, "halo2d-8"))); err != nil {
		t.Fatal(err)
	}
	src, err := readers.Open(t.Context(), filepath.Join(dir, "trace"), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own := shards.Locations(src.Defs(), 1, 4)
	if err := src.Close(); err != nil || len(own) != 2 {
		t.Fatal(own, err)
	}
	left := func(parts string) (files []string) {
		t.Helper()
		for _, args := range [][]string{{"analyze", "-o", parts + "/analyze", "trace"}, {"convert", "trace", parts + "/convert"}} {
			succeed(t, dir, append(args, "--shard", "1/4")...)
			data := tracetest.ReadFile(t, filepath.Join(dir, parts, args[0], shards.Name(1, 4)))
			files = append(files, string(data))
		}
		return files
	}
	whole := left("whole")
	for l := range 8 {
		if slices.Contains(own, trace.LocationID(l)) {
			continue
		}
		path := filepath.Join(dir, "trace", "traces", fmt.Sprintf("%d.evt", l))
		about, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Truncate(path, 0), os.Truncate(path, about.Size())); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(whole, left("holes")) {
		t.Error("the shards differ")
	}
}

// TestShardUsage: what makes no sense together is refused before anything is opened.
func TestShardUsage(t *testing.T) {
	for _, args := range [][]string{
		{"analyze", "--shard", "0/3", "-o", "p"}, {"analyze", "--shard", "4/3", "-o", "p"}, {"analyze", "--shard", "x", "-o", "p"},
		{"analyze", "--shard", "1/99999999", "-o", "p"}, {"analyze", "--shard", "1/3"}, {"analyze", "--shard", "1/3", "-o", "p", "--json"},
		{"analyze", "--shard", "1/3", "-o", "p", "--ranks", "0"}, {"compress", "--shard", "1/3", "-o", "p", "--mode", "stat"},
		{"compress", "--shard", "1/3", "-o", "p", "--strict"}, {"compress", "--shard", "1/3", "-o", "p", "--by-memory"},
	} {
		if _, stderr, code := tracekit(t, t.TempDir(), append(args, "nothing")...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}
