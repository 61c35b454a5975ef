package profile

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/stats/threads"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// isThread reports whether a location that the pass goes over is a thread of a rank.
func (p *Profiler) isThread(l trace.LocationID) bool {
	return p.T.Defs.Locations[l].Kind == trace.LocationCPUThread && int(p.T.Rank[l]) < len(p.T.World)
}

// newThread returns the recorder of a location, nil if it is no thread of a rank.
func (p *Profiler) newThread(l trace.LocationID) *threads.Recorder {
	if !p.isThread(l) {
		return nil
	}
	master := p.T.World[p.T.Rank[l]]
	return threads.NewRecorder(p.T.Store, l, p.meanings, master != l, p.running != trace.None, p.Scope.Clamp(p.T.Span[l].First))
}

// WatchThreads lets the pass keep timelines of threads, if the trace knows threads that work
// together.
func (p *Profiler) WatchThreads() {
	if threads.Models(p.T) {
		p.threads, p.meanings = make([]*threads.Recorder, len(p.T.Span)), threads.Meanings(p.T.Defs)
	}
}

// A teams puts the threads of each rank together as soon as all of them are there, so that few timelines are kept at a time.
type teams struct {
	p     *Profiler
	waits *waits.Finder
	ranks [][]trace.LocationID // the threads of each rank that the pass goes over, the master first
	out   []*threads.Process   // by rank

	mu   sync.Mutex
	left []int             // by rank: threads that are not there yet
	sums []*waits.WaitSums // that nobody adds to at the moment
}

// ChargeTeams lets the threads of ranks whose timelines are kept be put together during the pass, and charges their waits to w.
func (p *Profiler) ChargeTeams(w *waits.Finder) {
	if p.threads == nil {
		return
	}
	n := len(p.T.World)
	t := &teams{p: p, waits: w, ranks: make([][]trace.LocationID, n), out: make([]*threads.Process, n), left: make([]int, n)}
	for i := range p.threads {
		if l := trace.LocationID(i); p.covers(l) && p.isThread(l) {
			r := p.T.Rank[l]
			t.left[r]++
			if t.ranks[r] = append(t.ranks[r], l); p.T.World[r] == l {
				t.ranks[r] = slices.Insert(t.ranks[r][:t.left[r]-1], 0, l)
			}
		}
	}
	p.teams = t
}

// group returns the rank of a location, so that its threads follow each other.
func (t *teams) group(l trace.LocationID) int { return int(t.p.T.Rank[l]) }

// passed is told that the pass is through with a location.
func (t *teams) passed(l trace.LocationID) {
	if t.p.threads[l] == nil {
		return
	}
	r := t.p.T.Rank[l]
	t.mu.Lock()
	t.left[r]--
	last := t.left[r] == 0
	t.mu.Unlock()
	if last {
		t.together(int(r))
	}
}

// together puts the threads of a rank together, charges the waits at their barriers and lets their timelines go.
func (t *teams) together(rank int) {
	sums := t.take()
	var all []threads.Timeline
	for _, l := range t.ranks[rank] {
		all = append(all, t.p.threads[l].Timeline)
	}
	own := threads.Unlocked(all, t.p.T.Store)
	t.out[rank] = threads.Together(own, t.p.Scope.From, t.p.Scope.To, func(wait threads.Wait) {
		sums.Charge(t.p.Scope, waitstate.AtTeamBarrier, wait.Location, uint64(wait.From), wait.Path, wait.From, wait.Time)
	})
	for k := range own {
		if own[k].Spans != all[k].Spans {
			own[k].Spans.Release()
		}
		all[k].Spans.Release()
	}
	t.mu.Lock()
	t.sums = append(t.sums, sums)
	t.mu.Unlock()
}

// take returns sums that nobody else adds to.
func (t *teams) take() *waits.WaitSums {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.sums)
	if n == 0 {
		return t.waits.NewSums()
	}
	sums := t.sums[n-1]
	t.sums = t.sums[:n-1]
	return sums
}

// Teams returns what the threads of each selected rank do together, whose waits at their barriers were charged; nothing
// if threads are not told apart.
func (p *Profiler) Teams(ctx context.Context, jobs int) ([]*threads.Process, error) {
	t := p.teams
	if t == nil {
		return nil, nil
	}
	_, err := engine.Map(ctx, jobs, len(t.ranks), func(_ context.Context, r int) (struct{}, error) {
		if t.left[r] > 0 { // others have made the pass
			t.together(r)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("putting threads together: %w", err)
	}
	for _, sums := range t.sums {
		t.waits.Combine(sums)
	}
	return slices.DeleteFunc(t.out, func(p *threads.Process) bool { return p == nil }), nil
}
