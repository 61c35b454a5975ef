package readers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestFilesOf states which files in a store belong to a trace, and that no more is listed than names
// that begin alike.
func TestFilesOf(t *testing.T) {
	store := []string{
		"run/notes.txt", "run/traces.0.thumb", "run/traces.def", "run/traces.marker", "run/traces.otf2", "run/traces/0.def", "run/traces/0.evt",
		"run/traces/0.snap", "run/traces/../../1.evt", "run/traces/18446744073709551615.evt", "run/traces/18446744073709551616.evt",
		"run/traces/deeper/0.evt", "run/traces/x.evt", "run/tracesuite.otf2",
		"one/a.otf2", "one/a.def", "two/a.otf2", "two/b.otf2", "two/a.def",
		"prv/run.pcf", "prv/run.prv", "prv/run.row", "prv/run.rows", "gz/run.pcf", "gz/run.prv.gz",
		"json/rank0.json", "json/rank1.json", "rank.json",
		"x.parquet/00001-of-00002/events/flow.parquet", "x.parquet/00001-of-00002/tracekit.json", "x.parquet/tracekit.json",
		"half.parquet/00001-of-00002/tracekit.json", "run.tkf", "odd/name",
	}
	archive := Files{[]string{"run/traces.def", "run/traces.marker", "run/traces/0.def", "run/traces.otf2"},
		[]string{"run/traces/0.evt", "run/traces/18446744073709551615.evt"}}
	for name, want := range map[string]Files{
		"run/traces.otf2": archive, "run": archive, "run/": archive,
		"one":             {Opened: []string{"one/a.def", "one/a.otf2"}},
		"prv/run.prv":     {Opened: []string{"prv/run.pcf", "prv/run.row", "prv/run.prv"}},
		"prv":             {Opened: []string{"prv/run.pcf", "prv/run.row", "prv/run.prv"}},
		"gz/run.prv.gz":   {Opened: []string{"gz/run.pcf", "gz/run.prv.gz"}},
		"json/rank1.json": {Opened: []string{"json/rank1.json"}},
		"x.parquet": {Opened: []string{"x.parquet/00001-of-00002/events/flow.parquet", "x.parquet/00001-of-00002/tracekit.json",
			"x.parquet/tracekit.json"}},
		"run.tkf": {Opened: []string{"run.tkf"}}, "odd/name": {Opened: []string{"odd/name"}},
		"two": {}, "json": {}, "half.parquet": {}, "nothing": {}, "odd": {}, "": {},
	} {
		got, err := FilesOf(name, func(prefix string) (found []string, err error) {
			for _, file := range store {
				if strings.HasPrefix(file, prefix) {
					found = append(found, file)
				}
			}
			return found, nil
		})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if (err == nil) != (len(want.Opened) > 0) || err != nil && !errors.Is(err, trace.ErrNotATrace) {
			t.Errorf("%s: %v", name, err)
		}
	}
	failed := errors.New("refused")
	if _, err := FilesOf("run", func(string) ([]string, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
}

// TestFilesAreEnough: FilesOf names what opening a trace reads, and EventFile what reading the events of
// a location reads: nothing else need be there, and of other event files nothing but their size.
func TestFilesAreEnough(t *testing.T) {
	dir, there := t.TempDir(), os.DirFS(archive)
	files, err := FilesOf("archive", func(string) (found []string, err error) {
		err = fs.WalkDir(there, ".", func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				found = append(found, "archive/"+name)
			}
			return err
		})
		return found, err
	})
	if err != nil || len(files.Events) == 0 {
		t.Fatal(files, err)
	}
	const address = "s3://bucket/archive"
	put := func(name string, hole bool) {
		t.Helper()
		data, err := fs.ReadFile(there, strings.TrimPrefix(name, "archive/"))
		if err != nil {
			t.Fatal(err)
		}
		if hole {
			clear(data)
		}
		path := InMirror(dir, "s3://bucket/"+name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range files.Opened {
		put(name, false)
	}
	for _, name := range files.Events {
		put(name, true)
	}
	src := openFor(t, address, OpenOptions{Mirror: dir})
	whole := openFor(t, archive, OpenOptions{})
	about, original := src.Info(), whole.Info()
	if about.Path != address || about.Bytes != original.Bytes || !reflect.DeepEqual(src.Defs(), whole.Defs()) {
		t.Errorf("it is not the same trace: %v", about)
	}
	for l := range src.Defs().Locations {
		file := EventFile(src, trace.LocationID(l))
		name, ok := strings.CutPrefix(file, "s3://bucket/")
		if !ok || !slices.Contains(files.Events, name) {
			t.Fatalf("location %d: %s", l, file)
		}
		put(name, false)
		if got, want := eventsOf(t, src, l), eventsOf(t, whole, l); got == 0 || got != want {
			t.Errorf("location %d: %d events, want %d", l, got, want)
		}
	}
	if found := src.Findings(); len(found) != len(whole.Findings()) {
		t.Error(found)
	}
}

func eventsOf(t *testing.T, src trace.Source, l int) (n int) {
	t.Helper()
	for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
		n += b.Len()
	}
	return n
}

// TestMirror: what is said of a trace that was opened from a mirror names addresses, in findings and
// in errors; a name that leads out of the mirror is none.
func TestMirror(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := InMirror(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	put("s3://bucket/run.prv", "#Paraver (01/02/2026 at 03:04):9_ns:0:1:1(1:0)\n")
	put("file:///data/none.json", "no trace")
	src := openFor(t, "s3://bucket/run.prv", OpenOptions{Mirror: dir})
	found := src.Findings()
	if len(found) == 0 || found[0].First.File != "s3://bucket/run.pcf" || found[0].Text != "there is no s3://bucket/run.pcf" {
		t.Errorf("%v", found)
	}
	for _, name := range []string{"file:///data/none.json", "file:///data/missing.json", "s3://bucket/nothing"} {
		_, err := Open(t.Context(), name, OpenOptions{Mirror: dir})
		if err == nil || strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if path := (*fs.PathError)(nil); errors.As(err, &path) && path.Path != name {
			t.Errorf("%s: %v", name, path)
		}
	}
	for _, name := range []string{"s3://../x", "s3://b/../../x", "../s3://x", "./a://b", "/s3://x", "://x", "traces.otf2"} {
		if IsAddress(name) || InMirror(dir, name) != name {
			t.Errorf("%s is an address", name)
		}
	}
}

// TestExtraCountsAreForwarded: what a format counts besides events is asked through what watches its passes.
func TestExtraCountsAreForwarded(t *testing.T) {
	src := openFor(t, archive, OpenOptions{})
	if counts := ExtraCounts(src); counts == nil || len(counts) > 0 {
		t.Errorf("an archive without snapshots, markers and thumbnails has %v", counts)
	}
	if counts := ExtraCounts(watchPasses(counted{src})); counts["Marker.Marker"] != 2 {
		t.Errorf("two markers are told as %v", counts)
	}
}

type counted struct{ trace.Source }

func (counted) ExtraCounts() map[string]uint64 { return map[string]uint64{"Marker.Marker": 2} }
