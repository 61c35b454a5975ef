package paraver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"sync"

	"tracekit/readers/internal/spool"
	"tracekit/readers/internal/wire"
	"tracekit/spill"
	"tracekit/trace"
)

// Options are the choices of Open. The zero value is good for most traces.
type Options struct {
	Jobs  int          // goroutines that decode ahead; below 1: one per processor; 1: none
	Store *spill.Store // of the events, to be closed after the Source; nil: one of its own

	block int // bytes of text at a time; 0: blockBytes
}

// A Source is an open Paraver trace.
type Source struct {
	info     trace.Info
	defs     *trace.Defs
	spool    *spool.Spool
	comms    *comms
	roots    *roots
	classes  []trace.MPIFunction // by region
	slots    []slot
	inSlot   []uint32     // by region
	calls    []bool       // by thread: it has regions other than states
	inLayers *spool.Spool // what lies in layers; nil: there are none
	layers   []layer      // the locations behind those of the threads
	end      int64
	running  trace.MetricID // that of trace.RunningCounter; None: there is none
	dialect  bool           // see own.go
	spoken   []bool         // by thread: some line speaks of it
	findings []trace.Finding

	mu   sync.Mutex                           // of what follows
	late map[trace.LocationID][]trace.Finding // of locations that were read
}

// Open opens a trace by the path of its .prv file, which may be compressed by gzip. Labels are
// read from the .pcf file beside it, names from the .row file; it is a finding if one of them is
// missing. The file is read completely. The error wraps trace.ErrNotATrace if it is no Paraver
// trace, and is a *trace.SyntaxError if the header cannot be used.
func Open(ctx context.Context, path string, opts Options) (*Source, error) {
	f, size, err := wire.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	changed := wire.Watch(f)
	r := newReading(path, opts)
	r.companion(".pcf", trace.CodeMissingFile, r.readLabels)
	r.companion(".row", trace.CodeMissingNames, r.readNames)
	if err := r.read(ctx, f); err != nil {
		return nil, errors.Join(err, r.spool.Close())
	}
	if changed() {
		r.ledger.Add(trace.CodeChangedMeanwhile, r.at(-1), "its size or time changed after it was opened")
	}
	s, err := r.source(ctx)
	if err != nil {
		return nil, errors.Join(err, r.spool.Close())
	}
	s.info.Bytes = size + fileSize(stem(path)+".pcf") + fileSize(stem(path)+".row")
	return s, nil
}

func fileSize(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// source makes the trace of what was read.
func (r *reading) source(ctx context.Context) (*Source, error) {
	s := &Source{defs: r.defs, spool: r.spool, comms: r.comms, roots: newRoots(r.threads), dialect: r.dialect, classes: r.names.classes,
		slots: r.types.slots, inSlot: r.names.slots, end: max(r.last, min(r.header.end, maxTime)), running: trace.None}
	if r.meters.run != nil {
		s.running = r.meters.run.id
	}
	for i := range r.threads {
		l := &r.threads[i]
		s.calls, s.spoken = append(s.calls, l.calls), append(s.spoken, l.events != nil)
		if l.events == nil {
			continue
		}
		n := l.events.Len() + l.messages.Len()
		if !l.calls {
			n += 2 * l.states.Len()
		}
		r.defs.Locations[i].Events = n // about: requests make two events of a message
	}
	s.info = trace.Info{Path: r.path, Format: Format, Version: "1", Properties: r.properties()}
	if r.dialect {
		s.info.Creator = "tracekit"
	}
	if err := r.arrange(ctx, s); err != nil {
		s.closeLayers()
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	s.findings = r.ledger.Findings()
	return s, nil
}

// properties are what the file says beside its records, and the numbers of its lines.
func (r *reading) properties() map[string]string {
	p := map[string]string{"date": r.header.date, "lines": r.counts.String()}
	maps.Copy(p, r.origin)
	for i, note := range r.notes {
		p[fmt.Sprintf("note %d", i+1)] = note
	}
	return p
}

// Info implements trace.Source.
func (s *Source) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all trace.Ledger
	all.Merge(s.findings)
	for _, findings := range s.late {
		all.Merge(findings)
	}
	return all.Findings()
}

// note keeps the findings of a location that was read.
func (s *Source) note(l trace.LocationID, findings []trace.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == nil {
		s.late = make(map[trace.LocationID][]trace.Finding)
	}
	s.late[l] = findings
}

// place is that of the event that is assembled next.
func (a *assembler) place() trace.Place {
	return trace.Place{Location: a.location, Seq: a.out.First + uint64(a.out.Len()), File: a.source.info.Path, Offset: -1}
}

// Events implements trace.Source.
func (s *Source) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		switch l := int(location); {
		case l >= len(s.defs.Locations) || l < len(s.spoken) && !s.spoken[l]:
		default:
			newAssembler(s, location, yield).run(ctx)
		}
	}
}

// Close implements trace.Source.
func (s *Source) Close() error { return errors.Join(s.closeLayers(), s.spool.Close()) }
