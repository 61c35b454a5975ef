package hangs

import (
	"fmt"
	"slices"
	"strings"
)

// rankList names ranks, of which successive ones are a range, with a verb for one or several.
func rankList(ranks []int, one, many string) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		part := fmt.Sprint(ranks[i])
		if j > i {
			part = fmt.Sprintf("%d-%d", ranks[i], ranks[j])
		}
		if parts = append(parts, part); len(parts) == 8 && j+1 < len(ranks) {
			parts = append(parts, "…")
			break
		}
		i = j + 1
	}
	word, verb := "rank ", one
	if len(ranks) > 1 {
		word, verb = "ranks ", many
	}
	return strings.TrimSpace(word + strings.Join(parts, ", ") + " " + verb)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// mostTensors bounds what is looked at of an operation's tensors.
const mostTensors = 1 << 16

// count returns how many elements tensors have.
func (t tensors) count() (n int64) {
	l, _ := t.sizes.(*list)
	if l == nil {
		return 0
	}
	for _, x := range l.items[:min(len(l.items), mostTensors)] {
		dims, _ := x.(*list)
		if dims == nil {
			continue
		}
		product := int64(1)
		for _, d := range dims.items[:min(len(dims.items), 64)] {
			size, _ := d.(int64)
			product *= size
		}
		n += product
	}
	return n
}

func (t tensors) elements() string { return plural(t.count()) }

func plural(n int64) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// kindsOf returns the element types of tensors, each once.
func (t tensors) kindsOf() (out []string) {
	l, _ := t.types.(*list)
	if l == nil {
		return nil
	}
	for _, x := range l.items[:min(len(l.items), mostTensors)] {
		if name, ok := x.(string); ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Operations in which ranks pass tensors of different sizes: what they receive, or what they send, is the root's alone or is each
// rank's own.
var (
	unevenIn  = []string{"scatter", "all_to_all", "all_to_allv", "all_to_all_v_single", "all_gather_v", "reduce_scatter_v"}
	unevenOut = []string{"gather", "all_to_all", "all_to_allv", "all_to_all_v_single", "all_gather_v", "reduce_scatter_v"}
)

// elements says how many elements a rank passes and takes, as far as all ranks have to agree.
func (e *entry) elements() string {
	in, out := !slices.Contains(unevenIn, e.op), !slices.Contains(unevenOut, e.op)
	switch {
	case in && out && e.in.count() != e.out.count():
		return fmt.Sprintf("%d to %s", e.in.count(), e.out.elements())
	case in:
		return e.in.elements()
	case out:
		return e.out.elements()
	}
	return ""
}

// types says what elements a rank passes and takes.
func (e *entry) types() string {
	var all []string
	if !slices.Contains(unevenIn, e.op) {
		all = append(all, e.in.kindsOf()...)
	}
	if !slices.Contains(unevenOut, e.op) {
		all = append(all, e.out.kindsOf()...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " and ")
}
