package readers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/readers/internal/protobuf/protobuftest"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
)

// An xlaEvent is one of a thread of the host, in µs; with a device it is executed as that device.
type xlaEvent struct {
	thread, device int
	name           string
	from, to       int
	meeting        string
	step           int
}

// xlaSteps are steps in which threads execute two pairs of devices. The first device of the last pair computes 30 µs where others
// compute 10. Threads take other devices in each step, and operations lie in a loop.
func xlaSteps() (events []xlaEvent) {
	const steps, length = 20, 50
	for s := range steps {
		at := s * length
		events = append(events, xlaEvent{0, -1, "train", at, at + length - 1, "", s})
		for d := range 4 {
			thread, pair, work := 1+(d+s)%4, d/2, 10
			if d >= 2 {
				work = 30 - 20*(d%2)
			}
			ready := 12 + 20*pair
			what := []string{"all reduce", "collective permute"}[pair]
			meeting := fmt.Sprintf("%s RendezvousKey{run_id=%d, global_devices=[%d, %d], op_id=1}", what, s, 2*pair, 2*pair+1)
			events = append(events, xlaEvent{thread, d, "while.3.clone", at + 1, at + 1 + work, "", -1},
				xlaEvent{thread, d, "fusion.1", at + 1, at + 1 + work, "", -1},
				xlaEvent{thread, d, []string{"psum.7", "ppermute.3"}[pair], at + 1 + work, at + ready, "", -1},
				xlaEvent{thread, -1, "Rendezvous", at + 1 + work, at + ready, meeting, -1})
		}
	}
	return events
}

func xlaJSON(events []xlaEvent) []byte {
	var list []string
	for _, e := range events {
		args := "{}"
		switch {
		case e.device >= 0:
			args = fmt.Sprintf(`{"device_ordinal":"%d","hlo_op":%q}`, e.device, e.name)
		case e.meeting != "":
			args = fmt.Sprintf(`{"name":%q}`, e.meeting)
		case e.step >= 0:
			args = fmt.Sprintf(`{"step_num":"%d"}`, e.step)
		}
		list = append(list, fmt.Sprintf(`{"ph":"X","pid":7,"tid":%d,"ts":%d,"dur":%d,"name":%q,"args":%s}`, e.thread+1, e.from,
			e.to-e.from, e.name, args))
	}
	return []byte(`{"traceEvents":[` + strings.Join(list, ",\n") + `]}`)
}

func xlaPlane(events []xlaEvent) []byte {
	message := protobuftest.Message
	const lines, names, stats = 3, 4, 5
	numbers := []string{"", "device_ordinal", "hlo_op", "name", "step_num"}
	var plane []byte
	ids := make(map[string]int)
	id := func(table int, name string) int {
		if ids[name] == 0 {
			ids[name] = len(ids) + 10
			plane = append(plane, message(table, message(1, ids[name], 2, message(1, ids[name], 2, name)))...)
		}
		return ids[name]
	}
	for i, name := range numbers[1:] {
		plane = append(plane, message(stats, message(1, i+1, 2, message(1, i+1, 2, name)))...)
	}
	for thread := range 5 {
		line := message(2, fmt.Sprintf("pool/%d", -thread-5), 3, 0)
		if thread == 0 {
			line = message(2, "python", 3, 0)
		}
		for _, e := range events {
			if e.thread != thread {
				continue
			}
			b := message(1, id(names, e.name), 2, e.from*1e6, 3, (e.to-e.from)*1e6)
			switch {
			case e.device >= 0:
				b = append(b, message(4, message(1, 1, 4, e.device), 4, message(1, 2, 5, e.name))...)
			case e.meeting != "":
				b = append(b, message(4, message(1, 3, 5, e.meeting))...)
			case e.step >= 0:
				b = append(b, message(4, message(1, 4, 4, e.step))...)
			}
			line = append(line, message(4, b)...)
		}
		plane = append(plane, message(lines, line)...)
	}
	return message(1, slices.Concat(message(2, "/host:CPU"), plane))
}

// TestDevicesOfThreads states that what threads of a host execute as devices of XLA is what devices do, in both forms of its profiles:
// the one that computes longest is named, with the time that this costs, and its partner alone waits for it.
func TestDevicesOfThreads(t *testing.T) {
	for name, data := range map[string][]byte{"trace.json": xlaJSON(xlaSteps()), "host.xplane.pb": xlaPlane(xlaSteps())} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			src, err := readers.Open(t.Context(), path, readers.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{}), analysis.Options{}, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Diagnosis) == 0 || a.Diagnosis[0].Headline != "Rank 2 is always slow" || *a.Diagnosis[0].GainNs != 20*20_000 {
				t.Errorf("%+v", a.Diagnosis)
			}
			for _, c := range a.Diagnosis {
				if strings.Contains(c.Try, "CUDA") {
					t.Errorf("%s Try: %s", c.Headline, c.Try)
				}
			}
			for i, want := range []struct {
				device        string
				compute, wait int64
			}{{"CPU 0", 200_000, 0}, {"CPU 1", 200_000, 0}, {"CPU 2", 600_000, 0}, {"CPU 3", 200_000, 400_000}} {
				d := &a.Devices[i]
				if !strings.HasSuffix(d.Device, want.device) || d.ComputeNs != want.compute || d.IdleCauses.CollectiveWaitNs != want.wait {
					t.Errorf("%s computes %d ns, waits %d ns; want %+v", d.Device, d.ComputeNs, d.IdleCauses.CollectiveWaitNs, want)
				}
			}
		})
	}
}
