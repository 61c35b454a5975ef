package jsontrace

import (
	"context"

	"tracekit/engine"
	"tracekit/readers/internal/spool"
)

// A survey says what nests in a track, and what does not.
type survey struct {
	count  nestCount
	events []uint64 // by sub-track
}

// surveyAll surveys the tracks of all files, several at a time.
func surveyAll(ctx context.Context, jobs int, files []*file) error {
	var all []place
	for _, f := range files {
		for _, l := range f.tracks.list {
			all = append(all, place{file: f, track: l})
		}
	}
	_, err := engine.Map(ctx, jobs, len(all), func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{}, all[i].file.survey(ctx, all[i].track)
	})
	return err
}

// surveyAgain surveys tracks one after the other: of too many sub-tracks those of the last tracks
// are left out.
func (f *file) surveyAgain(ctx context.Context, tracks []*track) error {
	err := f.overlaps.Close()
	f.overlaps = spool.New(f.spool.Store())
	f.layers.Store(0)
	for _, l := range tracks {
		if err == nil {
			err = f.survey(ctx, l)
		}
	}
	return err
}

// survey runs over a track. Slices that a B or an E breaks, or that give way to longer ones, are
// found first and then given to the other sub-tracks.
func (f *file) survey(ctx context.Context, l *track) error {
	n := newNester(f, l, nil)
	n.prefer = !l.gpu && !l.async
	err := f.walk(ctx, l, n, func() bool { return true })
	l.survey = &survey{n.count, []uint64{n.events}}
	if err != nil || len(n.broken) == 0 && n.count.overlaps == 0 {
		return err
	}
	if len(n.broken) > 0 {
		l.exile = make(map[uint64]bool)
		for _, number := range n.broken {
			l.exile[number] = true
		}
	}
	broken := n.count.broken
	n = newNester(f, l, nil)
	n.exile, n.count.broken = l.exile, broken
	o := newOverlaps(f, l, n)
	err = f.walk(ctx, l, n, func() bool { return true })
	l.survey = o.close()
	return err
}
