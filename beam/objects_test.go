package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/shards"
	"tracekit/trace"
	"tracekit/trace/tracetest/mutate"
)

// filled returns a directory that is a store, with a sample below run/, and its address. Whatever is put there and
// stays, and all that stays of mirrors, is seen by what it returns at the end.
func filled(t *testing.T, sample string) (dir, address string, left func() []string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	before, temp := filesIn(t, dir), t.TempDir()
	t.Setenv("TMPDIR", temp)
	return dir, "file://" + filepath.ToSlash(dir), func() []string {
		t.Helper()
		more := slices.DeleteFunc(filesIn(t, dir), func(name string) bool { return slices.Contains(before, name) })
		mirrors, err := filepath.Glob(filepath.Join(temp, "tracekit-*"))
		if err != nil {
			t.Fatal(err)
		}
		return append(more, mirrors...)
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestObjects: the analysis of a trace in a store is that of the plain command, byte for byte but for the
// names, for 1, 2 and 4 shards, of every sample (with -short of one), of one with damaged and missing
// files, of one as Paraver, JSON, tables and formulae; nothing is left in the store, nor here.
func TestObjects(t *testing.T) {
	command := plain(t)
	samples, err := filepath.Glob("../samples/archives/*")
	if err != nil || len(samples) == 0 {
		t.Fatal(err)
	}
	counts := []int{1, 2, 4}
	if testing.Short() {
		samples, counts = samples[:1], []int{2}
	}
	check := func(dir, address, name string, shards int) {
		t.Helper()
		local, remote := dir+"/run/"+name, address+"/run/"+name
		want := strings.ReplaceAll(printed(t, command, "analyze", "--json", "-q", local), dir, address)
		if got, err := ran(t, options{shards: shards, tracekit: command}, "analyze", remote, "--", "--json", "-q"); err != nil ||
			got != want {
			t.Errorf("%s, %d shards: %v; documents equal: %t", name, shards, err, got == want)
		}
	}
	for i, sample := range samples {
		dir, address, left := filled(t, sample)
		for _, n := range counts {
			check(dir, address, "traces.otf2", n)
		}
		// The shards may lie elsewhere than the trace: here, and there. They stay, tasks and profiles do not.
		want := strings.ReplaceAll(printed(t, command, "analyze", "--json", "-q", dir+"/run"), dir+"/run", address+"/run")
		parts := filepath.Join(t.TempDir(), "parts")
		got, err := ran(t, options{shards: 2, tracekit: command, parts: parts}, "analyze", address+"/run", "--", "--json", "-q")
		if err != nil || got != want {
			t.Errorf("%s, shards in files: %v; documents equal: %t", sample, err, got == want)
		}
		want = printed(t, command, "analyze", "--json", "-q", sample)
		got, err = ran(t, options{shards: 2, tracekit: command, parts: "file://" + parts + "/there"}, "analyze", sample, "--", "--json",
			"-q")
		if err != nil || got != want {
			t.Errorf("%s, in files: %v; documents equal: %t", sample, err, got == want)
		}
		stay := []string{"00001-of-00002.shard", "00002-of-00002.shard", "there/00001-of-00002.shard", "there/00002-of-00002.shard"}
		if left := filesIn(t, parts); !slices.Equal(left, stay) {
			t.Error(left)
		}
		if left := left(); len(left) > 0 {
			t.Error(left)
		}
		if i > 0 {
			continue
		}
		for _, form := range []string{"x.prv", "x.json.gz", "x.parquet"} {
			printed(t, command, "convert", "-q", filepath.Join(dir, "run"), filepath.Join(dir, "run", form))
			check(dir, address, form, 2)
		}
		printed(t, command, "compress", "-q", filepath.Join(dir, "run"), "-o", filepath.Join(dir, "run", "x.tkf"))
		check(dir, address, "x.tkf", 2)
		events := filepath.Join(dir, "run", "traces")
		cut := func(b []byte) []byte { return b[:len(b)*2/3] }
		if err := errors.Join(mutate.File(filepath.Join(events, "0.evt"), cut), os.Remove(filepath.Join(events, "1.evt"))); err != nil {
			t.Fatal(err)
		}
		check(dir, address, "traces.otf2", 2)
	}
}

// TestReports: with -o the report is drawn from all events.
func TestReports(t *testing.T) {
	command := plain(t)
	dir, address, left := filled(t, "../samples/archives/ring-4")
	local, remote := filepath.Join(t.TempDir(), "report"), filepath.Join(t.TempDir(), "report")
	printed(t, command, "analyze", "-q", "-o", local, dir+"/run")
	if _, err := ran(t, options{shards: 2, tracekit: command}, "analyze", address+"/run", "--", "-qo", remote); err != nil {
		t.Fatal(err)
	}
	names := filesIn(t, local)
	if !slices.Equal(names, filesIn(t, remote)) || len(names) == 0 {
		t.Errorf("%v", names)
	}
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(local, name))
		b, err2 := os.ReadFile(filepath.Join(remote, name))
		if err != nil || err2 != nil || strings.ReplaceAll(string(a), dir, address) != string(b) && filepath.Ext(name) != ".html" {
			t.Errorf("%s differs; %v, %v", name, err, err2)
		}
	}
	if _, err := ran(t, options{shards: 2, tracekit: command}, "analyze", address+"/run", "--", "-o", address+"/report"); err == nil {
		t.Error("a report was written into a store")
	}
	if left := left(); len(left) > 0 {
		t.Error(left)
	}
}

// TestOutputs: what is written into a store is what the plain command writes, byte for byte, of a trace in a
// store and of one in files; what is there is not replaced; what fails leaves nothing.
func TestOutputs(t *testing.T) {
	command := plain(t)
	dir, address, left := filled(t, "../samples/archives/halo2d-8")
	local := t.TempDir()
	printed(t, command, "compress", "-q", dir+"/run", "-o", filepath.Join(local, "x.tkf"))
	printed(t, command, "convert", "-q", dir+"/run", filepath.Join(local, "x.otf2"))
	printed(t, command, "convert", "-q", dir+"/run", filepath.Join(local, "x.parquet"))
	printed(t, command, "convert", "-q", dir+"/run", filepath.Join(local, "archive"))
	for _, from := range []string{address + "/run/traces.otf2", "../samples/archives/halo2d-8"} {
		out := address + "/out"
		for name, args := range map[string][]string{
			"x.tkf": {"compress", from, "--", "-q", "--json", "-o", out + "/x.tkf"}, "x.otf2": {"convert", from, out + "/x.otf2", "--",
				"-q", "--json"},
			"archive": {"convert", from, out + "/archive", "--", "-q", "--json"}, "x.parquet": {"convert", from, out + "/x.parquet", "--",
				"-q", "--json"},
		} {
			document, err := ran(t, options{shards: 3, tracekit: command}, args...)
			if err != nil || args[0] == "convert" && !strings.Contains(document, `"out": "`+out+"/"+name) {
				t.Fatal(name, err, document)
			}
			if _, err := ran(t, options{shards: 3, tracekit: command}, args...); err == nil ||
				!strings.Contains(err.Error(), out+"/"+name) {
				t.Errorf("%s was written twice: %v", name, err)
			}
		}
		made := filepath.Join(dir, "out")
		for _, name := range filesIn(t, made) {
			if strings.HasPrefix(name, "x.parquet") {
				if strings.HasSuffix(name, ".shard") {
					t.Errorf("%s is left", name)
				}
				continue
			}
			a, err := os.ReadFile(filepath.Join(local, name))
			b, err2 := os.ReadFile(filepath.Join(made, name))
			if err != nil || err2 != nil || string(a) != string(b) {
				t.Errorf("%s differs; %v, %v", name, err, err2)
			}
		}
		want := strings.ReplaceAll(printed(t, command, "analyze", "-q", "--json", filepath.Join(local, "x.parquet")), local, made)
		if printed(t, command, "analyze", "-q", "--json", filepath.Join(made, "x.parquet")) != want {
			t.Error("the tables differ")
		}
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"convert", address + "/run/none", address + "/y.parquet"}, {"convert", "beam_test.go", address + "/y.parquet"},
		{"convert", "beam_test.go", address + "/y.otf2"}, {"compress", address + "/run/traces.def", "--", "-o", address + "/y.tkf"},
		{"analyze", address + "/run/none"}, {"analyze", address + "/run/traces.otf2", "--", "--ranks", "x"},
		{"analyze", "nowhere://bucket/run"}, {"analyze", "file:///../x"}, {"analyze", "s3://bucket"},
	} {
		if _, err := ran(t, options{shards: 2, tracekit: command}, args...); err == nil {
			t.Errorf("%v: done", args)
		}
	}
	if left := left(); len(left) > 0 {
		t.Error(left)
	}
}

// TestFetched: for a shard no more is fetched than anchor, definitions and the events of its locations;
// what others' event files hold does not matter.
func TestFetched(t *testing.T) {
	const of = 4
	for number := 1; number <= of; number++ {
		dir, address, left := filled(t, "../samples/archives/halo2d-8")
		x, err := (place{Trace: []string{address + "/run/traces.otf2"}}).bench(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		src, store, err := x.open(t.Context(), false, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		own := shards.Locations(src.Defs(), number, of)
		want := int64(0)
		for _, name := range filesIn(t, dir) {
			file := filepath.Join(dir, name)
			about, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			mine := slices.ContainsFunc(own, func(l trace.LocationID) bool {
				return readers.EventFile(src.(*fetching).Source, l) == "file://"+file
			})
			if strings.HasSuffix(name, ".evt") && !mine {
				if err := os.WriteFile(file, make([]byte, about.Size()), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want += about.Size()
		}
		if _, err := merge.Scan(t.Context(), src, own, store, merge.Options{Jobs: 1}); err != nil {
			t.Error(err)
		}
		if got := x.fetched.Load(); got != want {
			t.Errorf("shard %d: %d bytes were fetched, want %d", number, got, want)
		}
		if found := src.Findings(); len(found) > 0 {
			t.Error(found)
		}
		if err := errors.Join(src.Close(), store.Close(), x.Close()); err != nil {
			t.Error(err)
		}
		if left := left(); len(left) > 0 {
			t.Error(left)
		}
	}
}

// TestChangedObjects: an object that goes, or gets another size, after it was listed is an error that names it.
func TestChangedObjects(t *testing.T) {
	for _, change := range []func(file string) error{os.Remove, func(file string) error { return os.Truncate(file, 100) }} {
		dir, address, _ := filled(t, "../samples/archives/ring-4")
		x, err := (place{Trace: []string{address + "/run"}}).bench(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		src, store, err := x.open(t.Context(), false, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		defer src.Close()
		if err := change(filepath.Join(dir, "run", "traces", "0.evt")); err != nil {
			t.Fatal(err)
		}
		if _, err := merge.Scan(t.Context(), src, nil, store, merge.Options{Jobs: 1}); err == nil ||
			!strings.Contains(err.Error(), address+"/run/traces/0.evt") {
			t.Error(err)
		}
	}
}

// TestHostileKeys: objects whose keys would lie outside the mirror, or cannot be files, are not seen; addresses of
// that kind are refused.
func TestHostileKeys(t *testing.T) {
	x, err := newObjects(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := memblob.OpenBucket(nil)
	x.buckets["mem://bucket/"] = b
	for _, key := range []string{"run/../../../x.otf2", "/x.otf2", "run//x.otf2", "run/./x.otf2", "..", "run/", "run/x.otf2", "run/x/0.evt",
		"run/x/../0.evt", "run/..x"} {
		if err := b.WriteAll(t.Context(), key, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	names, err := x.list(t.Context(), "mem://bucket/")
	if want := []string{"mem://bucket/run/..x", "mem://bucket/run/x.otf2", "mem://bucket/run/x/0.evt"}; err != nil ||
		!slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	for _, given := range []string{"s3://bucket", "s3://bucket/", "s3:///key", "s3://../key", "s3://b/../key", "s3://b/a//c", "s3://b/./c",
		"://b/c", "s3://b/?x=y"} {
		if name, err := x.name(given); err == nil {
			t.Errorf("%s: %s", given, name)
		}
	}
	for given, want := range map[string]string{"s3://b/c/?region=x": "s3://b/c", "file:///a/b": "file:///a/b", "a?b": "a?b",
		"../x": "../x"} {
		if name, err := x.name(given); name != want || err != nil {
			t.Errorf("%s: %s, %v", given, name, err)
		}
	}
	if got := x.given("s3://b/other"); got != "s3://b/other?region=x" {
		t.Error(got)
	}
}

// TestInterrupted: a command that is interrupted while it works on what it has fetched leaves nothing of that, nor in
// the store.
func TestInterrupted(t *testing.T) {
	_, address, left := filled(t, "../samples/archives/ring-4")
	dir := t.TempDir()
	waits := filepath.Join(dir, "waits")
	if err := os.WriteFile(waits, []byte("#!/bin/sh\n: >"+dir+"/waiting\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "--shards=2", "--tracekit="+waits, "analyze", address+"/run")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		if _, err := os.Stat(dir + "/waiting"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it went on")
	}
	if left := left(); len(left) > 0 {
		t.Error(left)
	}
}
