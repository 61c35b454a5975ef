package diagnosis_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/merge"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/devices"
	"tracekit/stats/diagnosis"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// oneDevice is a process with a device; what its thread and its stream do is to be added.
const oneDevice = `
process 0 host
process 1 gpu kind=2 creator=0
attribute 0 correlation type=4
region 0 launch paradigm=5
region 1 k role=40 paradigm=5
region 2 ncclAllReduce role=40 paradigm=5
region 3 "Memcpy HtoD" role=30 paradigm=5
region 4 cudaStreamSynchronize paradigm=5
`

// TestOfDevices states why runs are not shorter of which the arithmetic is below.
func TestOfDevices(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{
			// k runs 20..30 and 90..100 of 100, launched at 10 and 80 by op: the path is the host's until 80, then
			// launch 10 and k 10. Before the first work, at 20, it is startup; nothing is launched 30..80.
			"host", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter main ; 9 Enter op ; 10 Enter launch attr=0:4:1 ; 12 Leave launch ; 13 Leave op ; 79 Enter op ; 80 Enter launch attr=0:4:2
  82 Leave launch ; 83 Leave op ; 84 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize ; 100 Leave main
location 1 stream process=1 kind=2
  20 Enter k attr=0:4:1 ; 30 Leave k ; 90 Enter k attr=0:4:2 ; 100 Leave k
`, `device_idle op launch gains 60 host_bound_ns 50
startup main  gains 20 critical_path_ns 20
device_idle op launch gains 10 kernel_gaps_ns 10`,
		},
		{
			// k 10..20 is launched at 10; from 20 on, when the device has done all, the host goes on. While the device works the path
			// is the host's, too, which nobody waits for: no cause.
			"ending", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter main ; 10 Enter launch attr=0:4:1 ; 10 Leave launch ; 12 Enter op ; 90 Leave op ; 100 Leave main
location 1 stream process=1 kind=2
  10 Enter k attr=0:4:1 ; 20 Leave k
`, `device_idle op  gains 80 after_last_work_ns 80
startup main  gains 10 critical_path_ns 10`,
		},
		{
			// Likewise, but from 20 to 95 the host ends the recording.
			"recorder", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter main ; 10 Enter launch attr=0:4:1 ; 10 Leave launch ; 20 Enter stop_trace ; 95 Leave stop_trace ; 100 Leave main
location 1 stream process=1 kind=2
  10 Enter k attr=0:4:1 ; 20 Leave k
`, `startup main  gains 10 critical_path_ns 10
device_idle main  gains 5 after_last_work_ns 5`,
		},
		{
			// Between the kernels the host loads data 10..90, of which 40 in decode; the launch is at 90. Nothing is left of the time in
			// which the device idles for other work of the host.
			"loading", oneDevice + `
region 5 "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
region 6 decode
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 10 Enter "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" ; 20 Enter decode
  60 Leave decode ; 90 Leave "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" ; 90 Enter launch attr=0:4:2 ; 90 Leave launch
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 90 Enter k attr=0:4:2 ; 100 Leave k
`, `data_loading enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__  gains 80 critical_path_ns 80`,
		},
		{
			// The second kernel has no launch: it is unknown why the device idles 10..90.
			"unknown", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 1 Enter main ; 100 Leave main
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 90 Enter k ; 100 Leave k
`, `measurement   gains none unknown_ns 80`,
		},
		{
			// No launch is recorded: the first work, at 20, is not late for one. The device idles 40..90, in which the host compiles for 40.
			"no launches", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter main ; 45 Enter compile ; 85 Leave compile ; 100 Leave main
location 1 stream process=1 kind=2
  20 Enter k ; 40 Leave k ; 90 Enter k ; 100 Leave k
`, `startup main  gains 20 critical_path_ns 20
measurement   gains none unknown_ns 50`,
		},
		{
			// The first device works 0..60, the second 50..90, so that of 90 for 80 one of them works alone.
			"turns", oneDevice + `
process 2 gpu2 kind=2 creator=0
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 50 Enter launch attr=0:4:2 ; 50 Leave launch ; 51 Enter cudaStreamSynchronize
  90 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 60 Leave k
location 2 stream process=2 kind=2
  50 Enter k attr=0:4:2 ; 90 Leave k
`, `device_idle   gains 30 host_bound_ns 0
serialization  k gains 30 one_device_ns 80`,
		},
		{
			// Both are launched at once; the second, ready at 10, begins at 90.
			"gap", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter op ; 0 Enter launch attr=0:4:1 ; 1 Leave launch ; 2 Enter launch attr=0:4:2 ; 3 Leave launch ; 4 Leave op
  5 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 90 Enter k attr=0:4:2 ; 100 Leave k
`, `device_idle op launch gains 80 kernel_gaps_ns 80`,
		},
		{
			// k 0..40; the allreduce 20..70 is alone 40..70, the copy 70..100 from there on.
			"exposed", oneDevice + `
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 0 Enter launch attr=0:4:2 ; 0 Leave launch ; 0 Enter launch attr=0:4:3 ; 0 Leave launch
  1 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 40 Leave k ; 70 Enter "Memcpy HtoD" attr=0:4:3 ; 100 Leave "Memcpy HtoD"
location 2 other process=1 kind=2
  20 Enter ncclAllReduce attr=0:4:2 ; 70 Leave ncclAllReduce
`, `transfer  Memcpy HtoD gains 30 exposed_ns 30
transfer  ncclAllReduce gains 30 exposed_ns 30`,
		},
		{
			// Rank 0 comes at 10, rank 1 at 60, both leave at 70: of 50 waits the mean of two devices is 25. Rank 1 is
			// first recorded at 40, and the path begins there: 40 of nothing, its host 10, launch 10, the allreduce 10.
			"late", `
process 0 host0
process 1 gpu0 kind=2 creator=0
process 2 host1
process 3 gpu1 kind=2 creator=2
attribute 0 correlation type=4
region 0 launch paradigm=5
region 1 nccl_allreduce canonical=MPI_Allreduce role=40 paradigm=4
location 0 thread0 process=0 kind=1
  0 Enter launch attr=0:4:1 ; 2 Leave launch
location 1 stream0 process=1 kind=2
  10 Enter nccl_allreduce attr=0:4:1 ; 10 MpiCollectiveBegin ; 70 MpiCollectiveEnd Allreduce comm=0 root=none sent=8 received=8
  70 Leave nccl_allreduce
location 2 thread1 process=2 kind=1
  40 Enter op ; 50 Enter launch attr=0:4:1 ; 52 Leave launch ; 53 Leave op
location 3 stream1 process=3 kind=2
  60 Enter nccl_allreduce attr=0:4:1 ; 60 MpiCollectiveBegin ; 70 MpiCollectiveEnd Allreduce comm=0 root=none sent=8 received=8
  70 Leave nccl_allreduce
group 0 "MPI ranks" kind=4 paradigm=4 members=1,3
group 1 world kind=5 paradigm=4 members=0,1
comm 0 MPI_COMM_WORLD group=1
`, `doubt late_records of rank 1 by 40
imbalance   gains 25 collective_wait_ns 50 of [1]
startup op  gains 10 critical_path_ns 10
transfer  nccl_allreduce gains 10 exposed_ns 20`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			a := ofDevices(t, c.trace)
			diagnosis.DoubtRecords(nil, a)
			causes := diagnosis.OfDevices(a)
			without, err := stats.Analyze(t.Context(), statstest.Merged(t, tracetest.MustParse(t, c.trace), merge.Options{Clock: merge.ClockNone}),
				analysis.Options{}, false)
			if err != nil || !reflect.DeepEqual(without.Doubts, a.Doubts) {
				t.Errorf("an analysis without causes has the doubts %v, %v, want %v", without.Doubts, err, a.Doubts)
			}
			for _, d := range a.Doubts {
				got = append(got, fmt.Sprintf("doubt %s of rank %d by %d", d.Kind, *d.Rank, d.LateNs))
			}
			for _, x := range causes {
				if _, ending := x.Evidence["after_last_work_ns"]; ending && len(x.Evidence) > 1 {
					t.Errorf("a cause has its time twice: %v", x.Evidence)
				}
				key := []string{"unknown_ns", "after_last_work_ns", "one_device_ns", "host_bound_ns", "kernel_gaps_ns", "exposed_ns",
					"collective_wait_ns", "critical_path_ns"}
				for _, k := range key {
					if v, ok := x.Evidence[k]; ok {
						gain := "none"
						if x.GainNs != nil {
							gain = fmt.Sprint(*x.GainNs)
						}
						line := fmt.Sprintf("%s %s %s gains %s %s %g", x.Kind, x.Region, x.Operation, gain, k, v)
						if len(x.Ranks) > 0 {
							line += fmt.Sprintf(" of %d", x.Ranks)
						}
						got = append(got, line)
						break
					}
				}
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), got); diff != "" {
				t.Errorf("- is wanted, + is found:\n%s", diff)
			}
		})
	}
}

// TestHostsWait states of how much time on hosts it is said that it follows waits for devices: where each launch does, the time of print,
// 40 + 30; where a second launch follows without a wait, the 2 until the first, of 70, which is not said.
func TestHostsWait(t *testing.T) {
	for _, c := range []struct {
		name, trace, headline string
		after                 float64
	}{
		{"each", `
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 1 Enter cudaStreamSynchronize ; 10 Leave cudaStreamSynchronize ; 10 Enter print
  50 Leave print ; 50 Enter launch attr=0:4:2 ; 50 Leave launch ; 51 Enter cudaStreamSynchronize ; 60 Leave cudaStreamSynchronize
  60 Enter print ; 90 Leave print ; 90 Enter launch attr=0:4:3 ; 90 Leave launch ; 91 Enter cudaStreamSynchronize
  100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 50 Enter k attr=0:4:2 ; 60 Leave k ; 90 Enter k attr=0:4:3 ; 100 Leave k
`, "The host waits for the device before it launches", 70},
		{"once", `
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 1 Enter cudaStreamSynchronize ; 10 Leave cudaStreamSynchronize ; 10 Enter print
  12 Leave print ; 12 Enter launch attr=0:4:2 ; 13 Leave launch ; 13 Enter print ; 80 Leave print ; 80 Enter launch attr=0:4:3
  80 Leave launch ; 81 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 12 Enter k attr=0:4:2 ; 15 Leave k ; 80 Enter k attr=0:4:3 ; 100 Leave k
`, "The host launches too slowly: the device idles", 0},
	} {
		found := diagnosis.OfDevices(ofDevices(t, oneDevice+c.trace))
		if len(found) == 0 || found[0].Headline != c.headline || found[0].Evidence["after_waits_ns"] != c.after || *found[0].GainNs < 65 {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// TestPause: of eleven gaps one is 70 long since the host prints, the others are 1. That each follows a wait is not why.
func TestPause(t *testing.T) {
	text := oneDevice + "location 0 thread process=0 kind=1\n  0 Enter main"
	device := "\nlocation 1 stream process=1 kind=2\n "
	at := 0
	for i := range 12 {
		text += fmt.Sprintf(" ; %d Enter launch attr=0:4:%d ; %d Leave launch ; %d Enter cudaStreamSynchronize ; %d Leave cudaStreamSynchronize",
			at, i+1, at, at, at+5)
		device += fmt.Sprintf(" %d Enter k attr=0:4:%d ; %d Leave k ;", at, i+1, at+5)
		if at += 6; i == 2 {
			at += 69
		}
	}
	found := diagnosis.OfDevices(ofDevices(t, text+" ; 150 Leave main"+strings.TrimSuffix(device, ";")+"\n"))
	if len(found) == 0 || found[0].Headline != "The host pauses once: the device idles" || found[0].Evidence["longest_gap_ns"] != 70 {
		t.Errorf("%+v", found)
	}
}

// TestCodeLoading: in the second launch, 13..70, the driver loads code for 56. The host launches no slower than others: the code is to be
// there. Of the time that the device idles the queue is empty for 3 and 8.
func TestCodeLoading(t *testing.T) {
	found := diagnosis.OfDevices(ofDevices(t, oneDevice+`
region 5 "Runtime Triggered Module Loading" paradigm=5
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 13 Enter launch attr=0:4:2 ; 13 Enter "Runtime Triggered Module Loading"
  69 Leave "Runtime Triggered Module Loading" ; 70 Leave launch ; 80 Enter launch attr=0:4:3 ; 80 Leave launch
  81 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 70 Enter k attr=0:4:2 ; 72 Leave k ; 80 Enter k attr=0:4:3 ; 100 Leave k
`))
	if len(found) == 0 {
		t.Fatal("no cause")
	}
	const says = "56 ns of the critical path pass in Runtime Triggered Module Loading. Gpu has an empty launch queue for 11 ns of 100 ns " +
		"(+ 57 ns with work queued); a kernel lasts 10 ns on average. Most idle time precedes work launched by launch: " +
		"68 ns, 34 ns each."
	c := found[0]
	if c.Advise(false); c.Headline != "The host loads code of kernels: the device idles" || c.Text != says ||
		!strings.Contains(c.Try, "CUDA_MODULE_LOADING=EAGER") {
		t.Errorf("%+v", c)
	}
}

// TestMeanwhile: why the device idles 40..90 is unknown; that its host compiles for 40 of that is told.
func TestMeanwhile(t *testing.T) {
	found := diagnosis.OfDevices(ofDevices(t, oneDevice+`
location 0 thread process=0 kind=1
  45 Enter compile ; 85 Leave compile
location 1 stream process=1 kind=2
  0 Enter k ; 40 Leave k ; 90 Enter k ; 100 Leave k
`))
	const want = "Why gpu is idle for 50 ns of 100 ns is unknown. Meanwhile the host is in compile for 40 ns."
	if len(found) != 1 || !strings.HasSuffix(found[0].Text, want) {
		t.Errorf("causes are %+v, want one that says %q", found, want)
	}
}

// TestUneven states that one of two devices of a process computes longer, 90 and 30; in the second trace it does so by three kernels
// beside one, of which the other could do one.
func TestUneven(t *testing.T) {
	for _, c := range []struct {
		trace, headline string
		gain            int64
	}{
		{`
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 0 Enter launch attr=0:4:2 ; 0 Leave launch ; 1 Enter cudaStreamSynchronize
  90 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 90 Leave k
location 2 stream process=2 kind=2
  0 Enter k attr=0:4:2 ; 30 Leave k
`, "gpu computes longer than the other", 60},
		{`
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 0 Enter launch attr=0:4:2 ; 0 Leave launch ; 1 Enter launch attr=0:4:3 ; 1 Leave launch
  2 Enter launch attr=0:4:4 ; 2 Leave launch ; 2 Enter cudaStreamSynchronize ; 90 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 30 Leave k ; 30 Enter k attr=0:4:3 ; 60 Leave k ; 60 Enter k attr=0:4:4 ; 90 Leave k
location 2 stream process=2 kind=2
  0 Enter k attr=0:4:2 ; 30 Leave k
`, "gpu has more work than the other", 30},
	} {
		found := diagnosis.OfDevices(ofDevices(t, oneDevice+"process 2 gpu2 kind=2 creator=0\n"+c.trace))
		if len(found) == 0 || found[0].Kind != cause.Imbalance || found[0].Headline != c.headline || *found[0].GainNs != c.gain {
			t.Errorf("want %s, %d: %+v", c.headline, c.gain, found)
		}
	}
}

// TestTurnsOnce: of two devices that take turns one has more work. That is no cause beside it: with equal work each, they would take as
// long one after the other.
func TestTurnsOnce(t *testing.T) {
	found := diagnosis.OfDevices(ofDevices(t, oneDevice+"process 2 gpu2 kind=2 creator=0\n"+`
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 1 Enter cudaStreamSynchronize ; 70 Leave cudaStreamSynchronize
  70 Enter launch attr=0:4:2 ; 70 Leave launch ; 71 Enter cudaStreamSynchronize ; 100 Leave cudaStreamSynchronize
location 1 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 70 Leave k
location 2 stream process=2 kind=2
  70 Enter k attr=0:4:2 ; 100 Leave k
`))
	if len(found) != 1 || found[0].Kind != cause.Serialization || *found[0].GainNs != 30 {
		t.Errorf("want 30 of turns alone: %+v", found)
	}
}

// TestLateByHost: rank 1 comes 40 late to an allreduce since its host launches late what it computes before. That is one cause.
func TestLateByHost(t *testing.T) {
	found := diagnosis.OfDevices(ofDevices(t, `
process 0 host0
process 1 gpu0 kind=2 creator=0
process 2 host1
process 3 gpu1 kind=2 creator=2
attribute 0 correlation type=4
region 0 launch paradigm=5
region 1 nccl_allreduce canonical=MPI_Allreduce role=40 paradigm=4
region 2 k role=40 paradigm=5
location 0 thread0 process=0 kind=1
  0 Enter launch attr=0:4:3 ; 1 Leave launch ; 1 Enter launch attr=0:4:1 ; 2 Leave launch ; 2 Enter launch attr=0:4:2 ; 3 Leave launch
location 1 stream0 process=1 kind=2
  0 Enter k attr=0:4:3 ; 10 Leave k ; 10 Enter k attr=0:4:1 ; 20 Leave k ; 20 Enter nccl_allreduce attr=0:4:2
  20 MpiCollectiveBegin ; 70 MpiCollectiveEnd Allreduce comm=0 root=none sent=8 received=8 ; 70 Leave nccl_allreduce
location 2 thread1 process=2 kind=1
  0 Enter launch attr=0:4:3 ; 1 Leave launch ; 1 Enter op ; 50 Enter launch attr=0:4:1 ; 51 Leave launch ; 51 Enter launch attr=0:4:2
  52 Leave launch ; 53 Leave op
location 3 stream1 process=3 kind=2
  0 Enter k attr=0:4:3 ; 10 Leave k ; 50 Enter k attr=0:4:1 ; 60 Leave k ; 60 Enter nccl_allreduce attr=0:4:2
  60 MpiCollectiveBegin ; 70 MpiCollectiveEnd Allreduce comm=0 root=none sent=8 received=8 ; 70 Leave nccl_allreduce
group 0 "MPI ranks" kind=4 paradigm=4 members=1,3
group 1 world kind=5 paradigm=4 members=0,1
comm 0 MPI_COMM_WORLD group=1
`))
	for _, c := range found {
		if c.Kind == cause.Imbalance || c.Kind == cause.DeviceIdle && (c.Headline != "The host of rank 1 launches too slowly" || *c.GainNs < 38) {
			t.Errorf("%+v", c)
		}
	}
	if len(found) == 0 || found[0].Kind != cause.DeviceIdle {
		t.Errorf("%+v", found)
	}
}

// TestHelpersEnd states that a helper which sleeps after all else is no cause, nor any time that a cause could save.
func TestHelpersEnd(t *testing.T) {
	found := diagnosis.OfDevices(ofDevices(t, oneDevice+`
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 0 Leave launch ; 1 Enter op ; 40 Enter launch attr=0:4:2 ; 40 Leave launch ; 40 Leave op
  41 Enter cudaStreamSynchronize ; 50 Leave cudaStreamSynchronize
location 1 monitor process=0 kind=1
  0 Enter "threading.py(359): wait" ; 100 Leave "threading.py(359): wait"
location 2 stream process=1 kind=2
  0 Enter k attr=0:4:1 ; 10 Leave k ; 40 Enter k attr=0:4:2 ; 50 Leave k
`))
	if len(found) != 1 || found[0].Kind != cause.DeviceIdle || *found[0].GainNs != 30 {
		t.Errorf("want 30 of the host: %+v", found)
	}
}

// TestSharedIdentifiers states that launches which share a number are not called missing.
func TestSharedIdentifiers(t *testing.T) {
	a := ofDevices(t, oneDevice+`
location 0 thread process=0 kind=1
  0 Enter launch attr=0:4:1 ; 2 Leave launch ; 40 Enter launch attr=0:4:1 ; 42 Leave launch
location 1 stream process=1 kind=2
  10 Enter k attr=0:4:1 ; 20 Leave k ; 60 Enter k attr=0:4:1 ; 70 Leave k
`)
	for _, c := range diagnosis.OfDevices(a) {
		if _, unknown := c.Evidence["unknown_ns"]; unknown {
			if _, missing := c.Evidence["without_launch"]; missing || c.Headline != "Launches share identifiers" {
				t.Errorf("%+v", c)
			}
			return
		}
	}
	t.Error("no cause says that launches share a number")
}

// ofDevices analyses what devices do.
func ofDevices(t *testing.T, text string) *analysis.Result {
	tr := statstest.Merged(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone})
	from, to, err := scope.Window(tr, scope.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	found := devices.NewFinder(tr, devices.Options{From: from, To: to})
	a := statstest.Analysis(t, tr, analysis.Options{Observers: []profile.Observer{found}})
	a.Devices, a.DevicePath = found.Devices, found.Path
	return a
}

// TestJoinSorts states that causes stand by gain, those without one last, and that what equal ones are about decides, not who found them.
func TestJoinSorts(t *testing.T) {
	gaining := func(kind cause.Kind, region field.Name, gain int64) cause.Cause {
		return cause.Cause{Kind: kind, SourceLine: field.SourceLine{Region: region}, GainNs: &gain}
	}
	of := []cause.Cause{gaining(cause.DeviceIdle, "g", 50), gaining(cause.Imbalance, "f", 20), gaining(cause.Imbalance, "h", 20),
		gaining(cause.Startup, field.NotRecorded, 20), {Kind: cause.Measurement}}
	for n := range len(of) {
		if diff := cmp.Diff(of, diagnosis.Join(of[n:], of[:n])); diff != "" {
			t.Errorf("from cause %d on: - is wanted, + is found:\n%s", n, diff)
		}
	}
}

// TestJoinOnce: that ranks start at different times is one cause, whether processes or devices show it.
func TestJoinOnce(t *testing.T) {
	late := cause.Cause{Kind: cause.Startup, SourceLine: field.SourceLine{Region: field.NotRecorded}}
	other := cause.Cause{Kind: cause.Startup, SourceLine: field.SourceLine{Region: "f"}}
	if got := diagnosis.Join([]cause.Cause{late}, []cause.Cause{late, other}); len(got) != 2 {
		t.Errorf("%d causes: %+v", len(got), got)
	}
	if got := diagnosis.Join(nil, []cause.Cause{late}); len(got) != 1 {
		t.Errorf("%d causes of devices alone: %+v", len(got), got)
	}
}
