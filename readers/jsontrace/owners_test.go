package jsontrace_test

import (
	"fmt"
	"testing"

	"tracekit/trace"
)

// kernelOf returns a kernel of a device and the call of a process that launches it.
func kernelOf(device, process, at, correlation int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":%d,"tid":%d,"ts":%d,"dur":1,"args":{"correlation":%d}},
{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":5,"args":{"correlation":%d}}`, process, process, at, correlation, device, at+2, correlation)
}

// TestOwners states that an accelerator belongs to the process that launches what it executes, whatever the order of their numbers.
func TestOwners(t *testing.T) {
	var events []string
	for i := range 100 {
		events = append(events, kernelOf(0, 60, 10*i, 1+i), kernelOf(1, 50, 10*i, 1001+i))
	}
	s := openText(t, array(append(events, `{"ph":"X","cat":"cpu_op","name":"idle","pid":40,"tid":40,"ts":0,"dur":9}`)...))
	want := map[string]string{"device 0": "process 60", "device 1": "process 50"}
	d := s.Defs()
	for _, g := range d.LocationGroups {
		if g.Kind != 2 {
			continue
		}
		device, of := d.String(g.Name), d.String(d.LocationGroups[g.Creator].Name)
		if want[device] != of {
			t.Errorf("%s belongs to %s, want %s", device, of, want[device])
		}
		delete(want, device)
	}
	if len(want) > 0 {
		t.Errorf("missing devices: %v", want)
	}
}

// TestStrayFrames states that frames of threads that PyTorch does not know, which it notes under process 0, the number of an accelerator
// too, are of the process that launches, and are no kernels.
func TestStrayFrames(t *testing.T) {
	const labels = `{"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}},`
	frame := `{"ph":"X","cat":"python_function","name":"threading.py(359): wait","pid":0,"tid":7,"ts":0,"dur":100}`
	s := openText(t, `{"schemaVersion":1,"traceEvents":[`+labels+frame+","+kernelOf(0, 50, 10, 1)+`]}`)
	d := s.Defs()
	kinds := map[string]trace.LocationKind{}
	for _, l := range d.Locations {
		g := d.LocationGroups[l.Group]
		kinds[d.String(l.Name)+" of "+d.String(g.Name)] = l.Kind
	}
	for name, kind := range map[string]trace.LocationKind{"thread 7 of process 50": trace.LocationCPUThread,
		"thread 50 of process 50": trace.LocationCPUThread,
		"thread 7 of GPU 0":       trace.LocationGPU} {
		if kinds[name] != kind {
			t.Errorf("%s has kind %d, want %d, of %v", name, kinds[name], kind, kinds)
		}
	}
}
