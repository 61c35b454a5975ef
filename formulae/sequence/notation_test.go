package sequence

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestNotation(t *testing.T) {
	for _, c := range []struct {
		seq  []uint64
		want string
	}{
		{repeat(5, 7), "7^5"},
		{repeat(1, 7), "7"},
		{[]uint64{1, 1, 2, 3, 3, 3}, "1^2 2 3^3"},
		{repeat(4, 2, 4, 6, 8, 10), "(2, 4, …, 10)^4"},
		{append(repeat(4, 2, 4, 6), 2, 4), "(2, 4, 6)^4 (2, 4)"},
		{[]uint64{5, 8, 11, 14}, "(5, 8, …, 14)"},
		{append([]uint64{9, 9}, repeat(8, 1, 1, 2, 5)...), "9^2 (1^2 2 5)^8"},
		{append(repeat(8, 1, 1, 2, 5), 1), "(1^2 2 5)^8 1"},
		{slices.Concat(repeat(9, 1, 0, 0), repeat(3, 7), repeat(5, 1, 0, 0), repeat(3, 7), repeat(2, 1, 0, 0), repeat(3, 7), repeat(9, 1, 0, 0),
			repeat(3, 7),
			repeat(9, 1, 0, 0), repeat(3, 7), repeat(2, 1, 0, 0), repeat(3, 7)), "L2 where L1 = (1 0^2)^[9 5 2 9^2 2], L2 = (L1 7^3)^6"},
	} {
		f := learn(18, c.seq)
		got := f.Notation(func(v uint64) string { return strconv.FormatUint(v, 10) }, 3)
		if got != c.want {
			t.Errorf("%s %v: %s, want %s", f.Kind, c.seq, got, c.want)
		}
	}
}

// What is written is the sequence: read back it is value for value what the formula describes.
func TestNotationIsTheSequence(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	kinds := make(map[Kind]int)
	nested := 0
	for range 2000 {
		l := NewLearner(4 + r.IntN(14))
		body := make([]uint64, 1+r.IntN(5))
		for i := range body {
			body[i] = uint64(r.IntN(4) + i*r.IntN(3))
		}
		for range r.IntN(4) {
			l.Add(uint64(r.IntN(9)))
		}
		for range 1 + r.IntN(12) {
			for range 1 + r.IntN(6) {
				for _, v := range body {
					l.Add(v)
				}
			}
			if r.IntN(2) == 0 {
				l.Add(50)
			}
		}
		f := l.Formula()
		kinds[f.Kind]++
		if f.Nested != nil {
			nested++
		}
		text := f.Notation(func(v uint64) string { return strconv.FormatUint(v, 10) }, 3)
		var want []uint64
		for v := range f.Values() {
			want = append(want, v)
		}
		if got := readNotation(t, text); !slices.Equal(got, want) {
			t.Fatalf("%s\n%v, want\n%v", text, got, want)
		}
	}
	if nested < 20 || kinds[General] < 20 || kinds[Cycle] < 200 || kinds[Failed] < 20 {
		t.Errorf("kinds %v, %d nested", kinds, nested)
	}
}

// A notationReader reads what Notation writes.
type notationReader struct {
	t     *testing.T
	loops map[string]*readLoop
}

type readLoop struct {
	body   string
	counts []uint64 // each time the loop is met; one: always the same
	met    int
}

func readNotation(t *testing.T, text string) []uint64 {
	r := &notationReader{t: t, loops: make(map[string]*readLoop)}
	top, where, ok := strings.Cut(text, " where ")
	for ok && where != "" {
		name, rest, _ := strings.Cut(where, " = ")
		body, after := bracketed(rest, '(', ')')
		loop := &readLoop{body: body, counts: []uint64{1}}
		if list, ok := strings.CutPrefix(after, "^["); ok {
			list, after = bracketed("["+list, '[', ']')
			loop.counts = append([]uint64{}, (&notationReader{t: t}).sequence(list)...)
		} else if n, ok := strings.CutPrefix(after, "^"); ok {
			n, after, _ = strings.Cut(n, ",")
			loop.counts = []uint64{r.number(n)}
			after = "," + after
		}
		r.loops[name] = loop
		where = strings.TrimPrefix(after, ", ")
		where = strings.TrimPrefix(where, ",")
		where = strings.TrimLeft(where, " ")
	}
	return r.sequence(top)
}

// bracketed cuts text that begins with a bracket behind the one that closes it.
func bracketed(text string, open, closing byte) (inside, after string) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return text[1:i], text[i+1:]
			}
		}
	}
	return text, ""
}

func (r *notationReader) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *notationReader) sequence(text string) (out []uint64) {
	for text != "" {
		var part []uint64
		if text[0] == '(' {
			inside, after := bracketed(text, '(', ')')
			n := uint64(1)
			if rest, ok := strings.CutPrefix(after, "^"); ok {
				var count string
				count, after, _ = strings.Cut(rest, " ")
				n = r.number(count)
			}
			text = strings.TrimLeft(after, " ")
			for range n {
				if strings.Contains(inside, ",") {
					part = append(part, r.progression(inside)...)
				} else {
					part = append(part, r.sequence(inside)...)
				}
			}
			out = append(out, part...)
			continue
		}
		var term string
		term, text, _ = strings.Cut(text, " ")
		value, count, ok := strings.Cut(term, "^")
		n := uint64(1)
		if ok {
			n = r.number(count)
		}
		for range n {
			if loop := r.loops[value]; loop != nil {
				times := loop.counts[min(loop.met, len(loop.counts)-1)]
				loop.met++
				for range times {
					out = append(out, r.sequence(loop.body)...)
				}
				continue
			}
			out = append(out, r.number(value))
		}
	}
	return out
}

func (r *notationReader) progression(text string) (out []uint64) {
	list := strings.Split(text, ", ")
	for i, s := range list {
		if s != "…" {
			out = append(out, r.number(s))
			continue
		}
		last, step := r.number(list[i+1]), out[1]-out[0]
		for v := out[1] + step; v != last; v += step {
			out = append(out, v)
		}
	}
	return out
}
