package headers

import (
	"strings"

	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// The tags of metrics that every trace has; the others are computation by region.
const (
	tagNone uint8 = iota
	tagWait
	tagWire
	tagCopy
	tagQueued
	tagProgress
	tagSystem
	tagNetwork
	tagUnexplained
	tagSend
	tagReceive
	tagCollective
	tagStartup
	tagMPI
	tagOutside
	tagNotRecorded
	firstRegion
)

// lastTag is that of the regions beyond those that have a tag of their own.
const lastTag = 255

// The kinds of regions, which stand before their names in the names of metrics.
const (
	Compute     = "compute: "
	Accelerator = "accelerator: " // a call of its runtime, in which the host often only waits for it
)

// Region returns the kind and the name of the region that a metric is of; ok is false if it is of none.
func Region(metric string) (kind, region string, ok bool) {
	for _, kind := range []string{Compute, Accelerator} {
		if region, ok := strings.CutPrefix(metric, kind); ok {
			return kind, region, true
		}
	}
	return "", "", false
}

// Metrics of time that is in no region.
const (
	OutsideRegions = "outside any region"
	NotRecorded    = "not recorded"
)

// metrics says what each tag counts.
type metrics struct {
	names    []string        // by tag
	devices  map[string]bool // names of regions that are calls of an accelerator's runtime
	byRegion []uint8         // tags of what is computed in a region; of an MPI function, tagMPI
	paths    []trace.PathNode
}

// newMetrics gives tags to regions, the one with the most time first, so that the largest can
// be masked.
func newMetrics(t *trace.Trace, a *analysis.Result) *metrics {
	m := &metrics{paths: t.Tree.Nodes, devices: make(map[string]bool), names: []string{
		tagNone: "", tagWait: "wait", tagWire: "wire", tagCopy: "copy", tagQueued: "queued", tagProgress: "late progress", tagSystem: "system",
		tagNetwork: "network or system", tagUnexplained: "unexplained", tagSend: "send overhead",
		tagReceive:    "receive overhead",
		tagCollective: "collective", tagStartup: "startup", tagMPI: "other MPI", tagOutside: OutsideRegions, tagNotRecorded: NotRecorded}}
	for id := range t.Defs.Regions {
		if t.Defs.IsDeviceCall(trace.RegionID(id)) {
			m.devices[t.Defs.RegionLabel(trace.RegionID(id))] = true
		}
	}
	tags := make(map[string]uint8)
	for _, row := range a.Profile {
		if _, known := tags[row.Region]; known || row.Paradigm == trace.ParadigmMPI.String() || row.ExclusiveNs == 0 {
			continue
		}
		tag := min(len(m.names), lastTag)
		tags[row.Region] = uint8(tag)
		switch {
		case len(m.names) < lastTag:
			m.names = append(m.names, m.ofRegion(row.Region))
		case len(m.names) == lastTag:
			m.names = append(m.names, Compute+"other regions")
		}
	}
	other := uint8(len(m.names) - 1) // of regions that have no time
	for id, f := range t.Defs.MPIFunctions() {
		tag, known := tags[t.Defs.RegionLabel(trace.RegionID(id))]
		switch {
		case f.Class != trace.ClassNone:
			tag = tagMPI
		case !known:
			tag = other
		}
		m.byRegion = append(m.byRegion, tag)
	}
	return m
}

// ofRegion returns the metric of a region that is none of MPI.
func (m *metrics) ofRegion(name string) string {
	if m.devices[name] {
		return Accelerator + name
	}
	return Compute + name
}

// of returns the tag of time in a call path between calls that wait.
func (m *metrics) of(path trace.PathID) uint8 {
	switch path {
	case profile.PathWait:
		return tagWait
	case profile.PathNotRecorded:
		return tagNotRecorded
	case profile.PathOutside:
		return tagOutside
	}
	if int(path) < len(m.paths) && int(m.paths[path].Region) < len(m.byRegion) {
		return m.byRegion[m.paths[path].Region]
	}
	return tagOutside
}

// tag returns the tag of a metric's name.
func (m *metrics) tag(name string) (uint8, bool) {
	for tag, n := range m.names {
		if n == name && tag > 0 {
			return uint8(tag), true
		}
	}
	return 0, false
}

// isDerived reports whether a metric is the work of a model, not of the trace.
func isDerived(tag uint8) bool { return tagWire <= tag && tag <= tagUnexplained }
