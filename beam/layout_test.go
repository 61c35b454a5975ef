package main

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLayout: a worker that has a layout fetches nothing else to lay the trace out as who has made the layout
// did, whatever has become of the definitions in the store.
func TestLayout(t *testing.T) {
	dir, address, left := filled(t, "../samples/archives/halo2d-8")
	x, err := newObjects("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := x.lay(t.Context(), []string{address + "/run"})
	if err != nil || len(files.Opened) != 10 || len(files.Events) != 8 {
		t.Fatal(files, err)
	}
	if err := x.pack(t.Context(), address+"/parts", files); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	b, err := (place{Trace: []string{address + "/run"}, Parts: address + "/parts", Layout: true}).bench(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := filesIn(t, b.dir); !slices.Equal(names, filesIn(t, x.dir)) || len(names) != 19 {
		t.Error(names)
	}
	for _, name := range slices.Concat(files.Opened, files.Events) {
		want, err := os.ReadFile(x.local(name))
		got, err2 := os.ReadFile(b.local(name))
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("%s differs; %v, %v", name, err, err2)
		}
	}
	if about, err := os.Stat(filepath.Join(dir, "parts", layoutName)); err != nil || about.Size() != b.fetched.Load() {
		t.Errorf("%d bytes were fetched; %v, %v", b.fetched.Load(), about, err)
	}
	if err := errors.Join(x.removeLayout(t.Context(), address+"/parts"), x.removeLayout(t.Context(), address+"/parts"), b.Close(),
		x.Close()); err != nil {
		t.Error(err)
	}
	if left := left(); len(left) > 0 {
		t.Error(left)
	}
}

// TestHostileLayouts: what is no layout, or names what lies outside the mirror, is refused, and nothing is there of it.
func TestHostileLayouts(t *testing.T) {
	for name, comment := range map[string]string{
		"": "", "../x": "", "/x": "", "x": "1", "s3://../x": "", "s3://b/../../../x": "3", "s3://b/x": "-1", "s3://b/y": "x",
		"s3://b/z": "99999999999999999999",
	} {
		dir, address, _ := filled(t, "../samples/archives/ring-4")
		parts := filepath.Join(dir, "parts")
		if err := os.Mkdir(parts, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(parts, layoutName))
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		if _, err = z.CreateHeader(&zip.FileHeader{Name: name, Comment: comment}); err == nil && name != "" {
			err = z.Close()
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		outside := filesIn(t, dir)
		x, err := newObjects(filepath.Join(dir, "a", "mirror"))
		if err != nil {
			t.Fatal(err)
		}
		if err := x.unpack(t.Context(), address+"/parts"); err == nil {
			t.Errorf("%q %q: taken", name, comment)
		}
		if err := errors.Join(x.Close(), os.RemoveAll(x.dir)); err != nil {
			t.Error(err)
		}
		if now := filesIn(t, dir); !slices.Equal(now, outside) {
			t.Errorf("%q: %v", name, now)
		}
	}
}
