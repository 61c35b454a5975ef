// Package topology says where ranks are in a Cartesian grid, physical or virtual, and how far
// their messages go (docs/DEFINITIONS.md 1.3: topological block, AverageHops).
package topology

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"tracekit/trace"
)

// A Topology is a grid with places of ranks. It is not changed once it is made.
type Topology struct {
	name  string
	sizes []int
	torus []bool // by dimension: the shorter way may lead over its edge
	at    []int  // of rank r in dimension k: at[r·len(sizes)+k]; -1: not known
}

// mostRanks bounds what a file or a grid may hold.
const mostRanks = 1 << 24

// Row returns ranks in a row.
func Row(ranks int) *Topology {
	t, _ := Grid([]int{max(ranks, 1)}, ranks)
	t.name = "ranks in a row"
	return t
}

// Grid returns ranks in a grid in row order: the last coordinate is that which changes from
// one rank to the next. The grid must have room for all ranks.
func Grid(sizes []int, ranks int) (*Topology, error) {
	room := 1
	var text []string
	for _, n := range sizes {
		if n < 1 || room > mostRanks/n {
			return nil, fmt.Errorf("a grid of %v: sizes are 1 or more, and it may have %d places", sizes, mostRanks)
		}
		room *= n
		text = append(text, strconv.Itoa(n))
	}
	name := strings.Join(text, "x")
	if len(sizes) == 0 || room < ranks {
		return nil, fmt.Errorf("a grid of %s has %d places for %d ranks", name, room, ranks)
	}
	t := &Topology{name: "ranks in a grid of " + name, sizes: slices.Clone(sizes), torus: make([]bool, len(sizes)),
		at: make([]int, ranks*len(sizes))}
	for r := range ranks {
		rest := r
		for k := len(sizes) - 1; k >= 0; k-- {
			t.at[r*len(sizes)+k] = rest % sizes[k]
			rest /= sizes[k]
		}
	}
	return t, nil
}

// numbering is the name that Score-P gives to its numbering of processes and threads.
const numbering = "Process x Thread"

// Names returns the names of the topologies of a trace that are more than Score-P's numbering of
// processes and threads.
func Names(d *trace.Defs) (names []string) {
	for i := range d.Topologies {
		if name := d.Topologies[i].Name; name != "" && name != numbering && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// OfTrace returns the topology of a trace that has a name. Without one it is the first that knows the places of all ranks and is more than
// Score-P's numbering of processes and threads; nil if there is none.
func OfTrace(d *trace.Defs, name string) *Topology {
	ranks := d.Ranks()
	world := d.World()
	for i := range d.Topologies {
		g := &d.Topologies[i]
		if name != "" && g.Name != name || name == "" && g.Name == numbering {
			continue
		}
		t := &Topology{name: fmt.Sprintf("topology %q of the trace", g.Name), torus: g.Torus,
			at: slices.Repeat([]int{-1}, len(world)*len(g.Sizes))}
		for _, n := range g.Sizes {
			t.sizes = append(t.sizes, int(n))
		}
		for _, p := range g.Places {
			r := ranks[p.Location]
			if int(r) >= len(world) || world[r] != p.Location {
				continue
			}
			for k, x := range p.At {
				t.at[int(r)*len(t.sizes)+k] = int(x)
			}
		}
		if len(t.sizes) > 0 && (name != "" || !slices.Contains(t.at, -1)) {
			return t
		}
	}
	return nil
}

// At returns the grid that a text names, such as 8x8x16, or that the file of that name describes.
func At(text string, ranks int) (*Topology, error) {
	if sizes, ok := parseGrid(text); ok {
		return Grid(sizes, ranks)
	}
	in, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Read(in, text, ranks)
}

func parseGrid(text string) (sizes []int, ok bool) {
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		sizes = append(sizes, n)
	}
	return sizes, true
}

// Read reads a topology of a trace of so many ranks from text. A line is one of
//
//	dims 8 8 16       the sizes, once, before any rank
//	torus 1 1 0       by dimension whether it is closed to a ring; without it, none is
//	12: 1 4 0         the place of rank 12
//
// and what stands behind a # is no part of it. Errors name the line.
func Read(in io.Reader, file string, ranks int) (*Topology, error) {
	t := &Topology{name: file}
	lines, n := bufio.NewScanner(in), 0
	for lines.Scan() {
		n++
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := t.line(line, ranks); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("%s:%d: %w", file, n+1, lines.Err())
	case t.sizes == nil:
		return nil, fmt.Errorf("%s: no line says the sizes: dims 8 8 16", file)
	}
	return t, nil
}

// line reads a line of a file.
func (t *Topology) line(line string, ranks int) error {
	before, after, isRank := strings.Cut(line, ":")
	fields := strings.Fields(line)
	word := fields[0]
	if isRank {
		word, fields = strings.TrimSpace(before), append([]string{""}, strings.Fields(after)...)
	}
	var values []int
	for _, f := range fields[1:] {
		v, err := strconv.Atoi(f)
		if err != nil || v < 0 || v > math.MaxInt32 {
			return fmt.Errorf("%q: want a number", f)
		}
		values = append(values, v)
	}
	switch {
	case word == "dims" && t.sizes == nil && len(values) > 0 && len(values) <= 16 && !slices.Contains(values, 0):
		if ranks > mostRanks/len(values) {
			return fmt.Errorf("%d ranks are too many", ranks)
		}
		t.sizes, t.torus = values, make([]bool, len(values))
		t.at = slices.Repeat([]int{-1}, ranks*len(values))
		return nil
	case word == "dims":
		return errors.New("want dims once, with sizes of 1 or more")
	case t.sizes == nil:
		return errors.New("want dims and the sizes before anything else")
	case len(values) != len(t.sizes):
		return fmt.Errorf("%d numbers for %d dimensions", len(values), len(t.sizes))
	case word == "torus" && !isRank:
		for k, v := range values {
			t.torus[k] = v != 0
		}
		return nil
	}
	r, err := strconv.Atoi(word)
	switch {
	case err != nil || !isRank:
		return fmt.Errorf("%q: want dims, torus, or a rank and a colon", word)
	case r < 0 || r >= ranks:
		return trace.NoRank(r, ranks)
	}
	for k, v := range values {
		if v >= t.sizes[k] {
			return fmt.Errorf("rank %d is at %d of %d in dimension %d", r, v, t.sizes[k], k)
		}
		t.at[r*len(t.sizes)+k] = v
	}
	return nil
}

// String says where the topology is from.
func (t *Topology) String() string { return t.name }

// Dimensions returns the sizes.
func (t *Topology) Dimensions() []int { return slices.Clone(t.sizes) }

// Coordinates returns where a rank is, nil if that is not known.
func (t *Topology) Coordinates(rank uint32) []int {
	n := len(t.sizes)
	if uint64(rank) >= uint64(len(t.at)/n) || t.at[int(rank)*n] < 0 {
		return nil
	}
	return t.at[int(rank)*n : (int(rank)+1)*n : (int(rank)+1)*n]
}

// Wrapped returns the topology with all dimensions, or none, closed to rings.
func (t *Topology) Wrapped(all bool) *Topology {
	w := *t
	w.torus = slices.Repeat([]bool{all}, len(t.sizes))
	return &w
}

// Hops returns the Manhattan distance of two ranks, in a closed dimension that of the shorter
// way around; -1 if a place is not known.
func (t *Topology) Hops(a, b uint32) (hops int) {
	x, y := t.Coordinates(a), t.Coordinates(b)
	if x == nil || y == nil {
		return -1
	}
	for k := range x {
		d := max(x[k], y[k]) - min(x[k], y[k])
		if t.torus[k] {
			d = min(d, t.sizes[k]-d)
		}
		hops += d
	}
	return hops
}
