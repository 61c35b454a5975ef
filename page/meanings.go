package page

import (
	"tracekit/stats/fileio"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// meanings says what regions are for devices, threads and files, so that the page can tell what
// these do in a selected time. Each is "" where there is nothing to tell, or the usual: computing,
// the program itself, no call on a file.
type meanings struct {
	device, thread, file []string // by region
}

func meaningsOf(t *trace.Trace) meanings {
	n := len(t.Defs.Regions)
	m := meanings{make([]string, n), make([]string, n), make([]string, n)}
	names := map[trace.DeviceWork]string{trace.DeviceIdle: "idle", trace.DeviceCommunication: "communication", trace.DeviceMemory: "memory"}
	if hasDevices(t) {
		for i, w := range t.Defs.DeviceWorks() {
			m.device[i] = names[w]
		}
	}
	if threads.Models(t) {
		for i, x := range threads.Meanings(t.Defs) {
			if x.Activity != threads.Useful {
				m.thread[i] = x.Activity.String()
			}
		}
	}
	for i, c := range fileio.Calls(t.Defs) {
		if c != fileio.NoCall {
			m.file[i] = c.String()
		}
	}
	return m
}

func hasDevices(t *trace.Trace) bool {
	for l := range t.Defs.Locations {
		if deviceOf(t, trace.LocationID(l)) != "" {
			return true
		}
	}
	return false
}

// deviceOf returns the name of the accelerator that a location is a stream of, "" if it is none.
func deviceOf(t *trace.Trace, id trace.LocationID) string {
	l := t.Defs.Locations[id]
	if l.Kind != trace.LocationGPU || int(l.Group) >= len(t.Defs.LocationGroups) {
		return ""
	}
	if name := t.Defs.String(t.Defs.LocationGroups[l.Group].Name); name != "" {
		return name
	}
	return "accelerator"
}
