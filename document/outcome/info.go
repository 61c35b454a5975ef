package outcome

import (
	"context"
	"iter"
	"maps"

	"tracekit/document"
	"tracekit/engine"
	"tracekit/trace"
)

// An Info says what is in a trace. Records is absent unless they were counted.
type Info struct {
	Schema      string             `json:"schema"`
	Trace       document.TraceInfo `json:"trace"`
	Version     string             `json:"version"`
	Machine     string             `json:"machine"`
	Description string             `json:"description"`
	Properties  map[string]string  `json:"properties"`
	Bytes       int64              `json:"bytes"`
	Definitions map[string]int     `json:"definitions"`
	Records     map[string]uint64  `json:"records,omitempty"`
	Findings    []document.Finding `json:"findings"`

	Communicators []Communicators `json:"-"`
	Threads       int             `json:"-"` // of processors
	Offsets       int             `json:"-"` // locations with measured clock offsets
}

// Communicators are those of a name and a number of members.
type Communicators struct {
	Name    string
	Members int
	Count   int
}

// NewInfo makes the document of what definitions say.
func NewInfo(src trace.Source) *Info {
	about, d := src.Info(), src.Defs()
	doc := &Info{
		Schema: "tracekit.info/1", Version: about.Version, Machine: about.Machine, Description: about.Description,
		Properties: about.Properties, Bytes: about.Bytes,
		Definitions: map[string]int{
			"strings": len(d.Strings), "system_tree_nodes": len(d.SystemTree), "location_groups": len(d.LocationGroups),
			"locations": len(d.Locations), "regions": len(d.Regions), "groups": len(d.Groups), "communicators": len(d.Comms),
			"source_locations": len(d.SourceLocations), "calling_contexts": len(d.CallingContexts),
			"metric_members": len(d.MetricMembers), "metrics": len(d.Metrics), "attributes": len(d.Attributes),
			"others": len(d.Opaque),
		},
		Communicators: communicatorsOf(d), Offsets: WithOffsets(d),
	}
	doc.Trace = document.TraceInfo{
		Path: about.Path, Format: about.Format, Creator: about.Creator, Processes: len(d.World()), Locations: len(d.Locations),
		EndNs: d.Clock.Nanoseconds(int64(d.Clock.Length)), ClockResolutionHz: d.Clock.Resolution, Rebuilt: document.RebuiltOf(about),
	}
	doc.Trace.DurationNs = doc.Trace.EndNs
	for _, l := range d.Locations {
		doc.Trace.Events += l.Events
		if l.Kind == trace.LocationCPUThread {
			doc.Threads++
		}
	}
	return doc
}

// WithOffsets returns the number of locations with measured clock offsets.
func WithOffsets(d *trace.Defs) (n int) {
	for _, l := range d.Locations {
		if len(l.ClockOffsets) > 1 {
			n++
		}
	}
	return n
}

// communicatorsOf counts communicators by name and size.
func communicatorsOf(d *trace.Defs) []Communicators {
	var out []Communicators
	index := make(map[Communicators]int) // by name and members
	for _, c := range d.Comms {
		members := 0
		if int(c.Group) < len(d.Groups) {
			members = len(d.Groups[c.Group].Members)
			if d.Groups[c.Group].Kind == trace.GroupCommSelf {
				members = 1
			}
		}
		name := d.String(c.Name)
		if name == "" {
			name = "(unnamed)"
		}
		if c.Inter {
			name += ", intercommunicator"
		}
		key := Communicators{Name: name, Members: members}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, key)
		}
		out[i].Count++
	}
	return out
}

// Count reads all events and counts them by kind, beside further records of a format.
func (doc *Info) Count(ctx context.Context, src trace.Source, further map[string]uint64, o engine.Options) error {
	counts, err := engine.Run(ctx, src, o, counting{})
	if err != nil {
		return err
	}
	if counts == nil { // there are no locations
		counts = new(kindCounts)
	}
	doc.Records, doc.Trace.Events = map[string]uint64{}, 0
	maps.Copy(doc.Records, further)
	for k, n := range counts {
		if n > 0 {
			doc.Records[trace.Kind(k).String()] = n
			doc.Trace.Events += n
		}
	}
	return nil
}

// counting counts the events of each kind.
type counting struct{}

type kindCounts [256]uint64

func (counting) Map(_ context.Context, _ *trace.Defs, _ trace.LocationID, batches iter.Seq2[*trace.Batch, error]) (*kindCounts, error) {
	n := new(kindCounts)
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		for _, kinds := range [][]trace.Kind{b.Flow.Kind, b.P2P.Kind, b.Coll.Kind, b.Other.Kind} {
			for _, k := range kinds {
				n[k]++
			}
		}
		for _, t := range b.Order {
			if t == trace.TableMetric {
				n[trace.KindMetric]++
			}
		}
	}
	return n, nil
}

func (counting) Combine(a, b *kindCounts) *kindCounts {
	for k, n := range b {
		a[k] += n
	}
	return a
}
