package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/stats/whatif"
)

const (
	efficient = 0.8 // parallel efficiency below which a run without causes is told where it loses time
	mostly    = 0.5 // of the time that efficiency lacks: if calls with missing records have more, what is recorded does not explain it
	mostTried = 8   // places that cause most waits, and as many that have most of the critical path, of which half the time is tried
)

// ratios returns the efficiencies, without startup where that is known; nil if there are none.
func (f *finder) ratios() *document.Ratios {
	e := f.a.Efficiency
	if e == nil {
		return nil
	}
	if w := e.WithoutInitFinalize; w != nil && w.ParallelEfficiency != nil {
		return w
	}
	return &e.Ratios
}

// efficiencyOf returns the parallel efficiency, without startup where that is known; 1 if there is none.
func (f *finder) efficiencyOf() (parallel, balance, serialization, transfer float64) {
	at := func(x *float64) float64 {
		if x == nil {
			return 1
		}
		return *x
	}
	e := f.ratios()
	if e == nil {
		return 1, 1, 1, 1
	}
	return at(e.ParallelEfficiency), at(e.LoadBalance), at(e.SerializationEfficiency), at(e.TransferEfficiency)
}

// inefficient reports whether the run loses much of its time, so that there is something to say of it.
func (f *finder) inefficient() bool {
	parallel, _, _, _ := f.efficiencyOf()
	return parallel < efficient && !f.a.OnlyStartup()
}

// levers returns the places of which half the time is tried.
func (f *finder) levers() (places []field.Site) {
	add := func(s field.Site) {
		unknown := s.Operation != "" && 2*f.incomplete.at[s].path > f.critical[s] // a lever needs evidence
		if !document.StartsUp(string(s.Operation)) && s.Region != field.NotRecorded && !unknown && !slices.Contains(places, s) {
			places = append(places, s)
		}
	}
	for _, row := range f.a.Delays[:min(mostTried, len(f.a.Delays))] {
		add(placeOf(row))
	}
	for _, r := range f.a.CriticalPath.Regions[:min(mostTried, len(f.a.CriticalPath.Regions))] {
		add(field.Site{SourceLine: r.SourceLine, Operation: r.Operation})
	}
	return places
}

// lever says of an inefficient run without causes beyond startup where it loses time, and which place would gain most if it took half of
// its time.
func (f *finder) lever() ([]cause.Cause, error) {
	if !f.inefficient() {
		return nil, nil
	}
	places := f.levers()
	gains, err := f.halves()
	if err != nil {
		return nil, err
	}
	best, busy := -1, 0.0
	for i, gain := range gains {
		if gain > 0 && (best < 0 || gain > gains[best]) {
			best = i
		}
	}
	if best >= 0 {
		busy = f.chain(places[best])
	}
	parallel, balance, serialization, transfer := f.efficiencyOf()
	type factor struct {
		name  string
		value float64
	}
	factors := []factor{{"load balance", balance}, {"serialization", serialization}, {"transfer", transfer}}
	if e := f.ratios(); e.SerializationEfficiency == nil && e.CommunicationEfficiency != nil {
		factors = []factor{{"load balance", balance}, {"communication", *e.CommunicationEfficiency}}
	}
	worst := slices.MinFunc(factors,
		func(a, b factor) int { return cmp.Compare(a.value, b.value) })
	c := cause.Cause{Kind: cause.Inefficient, Ranks: []uint32{}, Evidence: map[string]float64{"parallel_efficiency": parallel}}
	if worst.name == "transfer" {
		c.Evidence["transfer_efficiency"] = transfer
	}
	c.Headline = fmt.Sprintf("Low parallel efficiency, mostly %s (%s)", worst.name, words.Share(worst.value))
	if c.Text = fmt.Sprintf("Parallel efficiency is %s.", words.Share(parallel)); busy == 0 {
		c.Text = fmt.Sprintf("Parallel efficiency is %s, and no fault was found that costs 1 %% of the run.", words.Share(parallel))
	}
	if lost := f.incomplete.share(); lost > mostly*(1-parallel) {
		c.Evidence["incomplete_calls"] = lost
		c.Headline = "The trace does not record for whom ranks wait"
		c.Text = fmt.Sprintf("Parallel efficiency is %s. MPI calls of which records are missing take %s of rank time.", words.Share(parallel),
			words.Share(lost))
	}
	if e := f.ratios(); balance < efficient {
		c.Ranks = []uint32{uint32(e.UsefulMax.Rank)}
		c.Text += fmt.Sprintf(" Rank %d computes longest: %s, the mean is %s.", e.UsefulMax.Rank, words.Time(e.UsefulMax.TimeNs),
			words.Time(e.UsefulMeanNs))
	}
	if best >= 0 {
		share := float64(gains[best]) / float64(f.run)
		c.SourceLine, c.Operation, c.GainNs, c.GainShare = places[best].SourceLine, places[best].Operation, &gains[best], &share
		at := words.Sentence(c.SourceLine)
		if c.Operation != "" {
			at = words.Call(string(c.Operation), c.SourceLine)
		}
		if c.Operation == "" && f.waiting[string(c.Region)] {
			at = "the device for which hosts wait in " + at
		}
		c.Text += fmt.Sprintf(" The place to shorten first is %s.", at)
		if busy > 0 {
			c.Text += fmt.Sprintf(" On average %.3g of %d ranks work there at a time; the others wait for messages.", busy, len(f.ranks))
			c.Evidence["ranks_at_a_time"] = busy
		}
		c.Change = shorter("If it took half the time", gains[best], share)
	}
	return []cause.Cause{c}, nil
}

// chain returns how many ranks are at a time at a place where they work one after another, 0 if they do not: its time of the critical path
// is more than that of a rank, by more than twice what equal visits or equal totals would save, and most waits for it are for messages.
func (f *finder) chain(at field.Site) float64 {
	parts := f.parts[at]
	if len(parts) == 0 {
		return 0
	}
	p := union(parts)
	mean := sum(p.times) / float64(len(f.ranks))
	most, absent := float64(slices.Max(p.times)), p.path-mean
	if p.path == 0 || absent <= (1-1/unlike)*p.path || absent <= 2*max(float64(p.unequal), most-mean) || together(p.row) {
		return 0
	}
	return sum(p.times) / p.path
}

// halved returns what each place gains if it takes half of its time; of places that cannot be the best that is left at 0.
// First that is tried of which most time is on the critical path: mostly it is the best, and what others have of the longest path bounds
// what they gain.
func (f *finder) halved(ctx context.Context, m *whatif.Model, places []field.Site, jobs int) ([]int64, error) {
	if len(places) == 0 {
		return nil, nil
	}
	const half = 0.5
	gains := make([]int64, len(places))
	try := func(ctx context.Context, i int) error {
		p, err := m.Predict(ctx, whatif.Scale(f.site(places[i]), half))
		if err == nil {
			gains[i] = p.Gain()
		}
		return ctx.Err()
	}
	first := 0
	for i, place := range places {
		if f.critical[place] > f.critical[places[first]] {
			first = i
		}
	}
	if err := try(ctx, first); err != nil || m.Half(gains[first]) {
		return gains, err
	}
	var rest []int
	path := m.Bound()
	for i, place := range places {
		if i != first && path.Scale(f.site(place), half) >= gains[first] {
			rest = append(rest, i)
		}
	}
	_, err := engine.Map(ctx, jobs, len(rest), func(ctx context.Context, k int) (struct{}, error) { return struct{}{}, try(ctx, rest[k]) })
	return gains, err
}
