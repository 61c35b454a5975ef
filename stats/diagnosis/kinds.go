package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/doubt"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// When ranks count as unlike.
const (
	unlike  = 1.05 // times as long as others
	culprit = 0.8  // of the waits: the ranks that cause so much of them
	varies  = 0.2  // of a place's time: what equal visits gain at least, where sums are equal

	slowNetwork = 0.5 // transfer efficiency below which calls themselves are a cause
)

// How places outside MPI are mended.
const (
	noTime      = "If it took no time"
	sharedByAll = "If all ranks shared this work"
	equalVisits = "If each visit took the mean of all ranks"
)

// at judges a place outside MPI that makes others wait.
func (f *finder) at(p *place) candidate {
	row, times := p.row, p.times
	guilty := culprits(row)
	ranks := f.longer(row, times, guilty)
	c := f.candidate(row, ranks, int64(p.path))
	rest, all := f.others(ranks), len(f.ranks)
	peers := p.peers(ranks, rest)
	here, there := mean(times, ranks), mean(times, peers)
	for _, caller := range p.callers {
		c.cause.Callers = append(c.cause.Callers, caller.Region)
	}
	where, in := words.Sentence(row.SourceLine), f.visitors(times)
	say := func(work, waiting string) string { // of work there, or of waiting for devices
		if f.waiting[string(row.Region)] {
			return waiting + where
		}
		return work + where
	}
	var meets bool
	c.loss, meets = f.meets[string(row.Region)]
	if f.serial != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(p.paths)), func(p trace.PathID) bool { return !f.serial(p) }) {
		if c.loss = ofSerialParts; f.forks(times, in) {
			c.loss = ofForking
			if where = "forking and joining threads in " + where; row.Region == field.OutsideRegions {
				where = "forking and joining threads"
			}
		}
	}
	busy := sum(times) / max(1, p.path)
	c.cause.Evidence = map[string]float64{"mean_ns": here, "mean_of_others_ns": there, "critical_path_ns": p.path, "ranks_at_a_time": busy}
	low, high := extremes(times, in)
	var late *rare
	slow := len(ranks) > 0 && len(ranks) <= max(1, all/4) && here > unlike*there && there > 0 && standOut(times, ranks, peers)
	if slow {
		if !p.asked {
			p.late, p.asked = f.rarely(p, ranks, rest, there), true
		}
		late = p.late
		slow = late != nil || 2*(here-there) >= float64(p.unequal) || float64(p.unequal)+1 >= p.path // of no visits nothing is known
	}
	absent := p.path - sum(times)/float64(all) // of the path, if all ranks were there each time
	switch {
	case len(in) <= max(1, all/8) && all > 1:
		c.cause.Kind, c.cause.Ranks, c.mended = cause.Serialization, in, noTime
		c.changes = []whatif.Change{whatif.Scale(p.at(), 0)}
		c.cause.Headline = fmt.Sprintf("Only %s %s", fewRanks(in),
			say(one(in, "is in ", "are in "), one(in, "waits for its device in ", "wait for their devices in ")))
		c.text = fmt.Sprintf("%s %s there for %s. ", words.Capital(words.Ranks(in)), one(in, "is", "are"), words.Time(int64(mean(times, in))))
	case slow:
		c.cause.Kind, c.mended = cause.Imbalance, fmt.Sprintf("If %s took as long as other ranks", fewRanks(ranks))
		c.most(p.path * (1 - there/here))
		c.slow = []slowness{{where, here, there, len(peers) < len(rest), p.at(), late}}
		c.changes = []whatif.Change{whatif.Scale(p.at(), there/here, ranks...)}
		if x, ok := f.trend(p, ranks, peers); ok && late == nil {
			c.cause.Evidence["first_factor"], c.cause.Evidence["last_factor"] = x.first, x.last
			c.text = x.text()
		}
		if x := c.slow[0].rare; x != nil {
			c.changes = x.changes
			c.cause.Evidence["late_visits"], c.cause.Evidence["visits"] = float64(x.times), float64(x.of)
			c.cause.Evidence["longest_visit_ns"] = float64(x.longest)
		}
	case f.inTurn(p, busy):
		c.cause.Kind, c.cause.Ranks, c.mended = cause.Serialization, in, noTime
		c.changes = []whatif.Change{whatif.Scale(p.at(), 0)}
		c.cause.Headline = "Ranks take turns " + say("in ", "waiting for devices in ")
		c.text = fmt.Sprintf("All ranks together are there for %s, %.3g of %d at a time. ", words.Time(int64(sum(times))), busy, all)
	case absent > float64(2*p.unequal) && absent > (1-1/unlike)*p.path && (together(row) || 2*len(in) <= all):
		c.cause.Kind, c.cause.Ranks, c.mended = cause.Imbalance, in, sharedByAll
		c.most(absent)
		c.changes = []whatif.Change{whatif.Scale(p.at(), 1-absent/p.path)}
		c.cause.Headline = "Only some ranks at a time " + say("work in ", "wait for devices in ")
		c.text = fmt.Sprintf("On average %.3g of %d ranks are there. ", busy, all)
	case float64(times[high]) > unlike*mean(times, in) && 2*(float64(times[high])-mean(times, in)) >= float64(p.unequal):
		c.cause.Kind, c.mended = cause.Imbalance, equalVisits
		c.cause.Ranks = slices.DeleteFunc(slices.Clone(in), func(r uint32) bool { return float64(times[r]) <= unlike*mean(times, in) })
		c.cause.Evidence["mean_ns"], c.cause.Evidence["mean_of_others_ns"] = mean(times, c.cause.Ranks), mean(times, f.others(c.cause.Ranks))
		c.most(float64(p.unequal))
		c.changes = []whatif.Change{whatif.Balance(p.at())}
		c.cause.Headline = say("Work in ", "Waiting for devices in ") + " is uneven"
		c.text = fmt.Sprintf("From %s (rank %d) to %s (rank %d). ", words.Time(times[low]), low, words.Time(times[high]), high)
	default:
		c.cause.Kind, c.cause.Ranks, c.mended = shifting(row), []uint32{}, equalVisits
		c.text = "The totals of the ranks are about equal. "
		if float64(times[high]) > unlike*mean(times, in) {
			c.text = fmt.Sprintf("The totals explain less than half of it: from %s (rank %d) to %s (rank %d). ", words.Time(times[low]), low,
				words.Time(times[high]), high)
		} else {
			c.least = int64(varies * p.path)
		}
		c.most(float64(p.unequal))
		c.changes = []whatif.Change{whatif.Balance(p.at())}
		c.cause.Headline = "A different rank " + say("is slow in ", "waits long for its device in ") + " each time"
	}
	if names := f.wholeNodes(c.cause.Ranks); names != nil {
		c.cause.Evidence["nodes"] = float64(len(names))
		c.text = fmt.Sprintf("These are all ranks of %s. ", words.List(names)) + c.text
	}
	what := "it"
	if c.slow != nil && len(ranks) < len(guilty) { // others make wait for it as well
		what = "what is done there"
	}
	c.text += f.waits(row, what) + calledFrom(p.callers)
	if meets {
		c.text += " Threads wait for each other there."
	}
	return c
}

// standOut reports whether most of what the longest rank takes more than the mean goes if culprits take no longer than the longest of
// their peers. Else work is uneven among all.
func standOut(times []int64, culprits, peers []uint32) bool {
	longest, next := int64(0), int64(0)
	for _, r := range culprits {
		longest = max(longest, times[r])
	}
	for _, r := range peers {
		next = max(next, times[r])
	}
	return float64(longest-next) >= float64(next)-mean(times, slices.Concat(culprits, peers))
}

// ofCulprits says what is wrong with ranks that take longer than others.
func (c *candidate) ofCulprits() (headline, text string) {
	first, ranks := c.slow[0], c.cause.Ranks
	others := "other ranks"
	if first.often {
		others = "other ranks that visit it as often"
	}
	text = fmt.Sprintf("%s %s, %s %s (%s)", one(ranks, "It takes", "They take"), words.Time(int64(first.here)), others,
		words.Time(int64(first.there)), factor(first.factor()))
	for i, s := range c.slow[1:] {
		if i == 2 {
			text += fmt.Sprintf(", and %d more places", len(c.slow)-1-i)
			break
		}
		text += fmt.Sprintf("; %s in %s", factor(s.factor()), s.where)
	}
	if len(ranks) > fewest {
		text += "; " + words.Ranks(ranks)
	}
	text += ". "
	how := "slow"
	if x := first.rare; x != nil {
		if how = fmt.Sprintf("late %d times", x.times); x.times == 1 {
			how = "late once"
		}
		text += fmt.Sprintf("Most of that is %s of %d visits; the longest takes %s", words.Count(x.times), x.of, words.Time(x.longest))
		if x.until > 0 {
			text += fmt.Sprintf(", until %s", words.Time(x.until))
		}
		if x.times > 1 && x.first > 0 && words.Time(x.first) != words.Time(x.until) { // the longest is not the first
			text += fmt.Sprintf("; the first ends at %s", words.Time(x.first))
		}
		text += ". "
	}
	return fmt.Sprintf("%s %s %s in %s", words.Capital(fewRanks(ranks)), one(ranks, "is", "are"), how, first.where), text + c.text
}

// inTurn reports whether hardly more than one rank is at a place at a time; or fewer than half of
// them are, and hardly more than one rank takes part in each of the visits to what calls it, so
// that the others are ahead or behind.
func (f *finder) inTurn(p *place, busy float64) bool {
	n := float64(len(f.ranks))
	few := max(1.2, n/8)
	return n > 1 && (busy <= few || busy <= n/2 && f.taking(p)*n <= few)
}

// taking returns how many of the visits to the regions that call a place visit that too.
func (f *finder) taking(p *place) float64 {
	counts := make(map[field.Path]uint64)
	here, calling := uint64(0), uint64(0)
	for _, row := range f.a.CallPaths {
		counts[row.ID] = row.Count
		if p.paths[trace.PathID(row.ID)] {
			here, calling = here+row.Count, calling+counts[row.Parent]
		}
	}
	if calling == 0 {
		return 1
	}
	return float64(here) / float64(calling)
}

// together reports whether most of the waits that a place causes at once end in collectives, where
// all ranks meet: those who wait there could have worked.
func together(row waitstate.Delay) bool {
	sum := int64(0)
	for k, ns := range row.AtOnce {
		if info := waitstate.Kind(k).Info(); !info.Partner && !info.Startup {
			sum += ns
		}
	}
	return sum > row.ShortNs/2
}

// shifting is the kind of a place that is late now here, now there.
func shifting(row waitstate.Delay) cause.Kind {
	switch {
	case row.By[waitstate.LateSender] > row.TotalNs/2:
		return cause.LateSender
	case row.By[waitstate.LateReceiver] > row.TotalNs/2:
		return cause.LateReceiver
	}
	return cause.Imbalance
}

// slowCalls judges calls that make others wait by what they take themselves. Places whose calls
// make others wait in the same state are one candidate, the place that causes most is named first.
func (f *finder) slowCalls(rows []waitstate.Delay) (out []candidate) {
	groups := make([][]waitstate.Delay, waitstate.Kinds)
	for _, row := range rows {
		if f.slowCall([]waitstate.Delay{row}).bound >= f.least() {
			kind := mostWaits(row)
			groups[kind] = append(groups[kind], row)
		}
	}
	for _, g := range groups {
		if len(g) > 0 {
			c := f.slowCall(g)
			f.mayWait(&c, g)
			f.slowLinks(&c, g)
			f.unequalData(&c, g)
			out = append(out, c)
		}
	}
	return out
}

// slowCall judges calls at some places as one.
func (f *finder) slowCall(rows []waitstate.Delay) candidate {
	all := place{row: waitstate.Delay{SourceLine: rows[0].SourceLine, Operation: rows[0].Operation}}
	path, slow := int64(0), int64(0)
	var changes []whatif.Change
	var names []string
	for i, row := range rows {
		all.addCost(row)
		at := placeOf(row)
		path, slow = path+f.critical[at], slow+max(0, f.slow[at]-f.incomplete.at[at].time)
		changes = append(changes, whatif.CapBut(f.site(at), func(l trace.LocationID, call uint32) bool {
			return f.incomplete.missing.Has(l, call) || f.doubted(l, call)
		}))
		if i < mostPlaces {
			names = append(names, words.Call(string(row.Operation), row.SourceLine))
		}
	}
	c := f.candidate(all.row, culprits(all.row), path)
	c.cause.Kind = cause.SlowCalls
	c.cause.Evidence = map[string]float64{"critical_path_ns": float64(path)}
	c.bound = min(c.bound, slow)
	c.changes = changes
	c.mended = fmt.Sprintf("If no call were slower than %.4g %% of comparable calls", 100*f.quantile())
	c.cause.Headline = fmt.Sprintf("Some %s calls are slower than comparable calls", rows[0].Operation)
	if names[0] != string(rows[0].Operation) {
		c.text = "In " + words.Sentence(rows[0].SourceLine) + ". "
	}
	if n := len(rows); n > 1 {
		c.cause.Headline = fmt.Sprintf("Some calls at %d places are slower than comparable calls", n)
		if c.text = words.List(names); n > mostPlaces {
			c.text = "Among them " + c.text
		}
		c.text += ". "
	}
	c.text += f.waits(all.row, "them") + f.mostSlow(&c.cause, all.row)
	return c
}

// doubted reports whether a call receives a message of a pair of ranks whose clocks probably differ (2.17).
func (f *finder) doubted(l trace.LocationID, call uint32) bool {
	recvs, first := f.t.Recvs[l], int(f.t.Calls[l].Ptr(int(call)).FirstRecv)
	if first >= recvs.Len() {
		return false
	}
	r := recvs.Ptr(first)
	return r.Call == call && r.State == trace.Matched && slices.ContainsFunc(f.a.Doubts, func(d doubt.Sign) bool {
		return d.Kind == doubt.SlowData && d.From != nil && *d.From == f.t.Rank[r.SendLoc] && *d.Rank == f.t.Rank[l]
	})
}

// standsOut is how many times its equal share of the waits a rank must cause so that it is named among many.
const standsOut = 2

// mostSlow says of slow calls of many ranks whether one of them stands out.
func (f *finder) mostSlow(c *cause.Cause, row waitstate.Delay) string {
	if len(c.Ranks) <= fewest || row.TotalNs <= 0 {
		return ""
	}
	share := float64(row.Ranks[0].TimeNs) / float64(row.TotalNs)
	if share*float64(len(f.ranks)) < standsOut {
		return " No rank stands out."
	}
	c.Evidence["most_share"] = share
	return fmt.Sprintf(" Rank %s causes %s of these waits.", words.Rank(row.Ranks[0].Rank), words.Share(share))
}

func (f *finder) quantile() float64 {
	if f.a.Overhead == nil {
		return 1
	}
	return f.a.Overhead.Quantile
}

// startup judges what passes until MPI_Init is left.
func (f *finder) startup() (out []candidate) {
	for _, row := range f.a.CriticalPath.Regions {
		if !document.StartsUp(string(row.Operation)) || row.Operation == "MPI_Finalize" {
			continue
		}
		place, time := field.Site{SourceLine: row.SourceLine, Operation: row.Operation}, row.TimeNs
		c := f.candidate(waitstate.Delay{SourceLine: place.SourceLine, Operation: place.Operation}, nil, time)
		c.cause.Kind = cause.Startup
		c.cause.Evidence = map[string]float64{"critical_path_ns": float64(time)}
		c.changes = []whatif.Change{whatif.Scale(f.site(place), 0)}
		c.cause.Headline = fmt.Sprintf("Startup: %s", place.Operation)
		c.text = fmt.Sprintf("%s takes %s of %s.", place.Operation, words.Time(time), words.Time(f.run))
		c.mended = "Without " + string(place.Operation)
		out = append(out, c)
	}
	return out
}

// late judges that ranks begin at different times: what passes before the first event of a rank
// cannot be replayed.
func (f *finder) late() []candidate {
	time := f.critical[field.Site{SourceLine: field.SourceLine{Region: field.NotRecorded}}]
	c := candidate{cause: cause.Cause{Kind: cause.Startup, SourceLine: field.SourceLine{Region: field.NotRecorded}, Ranks: []uint32{}},
		bound: time}
	c.cause.Evidence = map[string]float64{"critical_path_ns": float64(time)}
	c.cause.Headline = "Ranks start at different times"
	c.text = fmt.Sprintf("%s of the critical path pass before the first event of the rank it starts on.", words.Time(time))
	if first, last, apart := begins(f.t); apart > 0 {
		c.text += fmt.Sprintf(" The records of rank %d start last, %s after those of rank %d.", last, words.Time(apart), first)
	}
	return []candidate{c}
}

// begins returns the ranks whose records begin first and last, and how far apart in ns.
func begins(t *trace.Trace) (first, last int, apart int64) {
	first, last = -1, -1
	begin := func(r int) int64 { return t.Span[t.World[r]].First }
	for r, l := range t.World {
		if int(l) >= len(t.Span) || t.Span[l].Events == 0 {
			continue // nothing is recorded of the rank
		}
		if first < 0 || begin(r) < begin(first) {
			first = r
		}
		if last < 0 || begin(r) > begin(last) {
			last = r
		}
	}
	if first < 0 {
		return 0, 0, 0
	}
	return first, last, t.Defs.Clock.Nanoseconds(begin(last) - begin(first))
}

// inCalls returns what the run is longer than with zero-cost MPI (2.6) between startup and end, at most; ok is false where that is not
// known.
func (f *finder) inCalls() (ns int64, ok bool) {
	e := f.a.Efficiency
	if e == nil || f.a.Selection != nil {
		return 0, false
	}
	r := &e.Ratios
	if e.WithoutInitFinalize != nil {
		r = e.WithoutInitFinalize
	}
	if r.ReplayedNs == nil {
		return 0, false
	}
	return max(0, r.RuntimeNs-*r.ReplayedNs), true
}

// idealNetwork finds what the run would be shorter on an ideal network, where calls keep their own time (2.11).
func (f *finder) idealNetwork(ctx context.Context, m *whatif.Model) error {
	p, err := m.Predict(ctx, whatif.IdealNetwork())
	if err != nil {
		return ctx.Err() // it cannot be judged
	}
	gain := max(0, p.Gain())
	f.network, f.a.Efficiency.IdealNetworkNs = &gain, &p.RunTime
	return nil
}

// transferEfficiency returns that without startup; where records are missing it is not known, and how large it is at most: calls of which
// they are missing may wait all of their time.
func (f *finder) transferEfficiency() (efficiency float64, known bool) {
	r := f.ratios()
	switch {
	case r != nil && r.TransferEfficiency != nil:
		return *r.TransferEfficiency, true
	case r == nil || r.ReplayedNs == nil || r.RuntimeNs == 0 || f.a.Efficiency.IncompleteCallsNs == 0:
		return 1, false
	}
	return float64(*r.ReplayedNs+f.a.Efficiency.IncompleteCallsNs) / float64(r.RuntimeNs), false
}

// transfer judges the network, where most of the time between startup and end passes in calls themselves, waits apart.
func (f *finder) transfer() []candidate {
	transfer, known := f.transferEfficiency()
	if f.network == nil || *f.network < f.least() || transfer > slowNetwork {
		return nil
	}
	c := candidate{cause: cause.Cause{Kind: cause.Transfer, Ranks: []uint32{}}, bound: *f.network, gain: *f.network,
		mended: "On an ideal network, where they take no time"}
	if c.cause.Evidence = map[string]float64{}; known {
		c.cause.Evidence["transfer_efficiency"] = transfer
	}
	c.cause.Headline = "Messages take long on the network"
	c.text = "This includes the data of collectives."
	for _, row := range f.a.CriticalPath.Regions {
		if row.Operation != "" && !document.StartsUp(string(row.Operation)) {
			c.cause.SourceLine, c.cause.Operation = row.SourceLine, row.Operation
			c.cause.Headline = fmt.Sprintf("Messages take long on the network, mostly in %s", row.Operation)
			c.text = fmt.Sprintf("%s of the critical path pass in %s.", words.Time(row.TimeNs), words.Call(string(row.Operation), row.SourceLine))
			break
		}
	}
	return []candidate{c}
}

// wrongOrder judges the place with the longest wait for a message that was sent later than
// another one that was there.
func (f *finder) wrongOrder() []candidate {
	s := &f.a.WaitStates[waitstate.LateSenderWrongOrder]
	if len(s.Top) == 0 {
		return nil
	}
	top := s.Top[0]
	place := field.Site{SourceLine: top.SourceLine, Operation: field.Name(top.Operation)}
	c := f.candidate(waitstate.Delay{SourceLine: place.SourceLine, Operation: place.Operation}, nil, 0)
	c.cause.Kind, c.bound = cause.WrongOrder, min(s.TimeNs, f.a.CriticalPath.OvertakenNs)
	c.cause.Evidence = map[string]float64{"wrong_order_ns": float64(s.TimeNs)}
	c.changes = []whatif.Change{whatif.Order(f.site(place))}
	c.cause.Headline = "Messages are received in another order than sent"
	c.text = fmt.Sprintf("The longest such wait is in %s.", words.Call(top.Operation, top.SourceLine))
	// if the replay then gets stuck, messages cannot be taken so
	c.mended, c.needed = "If receives took messages in the order of arrival", true
	return []candidate{c}
}

// candidate makes one of a place. It gains at most the time of the critical path there, and
// hardly more than what each other rank waits for it in the mean, since what the run gets shorter
// all others must have waited for; twice that is allowed for.
func (f *finder) candidate(row waitstate.Delay, ranks []uint32, path int64) candidate {
	if ranks == nil {
		ranks = []uint32{}
	}
	c := candidate{cause: cause.Cause{SourceLine: row.SourceLine, Operation: row.Operation, Ranks: ranks, WaitsCausedNs: row.TotalNs},
		bound: path}
	if others := int64(len(f.ranks) - 1); row.TotalNs > 0 && others > 0 {
		c.bound = min(c.bound, 2*row.TotalNs/others)
	}
	return c
}

// most says that a candidate gains no more than ns.
func (c *candidate) most(ns float64) { c.bound = min(c.bound, int64(ns)) }

// culprits returns the fewest ranks that cause most of a place's waits. What no rank causes, but
// a location outside MPI, counts and has none.
func culprits(row waitstate.Delay) []uint32 {
	ranks, sum := []uint32{}, int64(0)
	for _, r := range row.Ranks {
		if float64(sum) >= culprit*float64(row.TotalNs) {
			break
		}
		ranks, sum = append(ranks, uint32(r.Rank)), sum+r.TimeNs
	}
	slices.Sort(ranks)
	if n := len(ranks); n > 0 && ranks[n-1] == trace.None {
		ranks = ranks[:n-1]
	}
	return ranks
}

// longer returns those of some ranks that take longer than the median rank, if no other rank takes
// as long and they cause a quarter of the waits; else all: who waits for a rank that takes long may make others wait as much as that.
func (f *finder) longer(row waitstate.Delay, times []int64, ranks []uint32) []uint32 {
	sorted := make([]int64, 0, len(f.ranks))
	for _, r := range f.ranks {
		sorted = append(sorted, times[r])
	}
	slices.Sort(sorted)
	median := float64(sorted[len(sorted)/2])
	out := slices.DeleteFunc(slices.Clone(ranks), func(r uint32) bool { return int(r) >= len(times) || float64(times[r]) <= unlike*median })
	if len(out) == 0 || len(out) == len(ranks) {
		return ranks
	}
	least := times[slices.MinFunc(out, func(a, b uint32) int { return cmp.Compare(times[a], times[b]) })]
	if rest := f.others(out); slices.ContainsFunc(rest, func(r uint32) bool { return times[r] >= least }) {
		return ranks
	}
	caused := int64(0)
	for _, r := range row.Ranks {
		if slices.Contains(out, uint32(r.Rank)) {
			caused += r.TimeNs
		}
	}
	if 4*caused < row.TotalNs {
		return ranks
	}
	return out
}

// others returns the ranks that are not among some.
func (f *finder) others(ranks []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(f.ranks), func(r uint32) bool {
		_, among := slices.BinarySearch(ranks, r)
		return among
	})
}

// visitors returns the ranks that are at a place to speak of; none if only ranks that end early are.
func (f *finder) visitors(times []int64) []uint32 {
	most := int64(0)
	for _, r := range f.ranks {
		most = max(most, times[r])
	}
	return slices.DeleteFunc(slices.Clone(f.ranks), func(r uint32) bool { return times[r] < max(1, most/20) })
}

func sum(times []int64) (sum float64) {
	for _, t := range times {
		sum += float64(t)
	}
	return sum
}

// mean returns the mean time of some ranks.
func mean(times []int64, ranks []uint32) float64 {
	sum := int64(0)
	for _, r := range ranks {
		if int(r) < len(times) {
			sum += times[r]
		}
	}
	return float64(sum) / float64(max(1, len(ranks)))
}

func extremes(times []int64, ranks []uint32) (low, high uint32) {
	low, high = ranks[0], ranks[0]
	for _, r := range ranks {
		if times[r] < times[low] {
			low = r
		}
		if times[r] > times[high] {
			high = r
		}
	}
	return low, high
}

// waits says what waits a place causes, and where the longest of them is that it causes at once; what names the place in the sentence.
func (f *finder) waits(row waitstate.Delay, what string) string {
	text := fmt.Sprintf("Other ranks wait %s for %s", words.Time(row.TotalNs), what)
	kind, at := mostWaits(row), row.Longest
	call := words.Call(string(at.Operation), at.SourceLine)
	switch {
	case kind == waitstate.None:
		return text + "."
	case at.Operation == "":
		return text + fmt.Sprintf(", mostly %s.", kind)
	case at.Kind != kind:
		return text + fmt.Sprintf(", mostly %s. Longest: %s in %s.", kind, at.Kind, call)
	}
	return text + fmt.Sprintf(", mostly %s in %s.", kind, call)
}

// mostWaits returns the state in which most of the waiting is that a place causes.
func mostWaits(row waitstate.Delay) waitstate.Kind {
	kind := waitstate.None
	for k, ns := range row.By {
		if ns > row.By[kind] {
			kind = waitstate.Kind(k)
		}
	}
	return kind
}

// When a region counts as so short that the measurement itself is most of it.
const (
	tiny        = 4    // times the shortest visit to any region: a mean visit takes no longer
	mostForOne  = 2000 // ns: recording a visit takes no longer
	leastVisits = 1000 // fewer do not matter
)

// measurement judges what the measurement itself takes: writing its buffer, being switched off
// (where nothing is known of the program, and no gain), and recording visits to regions that are so
// short that hardly more is in them. Of these the shortest visit to any region is taken for what
// recording one takes.
func (f *finder) measurement() (out []candidate) {
	waits := make(map[field.Site]waitstate.Delay)
	for _, row := range f.a.Delays {
		waits[placeOf(row)] = row
	}
	path := f.a.CriticalPath
	for _, row := range path.Regions {
		place := field.Site{SourceLine: row.SourceLine, Operation: row.Operation}
		delay := waits[place]
		delay.SourceLine, delay.Operation = place.SourceLine, place.Operation
		c := f.candidate(delay, nil, row.TimeNs)
		c.cause.Kind, c.bound = cause.Measurement, row.TimeNs
		c.cause.Evidence = map[string]float64{"critical_path_ns": float64(row.TimeNs)}
		switch shortest := float64(path.ShortestNs); {
		case row.Region == field.BufferFlush:
			c.changes, c.mended = []whatif.Change{whatif.Scale(f.site(place), 0)}, "With a buffer that is large enough"
			c.cause.Headline = "The recorder writes its buffer during the run"
			c.text = fmt.Sprintf("This takes %s of the critical path.", words.Time(row.TimeNs))
		case row.Region == field.RecordingOff:
			c.cause.Headline = "Recording is switched off for a part of the run"
			c.text = fmt.Sprintf("%s of the critical path are not recorded: nothing is known of that time.", words.Time(row.TimeNs))
		case row.Operation == "" && row.Visits >= leastVisits && shortest > 0 && shortest <= mostForOne && row.VisitNs <= tiny*shortest:
			part := min(1, shortest/row.VisitNs)
			c.most(part * float64(row.TimeNs))
			c.cause.Evidence["visits"], c.cause.Evidence["mean_ns"], c.cause.Evidence["shortest_visit_ns"] = float64(row.Visits), row.VisitNs,
				shortest
			c.changes = []whatif.Change{whatif.Scale(f.site(place), 1-part)}
			c.mended = "If it were not recorded"
			c.cause.Headline = fmt.Sprintf("Recording %s costs much of its time", words.Sentence(row.SourceLine))
			c.text = fmt.Sprintf("%d visits take %s each. The shortest visit to any region takes %s: that is taken for the cost of recording.",
				row.Visits, words.Time(int64(row.VisitNs)), words.Time(path.ShortestNs))
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}
