package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/doubt"
)

// TestCutFile states that of a file whose missing events may lie anywhere, here the last of the kernels that PyTorch's profiler writes
// after what launches them, neither causes nor times of devices are given: the device would seem to idle.
func TestCutFile(t *testing.T) {
	events := launches(0)
	for _, n := range []int{len(events), len(events) - 40} {
		dir, end := t.TempDir(), "]}"
		if n < len(events) {
			end = ","
		}
		path := filepath.Join(dir, "t.json")
		if err := os.WriteFile(path, []byte(`{"schemaVersion":1,"traceEvents":[`+strings.Join(events[:n], ",\n")+end), 0o600); err != nil {
			t.Fatal(err)
		}
		var a struct {
			Devices   []accelerator.Device `json:"devices"`
			Diagnosis []cause.Cause        `json:"diagnosis"`
		}
		decode(t, succeed(t, dir, "analyze", "--json", "-q", path), &a)
		if whole := n == len(events); len(a.Devices) > 0 != whole || a.Diagnosis != nil != whole {
			t.Errorf("of %d events: %d devices, diagnosis %+v", n, len(a.Devices), a.Diagnosis)
		}
	}
}

// launches are the events of a host and a device that take turns, from a time in µs on.
func launches(from int) (events []string) {
	for i := range 50 {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":%d,"dur":90}`, from+100*i),
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%d,"dur":9,"args":{"correlation":%d}}`,
				from+100*i+10, i))
	}
	for i := range 50 {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":95,`+
			`"args":{"device":0,"stream":7,"correlation":%d}}`, from+100*i+30, i))
	}
	return events
}

// TestFilesApart states that of files that lie hours apart no causes are given, and none is said to wait for another.
func TestFilesApart(t *testing.T) {
	for _, later := range []int{0, 3_600_000_000} {
		dir := t.TempDir()
		args := []string{"analyze", "--json", "-q"}
		for rank := range 2 {
			path := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
			text := fmt.Sprintf(`{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":2},"baseTimeNanoseconds":1,"traceEvents":[%s]}`, rank,
				strings.Join(launches(rank*later), ",\n"))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, path)
		}
		var a struct {
			Devices   []accelerator.Device `json:"devices"`
			Diagnosis []cause.Cause        `json:"diagnosis"`
			Doubts    []doubt.Sign         `json:"doubts"`
		}
		decode(t, succeed(t, dir, args...), &a)
		if apart := later > 0; len(a.Devices) == 0 != apart || a.Diagnosis == nil != apart || len(a.Doubts) > 0 {
			t.Errorf("%d µs apart: %d devices, diagnosis %+v, doubts %+v", later, len(a.Devices), a.Diagnosis, a.Doubts)
		}
	}
}
