package otf2

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest/mutate"
)

// linkTree makes a directory with links to all files of an archive, so that single files
// can be replaced.
func linkTree(t *testing.T, archive string) (dir string, files []string) {
	dir = t.TempDir()
	archive, err := filepath.Abs(archive)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(archive, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(archive, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(dir, name), 0o777)
		}
		if ext := filepath.Ext(path); ext == ".otf2" || ext == ".def" || ext == ".evt" {
			files = append(files, name)
			return os.Symlink(path, filepath.Join(dir, name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, files
}

// replace gives a file other content for the duration of f.
func replace(t *testing.T, path string, data []byte, f func()) {
	old, err := os.Readlink(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.WriteFile(path, data, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	f()
	if err := errors.Join(os.Remove(path), os.Symlink(old, path)); err != nil {
		t.Fatal(err)
	}
}

// digests returns a number for every event of a location that depends on all its columns.
func digests(s trace.Source, seed maphash.Seed, l trace.LocationID) (out []uint64, err error) {
	var h maphash.Hash
	h.SetSeed(seed)
	for b, err := range s.Events(context.Background(), l) {
		if err == nil {
			err = b.Check()
		}
		if err != nil {
			return out, err
		}
		attr := 0
		for seq, r := range b.Events {
			h.Reset()
			addRow(&h, b, seq, r, &attr)
			out = append(out, h.Sum64())
		}
	}
	return out, nil
}

// addRow hashes one event.
func addRow(h *maphash.Hash, b *trace.Batch, seq uint64, r trace.Row, attr *int) {
	switch i := r.First; r.Table {
	case trace.TableFlow:
		f := &b.Flow
		maphash.WriteComparable(h, [4]uint64{f.Seq[i], uint64(f.Time[i]), uint64(f.Kind[i]), uint64(f.Region[i])})
	case trace.TableP2P:
		p := &b.P2P
		maphash.WriteComparable(h, [8]uint64{p.Seq[i], uint64(p.Time[i]), uint64(p.Kind[i]), uint64(p.Peer[i]),
			uint64(p.Comm[i]), uint64(p.Tag[i]), p.Bytes[i], p.Request[i]})
	case trace.TableColl:
		c := &b.Coll
		maphash.WriteComparable(h, [9]uint64{c.Seq[i], uint64(c.Time[i]), uint64(c.Kind[i]), uint64(c.Op[i]),
			uint64(c.Comm[i]), uint64(c.Root[i]), c.Sent[i], c.Received[i], c.Request[i]})
	case trace.TableMetric:
		for m := &b.Metric; i < r.End; i++ {
			maphash.WriteComparable(h, [5]uint64{uint64(m.Time[i]), uint64(m.Metric[i]), uint64(m.Member[i]), uint64(m.Type[i]), m.Value[i]})
		}
	default:
		o := &b.Other
		maphash.WriteComparable(h, [3]uint64{o.Seq[i], uint64(o.Time[i]), uint64(o.Kind[i])})
		for _, arg := range o.Args[o.Offset[i]:o.Offset[i+1]] {
			maphash.WriteComparable(h, arg)
		}
	}
	for a := &b.Attrs; *attr < len(a.Seq) && a.Seq[*attr] == seq; *attr++ {
		maphash.WriteComparable(h, [3]uint64{uint64(a.Attribute[*attr]), uint64(a.Type[*attr]), a.Value[*attr]})
	}
}

// A damageCase is one real archive, and how it is read when whole.
type damageCase struct {
	dir   string
	files []string
	seed  maphash.Seed
	whole [][]uint64 // digests by location
	refs  map[string]trace.LocationID
}

func newDamageCase(t *testing.T, archive string) *damageCase {
	c := &damageCase{seed: maphash.MakeSeed(), refs: map[string]trace.LocationID{}}
	c.dir, c.files = linkTree(t, archive)
	s, err := Open(context.Background(), c.dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for l, loc := range s.Defs().Locations {
		c.refs[fmt.Sprint(loc.Ref)] = trace.LocationID(l)
		d, err := digests(s, c.seed, trace.LocationID(l))
		if err != nil {
			t.Fatal(err)
		}
		c.whole = append(c.whole, d)
	}
	return c
}

// read reads an archive one of whose files is damaged, and checks that the result is
// sound: a clean error, or sound batches. It returns the digests of one location's
// events and the findings.
func (c *damageCase) read(t *testing.T, l trace.LocationID) ([]uint64, []trace.Finding, error) {
	s, err := Open(context.Background(), c.dir, 0)
	if err != nil {
		var syntax *trace.SyntaxError
		if !errors.As(err, &syntax) && !errors.Is(err, trace.ErrNotATrace) {
			t.Errorf("error of another kind: %v", err)
		}
		return nil, nil, err
	}
	if err := s.Defs().Check(); err != nil {
		t.Errorf("definitions: %v", err)
	}
	d, err := digests(s, c.seed, min(l, trace.LocationID(max(len(s.Defs().Locations), 1)-1)))
	if err != nil {
		t.Errorf("reading events: %v", err)
	}
	return d, s.Findings(), nil
}

// TestTruncated cuts files of real archives. Cut event files give the events before the
// cut and a finding; cut definitions a finding or an error.
func TestTruncated(t *testing.T) {
	forDamage(t, func(t *testing.T, c *damageCase, name string, data []byte, at int) {
		replace(t, filepath.Join(c.dir, name), data[:at], func() {
			l := c.refs[strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))]
			got, findings, err := c.read(t, l)
			if err == nil && at < len(data)-2 && !noticed(findings) {
				t.Errorf("%s cut at %d of %d: nothing was noticed", name, at, len(data))
			}
			if filepath.Ext(name) == ".evt" && !isPrefix(got, c.whole[l]) {
				t.Errorf("%s cut at %d: the events before are not those of the whole file", name, at)
			}
		})
	})
}

// TestCorrupted changes single bytes. The events before the change are as they were.
func TestCorrupted(t *testing.T) {
	forDamage(t, func(t *testing.T, c *damageCase, name string, data []byte, at int) {
		path := filepath.Join(c.dir, name)
		l := c.refs[strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))]
		var before []uint64
		if filepath.Ext(name) == ".evt" {
			replace(t, path, data[:at], func() { before, _, _ = c.read(t, l) })
		}
		replace(t, path, mutate.Flip(data, at, byte(1+at%255)), func() {
			got, _, err := c.read(t, l)
			if err == nil && !isPrefix(before, got) {
				t.Errorf("%s changed at %d: events before it changed", name, at)
			}
		})
	})
}

// forDamage calls f for 200 places in each real archive: in turn in the anchor file, the
// global definitions, a location's definitions and a location's events.
func forDamage(t *testing.T, f func(t *testing.T, c *damageCase, name string, data []byte, at int)) {
	for _, archive := range realArchives(t) {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			places := 200
			if testing.Short() {
				places = 20
			}
			c := newDamageCase(t, archive)
			random := rand.New(rand.NewPCG(1, uint64(len(c.files))))
			for i := range places {
				name := c.pick(random, i%4)
				data, err := os.ReadFile(filepath.Join(c.dir, name))
				if err != nil {
					t.Fatal(err)
				}
				f(t, c, name, data, random.IntN(len(data)))
			}
		})
	}
}

// pick returns a file of the kind.
func (c *damageCase) pick(random *rand.Rand, kind int) string {
	suffix, local := [...]string{".otf2", ".def", ".def", ".evt"}[kind], kind >= 2
	var names []string
	for _, name := range c.files {
		if strings.HasSuffix(name, suffix) && strings.ContainsRune(name, filepath.Separator) == local {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return c.pick(random, 3)
	}
	return names[random.IntN(len(names))]
}

func noticed(findings []trace.Finding) bool {
	for _, f := range findings {
		switch f.Code {
		case trace.CodeTruncated, trace.CodeCorrupt, trace.CodeUnfinalised:
			return true
		}
	}
	return false
}

func isPrefix(a, b []uint64) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
