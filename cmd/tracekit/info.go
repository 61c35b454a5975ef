package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/trace"

	"github.com/spf13/cobra"
)

// infoSchema names the JSON document of info.
const infoSchema = "tracekit.info/1"

type infoOptions struct {
	cli.ReadFlags
	counts bool
	paths  []string
}

// An infoDocument says what is in a trace. Records is absent unless they were counted.
type infoDocument struct {
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

	communicators []communicator
	threads       int
	offsets       int
}

type communicator struct {
	name    string
	members int
	count   int
}

func newInfo(io *cli.Streams, run func(context.Context, *cli.Streams, *infoOptions) error) *cobra.Command {
	opts := &infoOptions{}
	cmd := &cobra.Command{
		Use:   "info TRACE...",
		Short: "Show what a trace contains",
		Long: `Info prints the content of a trace: format, recorder, processes, threads, communicators, time
span, clock, notes. It reads only definitions. --counts reads all events and counts them by
kind, including snapshots, markers and thumbnails of an OTF2 archive.

TRACE is

  ` + strings.Join(readers.Known(), "\n  ") + `

The format is recognized by content, also in gzip files. Any file of a trace, or a directory with
one trace, may be named instead.`,
		Example: `  tracekit info scorep-20261121/traces.otf2
  tracekit info --counts --json scorep-20261121`,
		Args: cobra.MinimumNArgs(1),
		RunE: cli.Validated(io, opts, &opts.paths, run),
	}
	opts.ReadFlags.Add(cmd.Flags())
	cmd.Flags().BoolVar(&opts.counts, "counts", false, "read all events and count them by kind")
	return cmd
}

func runInfo(ctx context.Context, io *cli.Streams, opts *infoOptions) error {
	src, err := opts.Open(ctx, opts.paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	doc := newInfoDocument(src)
	if opts.counts {
		if err := countRecords(ctx, io, opts, src, doc); err != nil {
			return err
		}
	}
	doc.Findings = analysis.FindingRows(src.Findings())
	return opts.Finish(io, doc, func() { doc.print(io) }, doc.Findings)
}

func newInfoDocument(src trace.Source) *infoDocument {
	about, d := src.Info(), src.Defs()
	doc := &infoDocument{
		Schema: infoSchema, Version: about.Version, Machine: about.Machine, Description: about.Description,
		Properties: about.Properties, Bytes: about.Bytes,
		Definitions: map[string]int{
			"strings": len(d.Strings), "system_tree_nodes": len(d.SystemTree), "location_groups": len(d.LocationGroups),
			"locations": len(d.Locations), "regions": len(d.Regions), "groups": len(d.Groups), "communicators": len(d.Comms),
			"source_locations": len(d.SourceLocations), "calling_contexts": len(d.CallingContexts),
			"metric_members": len(d.MetricMembers), "metrics": len(d.Metrics), "attributes": len(d.Attributes),
			"others": len(d.Opaque),
		},
	}
	world := d.World()
	doc.Trace = document.TraceInfo{
		Path: about.Path, Format: about.Format, Creator: about.Creator,
		Processes: len(world), Locations: len(d.Locations), Events: cli.AnnouncedEvents(d),
		EndNs: d.Clock.Nanoseconds(int64(d.Clock.Length)), ClockResolutionHz: d.Clock.Resolution,
		Rebuilt: document.RebuiltOf(about),
	}
	doc.Trace.DurationNs = doc.Trace.EndNs
	for _, l := range d.Locations {
		if l.Kind == trace.LocationCPUThread {
			doc.threads++
		}
	}
	doc.offsets = withOffsets(d)
	doc.communicators = describeComms(d)
	return doc
}

// describeComms counts communicators by name and size.
func describeComms(d *trace.Defs) []communicator {
	var out []communicator
	index := make(map[communicator]int) // by name and members
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
		key := communicator{name: name, members: members}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, key)
		}
		out[i].count++
	}
	return out
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
		n.Add(b)
	}
	return n, nil
}

func (counting) Combine(a, b *kindCounts) *kindCounts {
	for k, n := range b {
		a[k] += n
	}
	return a
}

func (n *kindCounts) Add(b *trace.Batch) {
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

func countRecords(ctx context.Context, io *cli.Streams, opts *infoOptions, src trace.Source, doc *infoDocument) error {
	bar := cli.StartProgress(io, opts.Quiet, "counting")
	defer bar.End()
	counts, err := engine.Run(ctx, src, engine.Options{Jobs: opts.Jobs, Progress: &bar.Progress}, counting{})
	if err != nil {
		return err
	}
	if counts == nil { // there are no locations
		counts = new(kindCounts)
	}
	doc.Records = map[string]uint64{}
	maps.Copy(doc.Records, readers.ExtraCounts(src))
	doc.Trace.Events = 0
	for k, n := range counts {
		if n > 0 {
			doc.Records[trace.Kind(k).String()] = n
			doc.Trace.Events += n
		}
	}
	return nil
}

// announced returns a number of the definitions, which say 0 where their writer did not know
// it.
func announced(n uint64, text string) string {
	if n == 0 {
		return "not recorded (analyze finds it)"
	}
	return text
}

func (doc *infoDocument) print(io *cli.Streams) {
	t, w := doc.Trace, io.Out
	report.PrintRebuilt(io.Out, "", t.Rebuilt)
	text.Line(w, "%s", t.Path)
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("  %-15s %s", what, value), io.Width, 18))
		}
	}
	line("format", strings.TrimSpace(readers.Label(t.Format)+" "+doc.Version))
	line("written by", t.Creator)
	line("machine", doc.Machine)
	line("description", doc.Description)
	line("size", words.Bytes(uint64(doc.Bytes)))
	line("processes", words.Count(t.Processes))
	line("locations", fmt.Sprintf("%s (%s)", words.Count(t.Locations), words.Plural(doc.threads, "CPU thread", "CPU threads")))
	line("events", announced(t.Events, words.Count(t.Events)))
	line("time span", announced(uint64(t.DurationNs), words.Time(t.DurationNs)))
	line("clock", fmt.Sprintf("%s ticks per second; offsets measured for %s", words.Count(t.ClockResolutionHz),
		words.Plural(doc.offsets, "location", "locations")))
	for _, k := range slices.Sorted(maps.Keys(doc.Properties)) {
		line("property", k+" = "+doc.Properties[k])
	}
	comms := &text.Grid{Heading: "Communicators", Titles: []string{"<name", "members", "number"}}
	for _, c := range doc.communicators {
		comms.Add(c.name, words.Count(c.members), words.Count(c.count))
	}
	comms.Print(w, io.Width)
	defs := &text.Grid{Heading: "Definitions", Titles: []string{"<kind", "number"}}
	for _, k := range slices.Sorted(maps.Keys(doc.Definitions)) {
		if doc.Definitions[k] > 0 {
			defs.Add(strings.ReplaceAll(k, "_", " "), words.Count(doc.Definitions[k]))
		}
	}
	defs.Print(w, io.Width)
	records := &text.Grid{Heading: "Records", Titles: []string{"<kind", "number"}}
	for _, k := range slices.Sorted(maps.Keys(doc.Records)) {
		records.Add(k, words.Count(doc.Records[k]))
	}
	records.Print(w, io.Width)
	if len(doc.Findings) > 0 {
		report.PrintFindings(w, io.Width, "Findings", doc.Findings)
	}
}
