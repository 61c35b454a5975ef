package formulae

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A side is on which side of communication an event counts its bytes.
type side uint8

const (
	sent side = iota
	received
	collective
	sides
	neither = sides
)

// side returns the side that an item's events are on.
func (i *Item) side() side {
	switch i.Kind {
	case trace.KindMpiSend, trace.KindMpiIsend:
		return sent
	case trace.KindMpiRecv, trace.KindMpiIrecv:
		return received
	case trace.KindCollectiveEnd, trace.KindNonBlockingCollectiveComplete:
		return collective
	}
	return neither
}

// A volume counts events and bytes by side.
type volume struct{ events, bytes [sides]uint64 }

func (v *volume) add(o *volume) {
	for s := range sides {
		v.events[s] += o.events[s]
		v.bytes[s] += o.bytes[s]
	}
}

// volume returns what the events of an item are together.
func (i *Item) volume() (v volume) {
	if s := i.side(); s < sides {
		v.events[s], v.bytes[s] = i.Count, i.Size.Sum+i.Got.Sum
	}
	return v
}

// shares returns the share of v in all by events and by bytes: of messages on the sides that
// v has, or of collectives if it has no messages.
func (v *volume) shares(all *volume) (events, bytes float64) {
	share := func(part, whole *[sides]uint64) float64 {
		var a, b uint64
		for _, s := range []side{sent, received} {
			if v.events[s] > 0 {
				a, b = a+part[s], b+whole[s]
			}
		}
		if v.events[sent]+v.events[received] == 0 {
			a, b = part[collective], whole[collective]
		}
		return float64(a) / float64(max(b, 1))
	}
	return share(&v.events, &all.events), share(&v.bytes, &all.bytes)
}

// volumes returns what happens below each node of a tree, with itself. Parents come before children.
func (t *Tree) volumes() []volume {
	out := make([]volume, len(t.Nodes))
	for n := len(t.Nodes) - 1; n >= 0; n-- {
		node := &t.Nodes[n]
		for k := range node.Items {
			v := node.Items[k].volume()
			out[n].add(&v)
		}
		if n > 0 && int(node.Parent) < n {
			out[node.Parent].add(&out[n])
		}
	}
	return out
}

// mostBelow bounds the items of a loop that are added up.
const mostBelow = 1 << 12

// below returns the volume of an item: its own events, those of the call, or those of the items in its
// loop, also where they occur outside the loop. It adds up the first mostBelow items.
func (t *Tree) below(n *Node, item int, nodes []volume) (v volume) {
	seen := map[uint32]bool{}
	for todo := []uint32{uint32(item)}; len(todo) > 0 && len(seen) < mostBelow; {
		last := len(todo) - 1
		k := todo[last]
		todo = todo[:last]
		if seen[k] {
			continue
		}
		seen[k] = true
		i := &n.Items[k]
		own := i.volume()
		if i.Kind == trace.KindEnter {
			own = nodes[i.Child]
		}
		v.add(&own)
		todo = append(todo, i.Body...)
	}
	return v
}

// Unlearned are the sequences of one category at one call path that were not learned: what is
// rebuilt of them is not what was recorded.
type Unlearned struct {
	Category  string   `json:"category"`
	CallPath  []string `json:"call_path"` // regions, from the outermost; the last is the call
	Site      string   `json:"site"`      // file:line of it; "" if it was not recorded
	Locations []uint32 `json:"locations"` // that have such a sequence
	Sequences uint64   `json:"sequences"`
	Values    uint64   `json:"values"`    // of the sequences
	Described uint64   `json:"described"` // of these, by what was learned before it failed

	// Shares of the trace's messages and of their bytes that the sequences are about: of what
	// is sent or received there, and below there if it is about branches and iterations. Of
	// sequences about collectives the shares of collective calls and their bytes.
	Messages float64 `json:"messages"`
	Bytes    float64 `json:"bytes"`

	category      category
	volume, whole volume // of these, of the trace
	place         string
}

// UnlearnedOf lists what was not learned, by category, and in these the largest share of bytes first.
func UnlearnedOf(defs *trace.Defs, locations []Location) []Unlearned {
	var all volume
	list := []Unlearned{}
	index := make(map[string]int)
	for l := range locations {
		tree := locations[l].Tree
		if len(tree.Nodes) == 0 {
			continue
		}
		nodes := tree.volumes()
		all.add(&nodes[0])
		for s := range tree.sequences() {
			if s.Kind != sequence.Failed {
				continue
			}
			path, site := tree.path(defs, s.node), siteOf(defs, tree.Nodes[s.node].Context)
			key := fmt.Sprint(s.category, path, site)
			at, ok := index[key]
			if !ok {
				at = len(list)
				index[key] = at
				list = append(list, Unlearned{Category: s.category.String(), category: s.category, CallPath: path, Site: site})
			}
			list[at].add(uint32(l), tree, s, nodes)
		}
	}
	for i := range list {
		u := &list[i]
		u.whole = all
		u.Messages, u.Bytes = u.volume.shares(&all)
	}
	slices.SortStableFunc(list, func(a, b Unlearned) int {
		return cmp.Or(cmp.Compare(a.category, b.category), cmp.Compare(b.Bytes, a.Bytes), slices.Compare(a.CallPath, b.CallPath),
			cmp.Compare(a.Site, b.Site))
	})
	return list
}

// add counts a sequence. Two of one item, such as the bytes that a collective sends and
// receives, are about the same events.
func (u *Unlearned) add(l uint32, t *Tree, s construct, nodes []volume) {
	u.Sequences++
	u.Values += s.Seen
	u.Described += s.Count
	if n := len(u.Locations); n == 0 || u.Locations[n-1] != l {
		u.Locations = append(u.Locations, l)
	}
	place := fmt.Sprint(l, s.node, s.item)
	if place == u.place {
		return
	}
	u.place = place
	v := nodes[s.node]
	if s.category != branches {
		v = t.below(&t.Nodes[s.node], s.item, nodes)
	}
	u.volume.add(&v)
}

// mostPath is how many regions of a call path are named, the innermost ones. More would hardly
// distinguish deep recursion, and take time in the square of its depth.
const mostPath = 128

// path returns the names of the regions of a call path, behind an ellipsis if not of all.
func (t *Tree) path(defs *trace.Defs, node int) []string {
	path := []string{}
	for ; node > 0 && len(path) < mostPath; node = int(t.Nodes[node].Parent) {
		path = append(path, defs.RegionName(trace.RegionID(t.Nodes[node].Region)))
	}
	if node > 0 {
		path = append(path, "…")
	}
	slices.Reverse(path)
	return path
}

// Approximations say of each category of which something was not learned how much, for people.
func Approximations(list []Unlearned) []string {
	var out []string
	for first := 0; first < len(list); {
		u := list[first]
		for first++; first < len(list) && list[first].category == u.category; first++ {
			u.Sequences += list[first].Sequences
			u.volume.add(&list[first].volume)
		}
		messages, bytes := u.volume.shares(&u.whole)
		of := "messages"
		if u.volume.events[sent]+u.volume.events[received] == 0 {
			of = "collectives"
		}
		out = append(out, fmt.Sprintf("%s (%d not learned: %.3g %% of the %s, %.3g %% of their bytes)",
			categoryTitles[u.category], u.Sequences, 100*min(messages, 1), of, 100*min(bytes, 1)))
	}
	return out
}
