package threads_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/spill"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// The regions of scripts. A call path is numbered as its region.
var (
	names    = []string{"main", "parallel", "barrier", "critical", "create", "MPI", "locked"}
	meanings = []threads.Meaning{{Activity: threads.Useful}, {Activity: threads.Useful, Parallel: true}, {Activity: threads.Barrier},
		{Activity: threads.Waiting}, {Activity: threads.Scheduling}, {Activity: threads.Communication},
		{Activity: threads.Waiting, Locks: true}}
)

// played records a script: an instant, then what happens; "+region" enters, "-" leaves.
func played(t *testing.T, l trace.LocationID, worker, told bool, script string) (threads.Timeline, int) {
	t.Helper()
	words := strings.Fields(script)
	number := func(i int) int64 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	r := threads.NewRecorder(spill.NewStore(1<<20, ""), l, meanings, worker, told, number(0))
	last := int64(0)
	for i := 0; i+1 < len(words); i += 2 {
		at := number(i)
		last = at
		switch word := words[i+1]; word {
		case "-":
			r.Leave(at)
		case "fork":
			r.Fork(at)
		case "join":
			r.Join(at)
		case "runs": // until the next word
			r.Runs(at, number(i+2))
			i++
		case "off", "on":
			r.Pause(at, word == "off")
		case "team", "end":
			r.Team(at, word == "team")
		case "useful": // as the next word says
			if got := r.Useful(at); got != number(i+2) {
				t.Errorf("at %d the useful time is %d, want %d", at, got, number(i+2))
			}
			i++
		default:
			region := slices.Index(names, word[1:])
			r.Enter(at, trace.RegionID(region), trace.PathID(region))
		}
	}
	return r.Timeline, r.End(last)
}

// told spells what a process does: times by activity of each thread, sums, and waits.
func told(p *threads.Process, waits []threads.Wait) string {
	var b strings.Builder
	for _, thread := range p.Threads {
		fmt.Fprintf(&b, "thread %d:", thread.Location)
		for a, time := range thread.Times {
			if time != 0 {
				fmt.Fprintf(&b, " %s %d", threads.Activity(a), time)
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "regions %d parallel %d inside %d outside %d unpaired %d\n", p.Regions, p.Parallel, p.Inside, p.Outside, p.Unpaired)
	for _, w := range waits {
		fmt.Fprintf(&b, "thread %d waits %d from %d in %s\n", w.Location, w.Time, w.From, names[w.Path])
	}
	return b.String()
}

// TestTeams states what becomes of the time of teams whose sums are worked out by hand. The first
// script is the master's; all last from 0 to 100.
func TestTeams(t *testing.T) {
	for _, c := range []struct {
		name    string
		running bool
		scripts []string
		open    int
		want    string
	}{
		{"implicit barrier", false, []string{
			// Works 40 in the region and waits 10 for the worker, which comes late and works 45.
			"0 +main 20 fork 22 +parallel 62 +barrier 72 - 72 - 75 join 100 -",
			"27 +parallel 72 +barrier 72 - 72 -",
		}, 0, `
thread 0: useful 85 barrier 10 scheduling 5
thread 1: idle 55 useful 45
regions 1 parallel 55 inside 85 outside 45 unpaired 0
thread 0 waits 10 from 62 in barrier
`},
		{"explicit barriers pair by number", false, []string{
			"0 +main 10 +parallel 20 +barrier 30 - 50 +barrier 60 - 60 - 100 -",
			"10 +parallel 30 +barrier 30 - 40 +barrier 60 - 60 -",
			"10 +parallel 25 +barrier 31 - 60 +barrier 60 - 60 -",
		}, 0, `
thread 0: useful 80 barrier 20
thread 1: idle 50 useful 30 barrier 20
thread 2: idle 50 useful 44 barrier 6
regions 1 parallel 50 inside 104 outside 50 unpaired 0
thread 0 waits 10 from 20 in barrier
thread 2 waits 5 from 25 in barrier
thread 0 waits 10 from 50 in barrier
thread 1 waits 20 from 40 in barrier
`},
		{"a barrier that not all pass", false, []string{
			"0 +main 10 +parallel 30 +barrier 40 - 40 - 100 -",
			"10 +parallel 40 -",
		}, 0, `
thread 0: useful 90 barrier 10
thread 1: idle 70 useful 30
regions 1 parallel 30 inside 50 outside 70 unpaired 1
`},
		{"the end of a region without barriers is one", false, []string{
			"0 +main 10 +parallel 60 - 100 -",
			"10 +parallel 35 -",
		}, 0, `
thread 0: useful 100
thread 1: idle 75 useful 25
regions 1 parallel 50 inside 75 outside 50 unpaired 0
thread 1 waits 25 from 35 in parallel
`},
		{"waiting for tasks and locks, creating tasks", false, []string{
			"0 +main 10 +parallel 20 +create 30 - 40 +critical 60 - 80 - 100 -",
			"10 +parallel 30 +critical 45 +main 50 - 55 - 80 -",
		}, 0, `
thread 0: useful 70 waiting 20 scheduling 10
thread 1: idle 30 useful 50 waiting 20
regions 1 parallel 70 inside 90 outside 30 unpaired 0
`},
		{"two regions, and a team that lasts", false, []string{
			"0 +main 10 +parallel 20 - 30 +parallel 50 - 100 -",
			"5 +parallel 45 - 90 +main 100 -",
		}, 0, `
thread 0: useful 100
thread 1: idle 50 useful 50
regions 2 parallel 30 inside 55 outside 70 unpaired 0
thread 1 waits 5 from 45 in parallel
`},
		{"MPI in a parallel region is no work", false, []string{
			"0 +main 10 +parallel 20 +MPI 25 +main 26 - 50 - 60 - 80 off 90 on 100 -",
			"10 +parallel 60 -",
		}, 0, `
thread 0: useful 60 communication 30 measurement 10
thread 1: idle 50 useful 50
regions 1 parallel 50 inside 70 outside 40 unpaired 0
`},
		{"told when threads run", true, []string{
			"0 runs 10 0 +main 10 +parallel 12 runs 40 50 - 60 runs 100 100 -",
			"10 +parallel 15 runs 45 50 - 70 runs 75 80 useful 35",
		}, 0, `
thread 0: useful 78 barrier 5 waiting 10 scheduling 7
thread 1: idle 55 useful 35 scheduling 10
regions 1 parallel 40 inside 58 outside 50 unpaired 0
thread 0 waits 5 from 40 in parallel
`},
		{"forks without join and teams without end", false, []string{
			"0 +main 10 fork 12 +parallel 20 - 30 fork 32 +parallel 40 - 100 -",
			"12 team 12 +parallel 20 - 32 team 32 +parallel 40 - 40 end 100 end",
		}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var timelines []threads.Timeline
			open := 0
			for i, script := range c.scripts {
				timeline, n := played(t, trace.LocationID(i), i > 0, c.running, script)
				timelines, open = append(timelines, timeline), open+n
			}
			var waits []threads.Wait
			p := threads.Together(timelines, 0, 100, func(w threads.Wait) { waits = append(waits, w) })
			if got := told(p, waits); c.want != "" && got != c.want[1:] {
				t.Errorf("got\n%swant%s", got, c.want)
			}
			if open != c.open {
				t.Errorf("%d forks and teams are open, want %d", open, c.open)
			}
		})
	}
}

// TestUseful states that the useful time until an instant is told at any of them.
func TestUseful(t *testing.T) {
	played(t, 0, false, false, "0 useful 0 0 +main 10 useful 10 10 +MPI 15 useful 10 20 - 30 useful 20 30 +barrier 40 useful 20 40 - 50 -")
	played(t, 0, true, false, "5 useful 0 10 useful 0 10 +main 20 useful 10 20 - 30 useful 10")
}

// random returns timelines of a team: its master has parallel regions, each of which all threads
// work on, in turns of work and barriers; workers come late and leave early.
func random(r *rand.Rand, n int) []threads.Timeline {
	store := spill.NewStore(1<<20, "")
	out := make([]threads.Timeline, n)
	for k := range out {
		out[k] = threads.Timeline{Location: trace.LocationID(k), Spans: spill.NewTable[threads.Span](store)}
	}
	at := int64(r.IntN(5))
	for range 1 + r.IntN(4) {
		begin := at + 1 + int64(r.IntN(10))
		end := begin + 50
		barriers := r.IntN(3)
		for k, timeline := range out {
			if k == 0 {
				timeline.Spans.Append(threads.Span{From: at, Path: trace.None, Activity: threads.Useful})
			}
			now := begin
			if k > 0 {
				now += int64(r.IntN(3))
			}
			for range barriers {
				timeline.Spans.Append(threads.Span{From: now, Path: 1, Activity: threads.Useful, Parallel: true})
				now += 1 + int64(r.IntN(10))
				timeline.Spans.Append(threads.Span{From: now, Path: 2, Activity: threads.Barrier, Parallel: true})
				now += 1 + int64(r.IntN(10))
			}
			timeline.Spans.Append(threads.Span{From: now, Path: 1, Activity: threads.Useful, Parallel: true})
			if k > 0 {
				now += 1 + int64(r.IntN(4))
				timeline.Spans.Append(threads.Span{From: now, Path: trace.None, Activity: threads.Idle})
			}
		}
		at = end
	}
	for _, timeline := range out {
		timeline.Spans.Append(threads.Span{From: at, Path: trace.None, Activity: threads.Idle})
	}
	return out
}

// TestTicks compares with an oracle that looks at each tick of random teams: what each thread
// does in it, and whether the master is in a parallel region; and at each barrier of a region.
func TestTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		timelines := random(r, 1+r.IntN(5))
		const until = 300
		var want threads.Process
		var waits []threads.Wait
		at := func(k int, tick int64) (span threads.Span) {
			for i := range timelines[k].Spans.Len() {
				if s := timelines[k].Spans.At(i); s.From <= tick {
					span = s
				}
			}
			return span
		}
		want.Threads = make([]threads.Thread, len(timelines))
		for k := range timelines {
			want.Threads[k].Location = trace.LocationID(k)
			for tick := range int64(until) {
				does, inside := at(k, tick), at(0, tick).Parallel
				want.Threads[k].Times[does.Activity]++
				switch useful := does.Activity == threads.Useful; {
				case useful && inside:
					want.Inside++
				case useful && k == 0:
					want.Outside++
				}
				if k == 0 && inside {
					want.Parallel++
					if tick == 0 || !at(0, tick-1).Parallel {
						want.Regions++
					}
				}
			}
		}
		p := threads.Together(timelines, 0, until, func(w threads.Wait) { waits = append(waits, w) })
		if got, want := told(p, nil), told(&want, nil); got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
		barriers := int64(0)
		for _, thread := range p.Threads {
			barriers += thread.Times[threads.Barrier]
		}
		inBarriers := int64(0)
		for _, w := range waits {
			if w.Path == 2 {
				inBarriers += w.Time
			}
			if w.Time <= 0 {
				t.Fatalf("a wait of %d", w.Time)
			}
		}
		if inBarriers > barriers {
			t.Fatalf("waits of %d in barriers of %d", inBarriers, barriers)
		}
	}
}

// TestUnlocked states what is waiting where a region has waiting for a lock and the locked block: the thread that leaves next has the lock.
// The first works from 10 to 20, the second waits for it until 20 and works until 40, of which 5 in a region of its own; nobody keeps the
// third out.
func TestUnlocked(t *testing.T) {
	store := spill.NewStore(1<<20, "")
	var timelines []threads.Timeline
	for l, script := range []string{"0 +main 10 +locked 20 - 100 -", "0 +main 12 +locked 30 +main 35 - 40 - 100 -",
		"0 +main 50 +locked 60 - 100 -"} {
		timeline, _ := played(t, trace.LocationID(l), false, false, script)
		timelines = append(timelines, timeline)
	}
	got := told(threads.Together(threads.Unlocked(timelines, store), 0, 100, func(threads.Wait) {}), nil)
	const want = `thread 0: useful 100
thread 1: useful 92 waiting 8
thread 2: useful 100
regions 0 parallel 0 inside 0 outside 100 unpaired 0
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
