package fileio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document/field"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/fileio"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestPlanted: rank 0 reads 100 bytes of a in 10 and 28 of b in 20, rank 1 writes 4096 to a in 30 with MPI-IO, which
// calls write, for 25 of them; that counts as a call, but its time not once more. OTF2's records tell
// bytes and handle. An open moves nothing; 2^60 bytes in a call are a fault.
func TestPlanted(t *testing.T) {
	src := tracetest.MustParse(t, `
string 0 ""
string 1 a
string 2 b
attribute 0 file type=11
attribute 1 bytes type=4
region 0 read role=27
region 1 write role=27
region 2 open64 role=38
region 3 work
location 0 thread rank=0
  0 Enter work ; 10 Enter open64 attr=0:11:1 ; 15 Leave open64 ; 20 Enter read attr=0:11:1 attr=1:4:100 ; 30 Leave read
  40 Enter read attr=0:11:2 attr=1:4:28 ; 60 Leave read ; 70 Enter read attr=0:11:2 attr=1:4:1152921504606846976 ; 75 Leave read
  100 Leave work
location 1 thread rank=1
  0 Enter MPI_File_write ; 5 Enter write ; 5 IoOperationBegin 3 1 0 4096 7 ; 29 IoOperationComplete 3 4096 7 ; 30 Leave write
  30 Leave MPI_File_write
`)
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	from, to, _ := scope.Window(tr, scope.Selection{})
	for _, jobs := range []int{1, 2} {
		finder := fileio.NewFinder(tr, fileio.Options{From: from, To: to})
		a := statstest.Analysis(t, tr, analysis.Options{Jobs: jobs, Observers: []profile.Observer{finder}})
		x := finder.Result
		got := []string{fmt.Sprintf("calls %d time %d read %d written %d least %d (%d) most %d (%d)", x.Calls, x.TimeNs, x.ReadBytes,
			x.WriteBytes,
			x.Min.TimeNs, x.Min.Rank, x.Max.TimeNs, x.Max.Rank)}
		for _, o := range x.Operations {
			got = append(got, fmt.Sprintf("%s %s %d in %d (%d..%d) %d bytes %s/s", o.Operation, o.Kind, o.Calls, o.TimeNs, o.MinNs, o.MaxNs,
				o.Bytes, number(o.Bandwidth)))
		}
		for _, f := range x.Files {
			got = append(got, fmt.Sprintf("file %s ranks %d calls %d in %d reads %d of %d writes %d of %d", f.File, f.Ranks, f.Calls,
				f.TimeNs,
				f.Reads, f.ReadBytes, f.Writes, f.WriteBytes))
		}
		for _, s := range x.Sizes {
			got = append(got, fmt.Sprintf("%s of %d..%d: %d, %d bytes in %d", s.Kind, s.From, s.To, s.Calls, s.Bytes, s.TimeNs))
		}
		for _, f := range a.Findings {
			got = append(got, fmt.Sprintf("finding %s %d", f.Code, f.Count))
		}
		want := `calls 6 time 70 read 128 written 4096 least 30 (1) most 40 (0)
read read 3 in 35 (5..20) 128 bytes 4.26667e+09/s
MPI_File_write write 1 in 30 (30..30) 0 bytes -/s
write write 1 in 25 (25..25) 4096 bytes 1.6384e+11/s
open64 other 1 in 5 (5..5) 0 bytes -/s
file b ranks 1 calls 2 in 25 reads 2 of 28 writes 0 of 0
file handle 3 ranks 1 calls 1 in 25 reads 0 of 0 writes 1 of 4096
file a ranks 1 calls 2 in 15 reads 1 of 100 writes 0 of 0
read of 16..32: 1, 28 bytes in 20
read of 64..128: 1, 100 bytes in 10
write of 4096..8192: 1, 4096 bytes in 25
finding bad_value 1`
		if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
			t.Errorf("%d jobs: - is wanted, + is found:\n%s", jobs, diff)
		}
	}
}

func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *x)
}

// TestNothing: a trace in which no call works on files has no block, and none of its locations is
// heard; that such a call is defined does not make it one.
func TestNothing(t *testing.T) {
	for _, text := range []string{
		"location 0 thread rank=0\n  0 Enter read ; 10 Leave read\n",
		"region 0 work\nregion 1 write role=27\nlocation 0 thread rank=0\n  0 Enter work ; 10 Leave work\n",
	} {
		tr := statstest.Merged(t, tracetest.MustParse(t, text), merge.Options{})
		f := fileio.NewFinder(tr, fileio.Options{To: 10})
		if hear, _ := f.Listen(nil, 0); hear != nil {
			t.Errorf("a location without calls on files is listened to:\n%s", text)
		}
		if _, err := f.Finish(t.Context()); f.Result != nil || err != nil {
			t.Errorf("got %+v, %v", f.Result, err)
		}
	}
}

// TestTooDeep: of calls inside as many regions as there may be, each ends where the next one begins. Call
// paths do not go so deep, so that another thread must tell that there are such calls.
func TestTooDeep(t *testing.T) {
	src := tracetest.Inside(tracetest.MustParse(t, `
region 0 work
region 1 read role=27
location 0 thread rank=0
  10 Enter read ; 20 Enter read ; 50 Leave read ; 60 Enter read ; 70 Enter work ; 80 Leave work
location 1 thread rank=1
  10 Enter read ; 11 Leave read
`), trace.MaxDepth-1)
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	from, to, _ := scope.Window(tr, scope.Selection{})
	finder := fileio.NewFinder(tr, fileio.Options{From: from, To: to})
	statstest.Analysis(t, tr, analysis.Options{Observers: []profile.Observer{finder}})
	if x := finder.Result; x.Calls != 4 || x.TimeNs != 51 || len(x.Operations) != 1 || x.Operations[0].MaxNs != 30 {
		t.Errorf("%d calls in %d: %+v", x.Calls, x.TimeNs, x.Operations)
	}
}

// TestMainThreads states how long ranks do nothing but work on files: on the master 30 of real_IO.yield, which calls compute for 50, and 10
// of a read within that; not what the worker reads meanwhile.
func TestMainThreads(t *testing.T) {
	tr := statstest.Merged(t, tracetest.MustParse(t, `
process 0 rank0
region 0 real_IO.yield role=27
region 1 read role=27
region 2 compute
location 0 master rank=0 process=0
  0 Enter real_IO.yield ; 20 Enter compute ; 40 Enter read ; 50 Leave read ; 80 Leave compute ; 90 Leave real_IO.yield ; 100 Enter compute ; 200 Leave compute
location 1 worker process=0 kind=1
  0 Enter read ; 150 Leave read
`), merge.Options{Clock: merge.ClockNone})
	from, to, _ := scope.Window(tr, scope.Selection{})
	finder := fileio.NewFinder(tr, fileio.Options{From: from, To: to})
	statstest.Analysis(t, tr, analysis.Options{Observers: []profile.Observer{finder}})
	if x := finder.Result; x.MainNs != 40 || x.TimeNs != 240 {
		t.Errorf("main threads work on files for %d of %d, want 40 of 240", x.MainNs, x.TimeNs)
	}
}

// TestAlone: rank 0 alone works on files, for 30 of 100. The others wait for it, and have the least time in calls on files: none.
func TestAlone(t *testing.T) {
	tr := statstest.Merged(t, tracetest.MustParse(t, `
region 0 read role=27
region 1 compute
location 0 first rank=0
  0 Enter compute ; 50 Leave compute ; 50 Enter read ; 80 Leave read ; 80 Enter compute ; 100 Leave compute
location 1 second rank=1
  0 Enter compute ; 100 Leave compute
`), merge.Options{Clock: merge.ClockNone})
	from, to, _ := scope.Window(tr, scope.Selection{})
	finder := fileio.NewFinder(tr, fileio.Options{From: from, To: to})
	statstest.Analysis(t, tr, analysis.Options{Observers: []profile.Observer{finder}})
	x := finder.Result
	for _, c := range []struct{ got, want field.Extreme }{
		{x.Min, field.Extreme{Rank: 1}}, {x.Max, field.Extreme{Rank: 0, TimeNs: 30}}, {x.MainMost, field.Extreme{Rank: 0, TimeNs: 30}},
	} {
		if c.got != c.want {
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
}
