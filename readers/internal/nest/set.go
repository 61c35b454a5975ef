// Package nest makes locations of the tracks of a file: slices, which may come in any order and
// overlap, become the Enter and Leave events of stacks.
//
// # Contract
//
// Slices of a track are sorted by time, the longest first, then by order of adding; begins and ends come before slices at equal times and
// keep their order. A slice that outlasts the one around it by at most 1 µs ends with it, except on accelerators and where times are exact.
// Of two that overlap by more the later goes to a sub-track, which is a location of its own. The earlier goes there if the later is at
// least twice as long, as an annotation is that begins within the call that opens it. What was wrong is counted in the Survey of each
// track.
//
// Tracks of a set are filled, each by one goroutine at a time; then Finish and Survey are called,
// and locations are delivered, any number of times, by several goroutines.
package nest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"tracekit/engine"
	"tracekit/readers/internal/spool"
	"tracekit/spill"
	"tracekit/trace"
)

// TrackLimit bounds the tracks and the further sub-tracks of a set. Slices that nest in none
// of these are left out.
const TrackLimit = 1 << 18

// A Set is the tracks of one file.
type Set struct {
	Spool *spool.Spool
	Shift int64 // ns to be added to all times that are delivered

	// Name returns by what number an End names the slices of a region; nil if none does.
	Name func(trace.RegionID) uint32

	// Sizes returns what a collective sends and receives; nil: what its Call says.
	Sizes func(*Call) (sent, received uint64)

	// Messages returns the messages that a slice exchanges at once, instead of what its Call says; nil: there are none. It is asked
	// once all slices are there.
	Messages func(*Call) []Call

	// Type returns the type in which the values of a member of a metric are delivered; nil: the recorded one.
	Type func(metric trace.MetricID, member int) trace.ValueType

	// Attribute returns as what an attribute is delivered; nil: as it was recorded.
	Attribute func(trace.AttributeID) trace.AttributeID

	tracks   int
	overlaps *spool.Spool    // slices that are not in the first sub-track of their track
	layers   atomic.Int64    // sub-tracks behind the first ones, with those that are one too many
	batches  sync.Pool       // that nobody uses
	paths    trace.PathCache // of tracks that are followed
}

// NewSet returns an empty set whose records wait in a store; nil: in one of its own.
func NewSet(store *spill.Store) *Set {
	s := spool.New(store)
	return &Set{Spool: s, overlaps: spool.New(s.Store())}
}

// Add makes an empty track one of the set; it returns false if there are too many.
func (s *Set) Add(l *Track) bool {
	if s.tracks >= TrackLimit {
		return false
	}
	l.Number = trace.LocationID(s.tracks)
	l.Stream = s.Spool.Stream(l.Number)
	s.tracks++
	return true
}

// Room reports whether a track can be added.
func (s *Set) Room() bool { return s.tracks < TrackLimit }

// Crowded reports whether sub-tracks are more than the limit allows: Resurvey decides which are left out.
func (s *Set) Crowded() bool { return s.tracks+int(s.layers.Load()) > TrackLimit }

// SurveyAll finds what nests in tracks of several sets: tracks[i] are some of sets[i], which are finished. That many
// goroutines work at it.
func SurveyAll(ctx context.Context, jobs int, sets []*Set, tracks [][]*Track) error {
	type item struct {
		set   *Set
		track *Track
	}
	var all []item
	for i, s := range sets {
		for _, l := range tracks[i] {
			all = append(all, item{s, l})
		}
	}
	_, err := engine.Map(ctx, jobs, len(all), func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{}, all[i].set.survey(ctx, all[i].track)
	})
	return err
}

// Resurvey surveys the tracks of a crowded set one after the other: of too many sub-tracks those of the last tracks
// are left out.
func (s *Set) Resurvey(ctx context.Context, tracks []*Track) error {
	err := s.overlaps.Close()
	s.overlaps = spool.New(s.Spool.Store())
	s.layers.Store(0)
	for _, l := range tracks {
		if err == nil {
			err = s.survey(ctx, l)
		}
	}
	return err
}

// Finish ends the surveying.
func (s *Set) Finish(ctx context.Context, jobs int) error { return s.overlaps.Finish(ctx, jobs) }

// Close lets all records go.
func (s *Set) Close() error { return errors.Join(s.Spool.Close(), s.overlaps.Close()) }
