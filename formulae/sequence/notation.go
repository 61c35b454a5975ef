package sequence

import (
	"math"
	"strconv"
	"strings"
)

// Notation writes the values that the formula describes as docs/DEFINITIONS.md 1.4 does, with
// a name for each value; of progressions only the first two and the last if there are more than most:
//
//	Identity   a^n
//	General    a^r b^s c
//	Iteration  (a, a+i, …, a+ki)^n, and what was begun of another period
//	Cycle      a prologue, (a^r b^s c)^n, and what was begun of another period
//
// Loops within loops follow as "where L1 = (…)^n"; if a loop is not repeated equally often
// each time it is met, n is the notation of the numbers in brackets.
func (f *Formula) Notation(name func(value uint64) string, most uint64) string {
	switch {
	case f.Count == 0:
		return ""
	case f.Nested != nil:
		return f.Nested.notation(name, most)
	case f.Holds == Iteration:
		return f.progression(name, most)
	}
	out, left := runsNotation(f.Prologue, f.Count, name)
	if _, period := runsSum(f.Body, math.MaxUint64); period > 0 {
		if n := left / period; n > 0 {
			body, _ := runsNotation(f.Body, period, name)
			out = append(out, "("+strings.Join(body, " ")+")"+exponent(n))
		}
		rest, _ := runsNotation(f.Body, left%period, name)
		out = append(out, rest...)
	}
	return strings.Join(out, " ")
}

// FewSteps is how many values of a progression of numbers are written.
const FewSteps = 3

// runsNotation writes the first most values of runs, and returns how many are left.
func runsNotation(runs []Term, most uint64, name func(uint64) string) (out []string, left uint64) {
	for _, t := range runs {
		if most == 0 {
			break
		}
		n := min(t.Count, most)
		most -= n
		if n > 0 {
			out = append(out, name(t.Value)+exponent(n))
		}
	}
	return out, most
}

// exponent returns how often something is repeated; nothing for once.
func exponent(n uint64) string {
	if n == 1 {
		return ""
	}
	return "^" + strconv.FormatUint(n, 10)
}

// progression returns the notation of an Iteration.
func (f *Formula) progression(name func(uint64) string, most uint64) string {
	length := f.Length
	if length == 0 || length > f.Count {
		length = f.Count
	}
	out := f.steps(length, name, most) + exponent(f.Count/length)
	if rest := f.Count % length; rest > 0 {
		out += " " + f.steps(rest, name, most)
	}
	return out
}

// steps returns the first n values of a progression.
func (f *Formula) steps(n uint64, name func(uint64) string, most uint64) string {
	var list []string
	for i := range n {
		if n > most && i == 2 {
			list = append(list, "…", name(f.Start+(n-1)*f.Step))
			break
		}
		list = append(list, name(f.Start+i*f.Step))
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// notation returns the loops of a nested formula by name, and what they are.
func (n *Nested) notation(name func(uint64) string, most uint64) string {
	item := func(i uint64) string {
		switch loop := i - uint64(len(n.Values)); {
		case i >= uint64(len(n.Values)):
			return "L" + strconv.FormatUint(loop+1, 10)
		case n.Values[i].Count == 1:
			return name(n.Values[i].Value)
		default:
			return name(n.Values[i].Value) + exponent(n.Values[i].Count)
		}
	}
	var out strings.Builder
	out.WriteString(n.Top.Notation(func(i uint64) string {
		if s := item(i); !strings.Contains(s, "^") {
			return s
		}
		return "(" + item(i) + ")"
	}, most))
	for i, body := range n.Bodies {
		if i == 0 {
			out.WriteString(" where ")
		} else {
			out.WriteString(", ")
		}
		var list []string
		for _, b := range body {
			list = append(list, item(uint64(b)))
		}
		out.WriteString("L" + strconv.Itoa(i+1) + " = (" + strings.Join(list, " ") + ")")
		if i < len(n.Counts) {
			out.WriteString(times(&n.Counts[i]))
		}
	}
	return out.String()
}

// times returns how often a loop is repeated, each time that it is met.
func times(f *Formula) string {
	if f.Kind == Identity && len(f.Prologue) == 1 {
		return exponent(f.Prologue[0].Value)
	}
	return "^[" + f.Notation(func(v uint64) string { return strconv.FormatUint(v, 10) }, FewSteps) + "]"
}
