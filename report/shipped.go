package report

import (
	"slices"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/waitstate"
)

// Shipped is what the page receives besides the document, to show it as text does: the tables that have a face on it, the words,
// and what is summed for tables.
type Shipped struct {
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
	Files        []string               `json:"files,omitempty"`        // whether the program waits for files, where causes are not sought
	Training     *ShippedTraining       `json:"training,omitempty"`
}

// ShippedTraining is what text says of a training job besides its figures.
type ShippedTraining struct {
	Facts   []string      `json:"facts"`
	Workers []shownWorker `json:"workers"`
}

// Ship returns what the page receives of an analysis.
func Ship(a *document.Analysis) Shipped {
	s := Shipped{Tables: tables, Terms: Terms(), Waits: make(map[string]string), Kernels: Kernels(a.Devices), HostWaits: HostWaits(a.Devices),
		Doubts: slices.Concat(doubtLines(a.Doubts)...), Unclassified: unclassifiedLines(a)}
	of := &Sections{Analysis: a}
	for _, split := range []*Split{of.splitTime(true), of.splitDevices()} {
		if split != nil {
			s.Splits = append(s.Splits, split)
		}
	}
	if listed, startup := Listed(a.Diagnosis, false); a.Diagnosis != nil && len(listed) == 0 {
		s.Nothing = of.nothing(len(startup) > 0)
	} else if a.Diagnosis == nil && a.FileIO != nil {
		s.Files = fileVerdict(a.FileIO, a.Trace)
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
