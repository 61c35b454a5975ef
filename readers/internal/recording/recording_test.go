package recording_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A rankOf is a file of the tests below: a process with a kernel, what tells its rank, and its clock.
type rankOf struct {
	path       string
	rank       int // that the file says; -1: none
	of         uint32
	epoch      int64
	host       string
	unreadable error
}

// open joins files whose processes run a kernel at the time 100.
func open(t *testing.T, o recording.Options, files ...rankOf) (*recording.Source, error) {
	t.Helper()
	byPath := make(map[string]rankOf)
	var paths []string
	for _, f := range files {
		byPath[f.path], paths = f, append(paths, f.path)
	}
	s, err := recording.Open(t.Context(), "test", paths, o, func(_ context.Context, f *recording.File) error {
		of := byPath[f.Path]
		if of.unreadable != nil {
			return of.unreadable
		}
		f.Host, f.Epoch, f.HasEpoch = of.host, of.epoch, of.epoch > 0
		if of.host != "" {
			f.Clock = of.host
		}
		f.JobSize = of.of
		p := f.NewProcess("/bin/"+filepath.Base(f.Path), 7)
		if of.rank >= 0 {
			p.Rank, p.HasRank = uint32(of.rank), true
		}
		l := p.NewDevice(0).NewStream("stream 1", 1)
		l.Put(100, 50, f.Region("kernel", recording.Kernel(trace.ParadigmCUDA)), nest.Call{})
		return nil
	})
	if err == nil {
		t.Cleanup(func() { s.Close() })
		tracetest.CheckSource(t, s, true)
	}
	return s, err
}

// programs returns the program of each rank.
func programs(s *recording.Source) (names []string) {
	d := s.Defs()
	for _, l := range d.World() {
		if l == trace.None {
			names = append(names, "-")
			continue
		}
		name := d.String(d.LocationGroups[d.Process(l)].Name)
		names = append(names, name[strings.LastIndex(name, " ")+1:])
	}
	return names
}

// Ranks are those that files say, else their names do, else the order of the files. Who says a rank may know of more.
func TestRanks(t *testing.T) {
	none := func(paths ...string) (files []rankOf) {
		for _, p := range paths {
			files = append(files, rankOf{path: p, rank: -1})
		}
		return files
	}
	for _, c := range []struct {
		what  string
		files []rankOf
		want  []string
	}{
		{"said", []rankOf{{path: "a", rank: 1}, {path: "b", rank: 0}}, []string{"b", "a"}},
		{"word", none("rank_2.x", "rank0.x", "RANK-1.x"), []string{"rank0.x", "RANK-1.x", "rank_2.x"}},
		{"number", none("run7.1.x", "run7.0.x"), []string{"run7.0.x", "run7.1.x"}},
		{"processes", none("run.812.x", "run.99.x"), []string{"run.812.x", "run.99.x"}},
		{"two numbers", none("a0.1.x", "a1.0.x"), []string{"a0.1.x", "a1.0.x"}},
		{"a gap", []rankOf{{path: "a", rank: 0}, {path: "b", rank: 2}}, []string{"a", "-", "b"}},
		{"one of three", []rankOf{{path: "a", rank: 1, of: 3}}, []string{"-", "a", "-"}},
		{"no rank, of three", []rankOf{{path: "a", rank: -1, of: 3}, {path: "b", rank: -1, of: 3}}, []string{"a", "b"}},
		{"more than is believed", []rankOf{{path: "a", rank: 0, of: 1 << 30}}, []string{"a"}},
		{"twice", []rankOf{{path: "a", rank: 0}, {path: "b", rank: 0}}, []string{"a"}},
	} {
		s, err := open(t, recording.Options{}, c.files...)
		if err != nil {
			t.Fatal(err)
		}
		if got := programs(s); !slices.Equal(got, c.want) {
			t.Errorf("%s: ranks %q, want %q", c.what, got, c.want)
		}
		if n := recordingtest.Count(s, trace.CodeDuplicateDefinition); (n > 0) != (c.what == "twice") {
			t.Errorf("%s: %d ranks are there twice", c.what, n)
		}
	}
}

// Files are on one axis by their epochs, or by the clock that they have in common; else that is said, unless they begin together. It is
// also said if none records most of the run.
func TestClocks(t *testing.T) {
	const epoch = 1_700_000_000_000_000_000
	for _, c := range []struct {
		what      string
		a, b      rankOf
		start     bool
		begin     int64
		length    uint64
		unaligned uint64
		apart     uint64
	}{
		{"epochs", rankOf{epoch: epoch}, rankOf{epoch: epoch + 100}, false, epoch + 100, 150, 0, 0},
		{"epochs apart", rankOf{epoch: epoch}, rankOf{epoch: epoch + 101}, false, epoch + 100, 151, 0, 0},
		{"epochs far apart", rankOf{epoch: epoch}, rankOf{epoch: epoch + 1000}, false, epoch + 100, 1050, 0, 1},
		{"one host", rankOf{host: "x"}, rankOf{host: "x"}, false, 100, 50, 0, 0},
		{"two hosts", rankOf{host: "x"}, rankOf{host: "y"}, false, 100, 50, 1, 0},
		{"nothing", rankOf{}, rankOf{}, false, 100, 50, 1, 0},
		{"one epoch", rankOf{epoch: epoch}, rankOf{}, false, 100, 50, 1, 0},
		{"start", rankOf{epoch: epoch}, rankOf{}, true, 0, 50, 0, 0},
	} {
		c.a.path, c.b.path, c.b.rank = "a", "b", 1
		s, err := open(t, recording.Options{AlignStart: c.start}, c.a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		clock := s.Defs().Clock
		if clock.GlobalOffset != c.begin || clock.Length != c.length {
			t.Errorf("%s: from %d, %d long, want %d and %d", c.what, clock.GlobalOffset, clock.Length, c.begin, c.length)
		}
		if since := clock.Realtime != ^uint64(0); since != (c.begin >= epoch) {
			t.Errorf("%s: %d ns since 1970", c.what, clock.Realtime)
		}
		if n := recordingtest.Count(s, trace.CodeUnalignedClocks); n != c.unaligned {
			t.Errorf("%s: %d findings, want %d", c.what, n, c.unaligned)
		}
		if n := recordingtest.Count(s, trace.CodeFilesApart); n != c.apart {
			t.Errorf("%s: %d findings that they are far apart, want %d", c.what, n, c.apart)
		}
	}
}

// A file that cannot be read is left out, with a finding, unless there is no other.
func TestMissing(t *testing.T) {
	gone := &recording.Missing{Err: errors.New("gone")}
	other := fmt.Errorf("%w: other", trace.ErrNotATrace)
	for _, bad := range []error{gone, other} {
		s, err := open(t, recording.Options{}, rankOf{path: "a", rank: -1}, rankOf{path: "b", unreadable: bad})
		if err != nil {
			t.Fatal(err)
		}
		if recordingtest.Count(s, trace.CodeMissingFile) != 1 || len(s.Defs().Locations) != 1 {
			t.Errorf("%v: findings %v", bad, s.Findings())
		}
		if _, err := open(t, recording.Options{}, rankOf{path: "b", unreadable: bad}); !errors.Is(err, bad) {
			t.Errorf("error %v, want %v", err, bad)
		}
	}
	broken := errors.New("broken")
	if _, err := open(t, recording.Options{}, rankOf{path: "a"}, rankOf{path: "b", unreadable: broken}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// The rank of an environment is that of the surest variable, and no part of another one's value; the size is that of the same launcher.
func TestLaunch(t *testing.T) {
	for text, want := range map[string]string{
		"A=1\x00PMI_RANK=3\x00RANK=5\x00":              "3",
		"RANK=5":                                       "5",
		"LOCAL_RANK=2 MY_PMI_RANK=4":                   "none",
		`{"OMPI_COMM_WORLD_RANK": "12"}`:               "12",
		`{"SLURM_PROCID":7,"RANK":"8"}`:                "7",
		"PMI_RANK=3x":                                  "none",
		"OMPI_COMM_WORLD_RANK=123456789":               "none",
		"X=1\nSLURM_PROCID=0\nPMI_RANK=\n":             "0",
		"PMI_SIZE=4\nWORLD_SIZE=8\nPMI_RANK=2\nRANK=1": "2 of 4",
		"SLURM_NTASKS=4\x00SLURM_PROCID=0":             "0", // of the job, not of this step
		"RANK=3\x00WORLD_SIZE=3":                       "3",
	} {
		got := "none"
		var launch recording.Launch
		for _, part := range strings.SplitAfter(text, "\n") {
			launch.Take([]byte(part))
		}
		if rank, size, ok := launch.Rank(); ok {
			if got = fmt.Sprint(rank); size > 0 {
				got += fmt.Sprintf(" of %d", size)
			}
		}
		if got != want {
			t.Errorf("%q: rank %s, want %s", text, got, want)
		}
	}
}

// Numbers in names count as such.
func TestNatural(t *testing.T) {
	names := []string{"r10", "r2", "r1b", "r1", "r", "s", "r01c"}
	slices.SortFunc(names, nest.Natural)
	if want := []string{"r", "r1", "r1b", "r01c", "r2", "r10", "s"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// More threads than are kept apart are counted, and the others are read.
func TestCrowd(t *testing.T) {
	const more = 10
	s, err := recording.Open(t.Context(), "test", []string{"a"}, recording.Options{}, func(_ context.Context, f *recording.File) error {
		region := f.Region("f", recording.Function)
		for i := range nest.TrackLimit + more {
			if l := f.NewProcess("p", int64(i)).NewThread("t", 1); l != nil {
				l.Put(1, 1, region, nest.Call{})
			}
		}
		if f.Room() {
			t.Error("there is room")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := len(s.Defs().Locations); got != nest.TrackLimit {
		t.Errorf("%d locations, want %d", got, nest.TrackLimit)
	}
	if n := recordingtest.Count(s, trace.CodeLimitExceeded); n != 2*more { // processes and threads
		t.Errorf("%d are counted, want %d", n, 2*more)
	}
}
