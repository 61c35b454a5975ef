package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tracekit/codec"
	"tracekit/document/palette"
	"tracekit/document/waitstate"
	"tracekit/trace"
)

// A header is what the page knows of a timeline besides its numbers, as JSON. Everything
// refers by index; None is -1.
type header struct {
	LengthNs      int64         `json:"length_ns"`
	Rows          []headRow     `json:"rows"`
	Regions       []headName    `json:"regions"`
	Paths         [][3]int      `json:"paths"`      // parent, region, index into Sites
	Sites         []headSite    `json:"sites"`      // where paths were called
	Costs         costs         `json:"costs"`      // of paths
	Activities    [][2]int      `json:"activities"` // path, wait
	Waits         []string      `json:"waits"`      // titles; the first is none
	Partners      []bool        `json:"partners"`   // by wait: it is for the partner of a message
	Comms         []string      `json:"comms"`      // names of the first communicators
	MessagesOf    int           `json:"messages_of"`
	CollectivesOf int           `json:"collectives_of"`
	CriticalOf    int           `json:"critical_of"`
	Counters      []headCounter `json:"counters"`
	Palette       []palette.Row `json:"palette"` // by class of regions
	Files         []string      `json:"files"`
	Served        bool          `json:"served"`
}

type headRow struct {
	Name   string `json:"name"`
	Rank   int    `json:"rank"`
	Master bool   `json:"master"`
	StepNs int64  `json:"step_ns"`
	Device string `json:"device,omitempty"` // that it is a stream of
	Node   string `json:"node,omitempty"`   // machine that it runs on
}

type headName struct {
	Name     string `json:"name"`
	Paradigm string `json:"paradigm"`
	File     string `json:"file,omitempty"`
	Line     uint32 `json:"line,omitempty"`
	OnDevice string `json:"on_device,omitempty"` // see meanings
	OfThread string `json:"of_thread,omitempty"`
	OnFile   string `json:"on_file,omitempty"`
	Look     [4]int `json:"look"` // class and shade (Palette) on hosts, class and shade on devices
}

type headCounter struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Rate bool   `json:"rate"` // a second
}

type headSite struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// longestName bounds names on the page, which are cut in the middle: a name may have megabytes.
const longestName = 400

// shorten makes a name fit for people: not too long, and nothing in it that steers.
func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if r := []rune(s); len(r) > longestName {
		return string(r[:longestName/2]) + "…" + string(r[len(r)-longestName/2:])
	}
	return s
}

// mostComms is how many communicators are named: programs may make one after another.
const mostComms = 256

// describe makes the header.
func (p *Page) describe() *header {
	t, tl := p.Trace, p.Timeline
	h := &header{Files: p.Files, Palette: palette.Table(), Served: p.Served, LengthNs: tl.LengthNs, MessagesOf: tl.MessagesOf,
		CollectivesOf: tl.CollectivesOf, CriticalOf: tl.CriticalOf,
		Rows: []headRow{}, Paths: [][3]int{}, Counters: []headCounter{}, Sites: []headSite{}, Waits: []string{""},
		Partners: []bool{false}, Comms: []string{}}
	d := t.Defs
	for _, c := range d.Comms[:min(len(d.Comms), mostComms)] {
		h.Comms = append(h.Comms, shorten(d.String(c.Name)))
	}
	for _, r := range tl.Rows {
		l := d.Locations[r.Location]
		name := d.String(l.Name)
		if name == "" && int(l.Group) < len(d.LocationGroups) {
			name = d.String(d.LocationGroups[l.Group].Name)
		}
		row := headRow{Name: strings.TrimSpace(shorten(name)), Rank: -1, StepNs: r.StepNs, Device: shorten(deviceOf(t, r.Location))}
		if node := d.Node(r.Location); node != trace.None {
			row.Node = shorten(d.String(d.SystemTree[node].Name))
		}
		if number, ok := strings.CutPrefix(row.Name, "thread "); ok && row.Device != "" { // recorders number streams in the place of threads
			row.Name = "stream " + number
		}
		if rank := t.Rank[r.Location]; rank != trace.None {
			row.Rank, row.Master = int(rank), t.World[rank] == r.Location
		}
		h.Rows = append(h.Rows, row)
	}
	m, classes := meaningsOf(t), palette.Of(d)
	for id, r := range d.Regions {
		n := headName{Name: shorten(d.RegionLabel(trace.RegionID(id))), Paradigm: r.Paradigm.String(), Line: r.BeginLine,
			OnDevice: m.device[id], OfThread: m.thread[id], OnFile: m.file[id]}
		host, device, name := classes.Host[id], classes.Device[id], d.RegionLabel(trace.RegionID(id))
		n.Look = [4]int{int(host), host.Shade(name), int(device), device.Shade(name)}
		if n.Line != 0 {
			n.File = shorten(d.String(r.File))
		}
		h.Regions = append(h.Regions, n)
	}
	sites := map[trace.SourceLocationID]int{}
	for _, node := range tl.Paths.Nodes {
		site := -1
		if node.Site != trace.None && int(node.Site) < len(d.SourceLocations) {
			k, ok := sites[node.Site]
			if !ok {
				k = len(h.Sites)
				sites[node.Site] = k
				s := d.SourceLocations[node.Site]
				h.Sites = append(h.Sites, headSite{shorten(d.String(s.File)), s.Line})
			}
			site = k
		}
		h.Paths = append(h.Paths, [3]int{index(uint32(node.Parent)), index(uint32(node.Region)), site})
	}
	h.Costs = p.costsOfPaths()
	for _, a := range tl.Activities {
		h.Activities = append(h.Activities, [2]int{index(uint32(a.Path)), int(a.Wait)})
	}
	names := namesOf(tl.Counters)
	for i, c := range tl.Counters {
		h.Counters = append(h.Counters, headCounter{names[i], shorten(c.Unit), c.Rate})
	}
	for k := waitstate.None + 1; k < waitstate.Kinds; k++ {
		h.Waits, h.Partners = append(h.Waits, k.Info().Title), append(h.Partners, k.Info().Partner)
	}
	return h
}

// namesOf returns the names of counters on the page, which knows them by these: where several have
// one name, with the unit, and with a number if that tells no more.
func namesOf(counters []Counter) []string {
	names := make([]string, len(counters))
	for i, c := range counters {
		names[i] = shorten(c.Name)
	}
	for _, more := range []func(i, nth int) string{
		func(i, _ int) string { return shorten(counters[i].Unit) },
		func(_, nth int) string { return strconv.Itoa(nth) },
	} {
		number, nth := map[string]int{}, map[string]int{}
		for _, name := range names {
			number[name]++
		}
		for i, name := range names {
			if number[name] > 1 {
				nth[name]++
				names[i] = fmt.Sprintf("%s (%s)", name, more(i, nth[name]))
			}
		}
	}
	return names
}

func index(id uint32) int {
	if id == trace.None {
		return -1
	}
	return int(id)
}

// numbers encodes what the header has not, as a sequence of variable-length integers (base
// 128, the lowest seven bits first; signed ones zigzag). What is alike stands together, for then it
// is packed in a tenth of the time, and smaller:
//
//	for each row: number of runs, the steps of each
//	for each row: the activities of its runs
//	messages, collectives
//	number of stretches; for each: row, from - end of the last (signed), length
//
// They lie in several places, as the rows have them.
func (tl *Timeline) numbers() (data [][]byte) {
	for i := range tl.Rows {
		data = tl.Rows[i].Runs.appendSteps(data)
	}
	for i := range tl.Rows {
		data = tl.Rows[i].Runs.appendActivities(data)
	}
	c := codec.ToMemory(make([]byte, 0, 16*len(tl.Messages)+1<<10))
	tl.codeMessages(c)
	tl.codeCollectives(c)
	c.Uvarint(uint64(len(tl.Critical)))
	last := int64(0)
	for _, s := range tl.Critical {
		c.Uvarint(uint64(s.Row))
		c.Varint(s.FromNs - last)
		c.Uvarint(uint64(s.ToNs - s.FromNs))
		last = s.ToNs
	}
	return append(data, c.Data())
}

// codeMessages encodes the messages: their number; of each the sender; of each the receiver; of
// each when it is sent (signed difference to the one before); of each how long it takes (signed); of
// each the bytes; of each the communicator; of each the tag.
func (tl *Timeline) codeMessages(c *codec.Coder) {
	c.Uvarint(uint64(len(tl.Messages)))
	last := int64(0)
	for _, code := range []func(*Message){
		func(m *Message) { c.Uvarint(uint64(m.From)) },
		func(m *Message) { c.Uvarint(uint64(m.To)) },
		func(m *Message) { c.Varint(m.SentNs - last); last = m.SentNs },
		func(m *Message) { c.Varint(m.ReceivedNs - m.SentNs) },
		func(m *Message) { c.Uvarint(m.Bytes) },
		func(m *Message) { c.Uvarint(uint64(m.Comm)) },
		func(m *Message) { c.Uvarint(uint64(m.Tag)) },
	} {
		for i := range tl.Messages {
			code(&tl.Messages[i])
		}
	}
}

// codeCollectives encodes the collectives: their number; of each operation, first, last - first,
// latest, begin (signed difference to the one before), latest - begin, end - begin (signed), communicator,
// members, the root's row + 1 (0: none), bytes sent, bytes received.
func (tl *Timeline) codeCollectives(c *codec.Coder) {
	c.Uvarint(uint64(len(tl.Collectives)))
	last := int64(0)
	for _, o := range tl.Collectives {
		c.Uvarint(uint64(o.Operation))
		c.Uvarint(uint64(o.First))
		c.Uvarint(uint64(o.Last - o.First))
		c.Uvarint(uint64(o.Latest))
		c.Varint(o.BeginNs - last)
		c.Uvarint(uint64(o.LatestNs - o.BeginNs))
		c.Varint(o.EndNs - o.BeginNs)
		last = o.BeginNs
		c.Uvarint(uint64(o.Comm))
		c.Uvarint(uint64(o.Members))
		c.Uvarint(uint64(o.Root + 1)) // of None 0
		c.Uvarint(o.Sent)
		c.Uvarint(o.Received)
	}
}

// costs are what the analysis knows by call path, of the whole run: what paths cost others and the run, in ns, and
// what counters have counted in them.
type costs struct {
	Names []costName  `json:"names"`
	Rows  [][]float64 `json:"rows"` // path, and what it has of each name
}

// mostCosts bounds them: the page is bounded, whatever the trace.
const mostCosts = 12

type costName struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// costsOfPaths returns what the analysis says of call paths that the timeline has, in order.
func (p *Page) costsOfPaths() costs {
	out := costs{Names: []costName{{"waits caused", "ns"}, {"critical path", "ns"}, {"overhead", "ns"}}, Rows: [][]float64{}}
	shown := make([]trace.PathID, len(p.Trace.Tree.Nodes)) // by path of the trace: that of the timeline; None: it has none
	for i, node := range p.Trace.Tree.Nodes {
		if shown[i] = trace.None; node.Parent != trace.None {
			if node.Parent = shown[node.Parent]; node.Parent == trace.None {
				continue
			}
		}
		shown[i] = p.Timeline.Paths.Find(node)
	}
	for _, c := range p.Costs {
		if int(c.Path) >= len(shown) || shown[c.Path] == trace.None {
			continue
		}
		row := []float64{float64(shown[c.Path]), float64(c.Delay.TotalNs), float64(c.CriticalNs), float64(c.OverheadNs)}
		for _, k := range c.Counters {
			name := costName{shorten(k.Name), shorten(k.Unit)}
			at := slices.Index(out.Names, name)
			if at < 0 && len(out.Names) == mostCosts {
				continue // the profile has it by region
			}
			if at < 0 {
				at, out.Names = len(out.Names), append(out.Names, name)
			}
			for len(row) <= at+1 {
				row = append(row, 0)
			}
			row[at+1] += *k.Sum
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
