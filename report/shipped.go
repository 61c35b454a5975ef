package report

import (
	"slices"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/waitstate"
	"tracekit/trace"
)

// Shipped is what the page receives besides the document, to show it as text does: the tables that have a face on it, the words,
// and what is summed for tables.
type Shipped struct {
	Writer       string                 `json:"writer,omitempty"` // format and recorder; "": not known
	Ranks        string                 `json:"ranks,omitempty"`  // how many; "": one
	Tables       []*Table               `json:"tables"`
	Terms        []Term                 `json:"terms"`
	Waits        map[string]string      `json:"waits"` // titles of wait states by their keys
	Kernels      []Kernel               `json:"kernels"`
	HostWaits    []accelerator.HostWait `json:"host_waits"`
	Doubts       []string               `json:"doubts,omitempty"`       // what makes all else doubtful, and what to do about it
	Splits       []*Split               `json:"splits,omitempty"`       // how ranks or threads, and devices, spend their time, without startup
	Startup      []int                  `json:"startup,omitempty"`      // causes that are of startup, which stand last
	Unclassified []string               `json:"unclassified,omitempty"` // what has no cause, and what to do about it
	Nothing      string                 `json:"nothing,omitempty"`      // why no cause is listed
	Hidden       string                 `json:"hidden,omitempty"`       // why no efficiency is known
	// whether the program waits for files, where causes are not sought; if not, first what takes its time
	Files    []string         `json:"files,omitempty"`
	Training *ShippedTraining `json:"training,omitempty"`
	Views    *Views           `json:"views,omitempty"`
}

// Views says side by side what ranks, the path of messages, a sample and rules would say of the call paths that communicate.
type Views struct {
	Sampled string    `json:"sampled"` // configuration; "": none
	Rules   []string  `json:"rules"`
	Rows    []ViewRow `json:"rows"` // those with the most time first
}

// A ViewRow is one call path. Times are in ns; the sample's is the latency of the messages sent there, with its 95 % interval.
type ViewRow struct {
	CallPath  string   `json:"callpath"`
	TimeNs    int64    `json:"time_ns"` // of all ranks
	PathNs    int64    `json:"path_ns"` // on the critical path
	LatencyNs *int64   `json:"latency_ns"`
	SampledNs *float64 `json:"sampled_ns"`
	LowNs     *float64 `json:"low_ns"`
	HighNs    *float64 `json:"high_ns"`
	Kept      *float64 `json:"kept"` // share of the time; null: no rules
}

// ShippedTraining is what text says of a training job besides its figures.
type ShippedTraining struct {
	Facts   []string      `json:"facts"`
	Workers []shownWorker `json:"workers"`
}

// unsought says why causes were not sought in a trace that may have some; "" if they were, or if it can have none.
func unsought(a *document.Analysis) string {
	switch {
	case a.Diagnosis != nil:
		return ""
	case slices.ContainsFunc(a.Findings, func(f document.Finding) bool { return f.Code == string(trace.CodeCutAnywhere) }):
		return "No causes are given: a file is cut off, and events may be missing anywhere."
	case a.Trace.Reduced != nil && a.Trace.Reduced.LeftOut != nil:
		return "No causes are given: too much of the time was cut from this trace."
	case a.Efficiency != nil || a.Threads != nil || len(a.Devices) > 0:
		return "Causes were not sought."
	}
	return ""
}

// Ship returns what the page receives of an analysis.
func Ship(a *document.Analysis) Shipped {
	s := Shipped{Tables: tables, Terms: Terms(), Waits: make(map[string]string), Kernels: Kernels(a.Devices), HostWaits: HostWaits(a.Devices),
		Doubts: slices.Concat(doubtLines(a.Doubts)...), Unclassified: unclassifiedLines(a), Ranks: ranksOf(a)}
	if line := cutLine(a.Trace.Reduced); line != "" {
		s.Doubts = append([]string{line}, s.Doubts...)
	}
	if a.Efficiency != nil && a.Efficiency.Hidden() {
		s.Hidden = "Efficiency is unknown: " + hiddenBy(a.Efficiency)
	}
	of := &Sections{Analysis: a}
	for _, split := range []*Split{of.splitTime(true), of.splitDevices()} {
		if split != nil {
			s.Splits = append(s.Splits, split)
		}
	}
	if listed, startup := Listed(a.Diagnosis, false); a.Diagnosis != nil && len(listed) == 0 {
		s.Nothing = of.nothing(len(startup) > 0)
	} else if s.Nothing = unsought(a); a.Diagnosis == nil && s.Nothing == "" && a.FileIO != nil {
		s.Files = append(functionsAside(a), fileVerdict(a.FileIO, a.Trace)...)
	}
	for i := range a.Diagnosis {
		if a.Diagnosis[i].Kind == cause.Startup {
			s.Startup = append(s.Startup, i)
		}
	}
	if t := a.Training; t != nil {
		s.Training = &ShippedTraining{trainingFacts(t), shownWorkers(t)}
	}
	for k := waitstate.None + 1; k < waitstate.Kinds; k++ {
		s.Waits[k.Info().Key] = k.Info().Title
	}
	return s
}
