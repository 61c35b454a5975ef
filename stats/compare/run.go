package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
)

// A Run is a sample as a baseline keeps it.
type Run struct {
	Trace         document.TraceInfo   `json:"trace"`
	Findings      checked[keptFinding] `json:"findings"`
	Figures       keptFigures          `json:"figures"` // see FigureNames
	Regions       []string             `json:"regions"` // visited, those with the most time first
	Communicators []commShape          `json:"communicators"`
	Places        checked[keptPlace]   `json:"places"` // in order of names
}

// keptFigures are figures by their names.
type keptFigures map[string]*float64

// A keptFinding is a finding of a run.
type keptFinding struct{ document.Finding }

// A keptPlace is what one place takes in a run, sums over ranks in ns. Parts are the blocks of DEFINITIONS 2.14; none: all are 0.
type keptPlace struct {
	field.SourceLine
	Operation     field.Name `json:"operation"`
	OwnNs         int64      `json:"own_ns"`
	WaitNs        int64      `json:"wait_ns"`
	CausesNs      int64      `json:"causes_ns"` // waits of others for it
	Instances     int64      `json:"instances"`
	OwnParts      []int64    `json:"own_parts_ns"`
	WaitParts     []int64    `json:"wait_parts_ns"`
	InstanceParts []int64    `json:"instance_parts"`
	Ranks         []uint32   `json:"ranks"` // ascending
	RanksOwn      []int64    `json:"ranks_own_ns"`
	RanksWait     []int64    `json:"ranks_wait_ns"`
}

// Keep returns the sample as a run of a baseline.
func (s *Sample) Keep() Run {
	r := Run{Trace: s.Trace, Figures: s.Figures, Regions: slices.Concat([]string{}, s.regions),
		Communicators: slices.Concat([]commShape{}, s.comms), Findings: checked[keptFinding]{}, Places: checked[keptPlace]{}}
	for _, f := range s.Findings {
		r.Findings = append(r.Findings, keptFinding{f})
	}
	sites := maps.Clone(s.causes)
	for site := range s.places {
		sites[site] += 0
	}
	for site, causes := range sites {
		p := keptPlace{SourceLine: site.SourceLine, Operation: site.Operation, CausesNs: causes, Ranks: []uint32{}, RanksOwn: []int64{},
			RanksWait: []int64{}}
		one := s.places[site]
		if one == nil {
			one = &series{}
		}
		p.OwnNs, p.OwnParts = kept(&one.own)
		p.WaitNs, p.WaitParts = kept(&one.wait)
		p.Instances, p.InstanceParts = kept(&one.instances)
		for _, t := range one.ranks {
			p.Ranks, p.RanksOwn, p.RanksWait = append(p.Ranks, t.rank), append(p.RanksOwn, t.own), append(p.RanksWait, t.wait)
		}
		r.Places = append(r.Places, p)
	}
	slices.SortFunc(r.Places, func(x, y keptPlace) int { return compareSites(x.site(), y.site()) })
	return r
}

func kept(parts *[blocks]int64) (sum int64, out []int64) {
	if *parts == [blocks]int64{} {
		return 0, []int64{}
	}
	for _, x := range parts {
		sum += x
	}
	return sum, slices.Clone(parts[:])
}

// sample returns the run as it was before it was kept.
func (r *Run) sample() *Sample {
	s := &Sample{Trace: r.Trace, Figures: r.Figures, regions: r.Regions, comms: r.Communicators, places: make(map[field.Site]*series),
		causes: make(map[field.Site]int64)}
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, f.Finding)
	}
	for i := range r.Places {
		p := &r.Places[i]
		site := p.site()
		if p.CausesNs != 0 {
			s.causes[site] = p.CausesNs
		}
		if len(p.Ranks) == 0 && len(p.InstanceParts) == 0 && len(p.OwnParts) == 0 && len(p.WaitParts) == 0 {
			continue // occurs as a cause only
		}
		one := new(series)
		copy(one.own[:], p.OwnParts)
		copy(one.wait[:], p.WaitParts)
		copy(one.instances[:], p.InstanceParts)
		for k, rank := range p.Ranks {
			one.ranks = append(one.ranks, rankTime{rank, p.RanksOwn[k], p.RanksWait[k]})
		}
		s.places[site] = one
	}
	return s
}

func (p *keptPlace) site() field.Site {
	return field.Site{SourceLine: p.SourceLine, Operation: p.Operation}
}

// mostSum bounds what a run sums up to, so that no sum of it overflows.
const mostSum = 1 << 62

// mostFigure bounds a figure: a count of instructions or bytes may be larger than a time.
const mostFigure = 1e30

// UnmarshalJSON implements json.Unmarshaler. It refuses what no run can be.
func (r *Run) UnmarshalJSON(text []byte) error {
	type plain Run
	if err := readAll(text, (*plain)(r)); err != nil {
		return err
	}
	return r.check()
}

// check reports what no run can be, and what would be too large to be summed.
func (r *Run) check() error {
	if r.Trace.Processes < 0 || r.Trace.Locations < 0 || r.Trace.DurationNs < 0 {
		return errors.New("trace has a negative size")
	}
	for _, name := range FigureNames()[:2] {
		if r.Figures[name] == nil {
			return fmt.Errorf("figure %s is missing", name)
		}
	}
	met := make(map[field.Site]bool)
	var times, instances, ranks, causes uint64
	for i := range r.Places {
		p := &r.Places[i]
		if met[p.site()] {
			return fmt.Errorf("place %d is there twice", i+1)
		}
		met[p.site()] = true
		for _, c := range []struct {
			sum  *uint64
			list []int64
		}{{&times, p.OwnParts}, {&times, p.WaitParts}, {&instances, p.InstanceParts}, {&ranks, p.RanksOwn}, {&ranks, p.RanksWait},
			{&causes, []int64{p.CausesNs}}} {
			for _, x := range c.list {
				if *c.sum += uint64(max(x, -(x + 1))); *c.sum > mostSum {
					return fmt.Errorf("place %d: the times of the run are too large", i+1)
				}
			}
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *keptPlace) UnmarshalJSON(text []byte) error {
	type plain keptPlace
	if err := readAll(text, (*plain)(p)); err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		sum   int64
		parts []int64
	}{{"own_ns", p.OwnNs, p.OwnParts}, {"wait_ns", p.WaitNs, p.WaitParts}, {"instances", p.Instances, p.InstanceParts}} {
		if n := len(c.parts); n != 0 && n != blocks {
			return fmt.Errorf("%s has %d parts, not %d", c.name, n, blocks)
		}
		for _, x := range c.parts {
			c.sum -= x
		}
		if c.sum != 0 {
			return fmt.Errorf("%s is not the sum of its parts", c.name)
		}
	}
	if len(p.RanksOwn) != len(p.Ranks) || len(p.RanksWait) != len(p.Ranks) {
		return errors.New("ranks and their times differ in number")
	}
	for i := range p.Ranks[min(1, len(p.Ranks)):] {
		if p.Ranks[i] >= p.Ranks[i+1] {
			return errors.New("ranks are not in ascending order")
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *keptFinding) UnmarshalJSON(text []byte) error { return readAll(text, &f.Finding) }

// UnmarshalJSON implements json.Unmarshaler.
func (f *keptFigures) UnmarshalJSON(text []byte) error {
	known := FigureNames()
	if _, err := keysIn(text, func(key string) bool { return slices.Contains(known, key) }); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	if err := json.Unmarshal(text, (*map[string]*float64)(f)); err != nil {
		return plainly(err)
	}
	for _, name := range known {
		if x := (*f)[name]; x != nil && math.Abs(*x) > mostFigure {
			return fmt.Errorf("figure %s is too large", name)
		}
	}
	return nil
}

func (Run) noun() string         { return "run" }
func (keptPlace) noun() string   { return "place" }
func (keptFinding) noun() string { return "finding" }

// A checked list reads its elements one by one, so that the first that is none ends it: what is made of a file stays in proportion to it.
type checked[T interface{ noun() string }] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *checked[T]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil {
		return plainly(err)
	} else if first != json.Delim('[') {
		return errors.New("a list has to be here")
	}
	*l = checked[T]{}
	for d.More() {
		var x T
		if err := d.Decode(&x); err != nil {
			return fmt.Errorf("%s %d: %w", x.noun(), len(*l)+1, err)
		}
		*l = append(*l, x)
	}
	return nil
}
