package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"tracekit/document/words"
	"tracekit/trace"
)

// Names of regions and source lines are often longer than a column of a table. What tells
// them apart stands at their end: the function behind its namespaces, the file behind its
// folders, the line behind the file. So names are shortened from the front, after what
// stands in brackets; and where two names of a table look the same then, they are numbered.

// placeForm is what place returns: the name of a region, and file:line in parentheses.
var placeForm = trace.Expression(`^(.*\S) \(((?:[^()]*[/\\])?)([^()/\\]+(?::[0-9]+)?)\)$`)

// WithoutFolders leaves the folders of a source file out.
func WithoutFolders(name string) string {
	if m := placeForm().FindStringSubmatch(name); m != nil && strings.Contains(m[3], ".") {
		return m[1] + " (" + m[3] + ")"
	}
	return name
}

// Shorten makes a name at most so wide and keeps its end.
func Shorten(name string, width int) string {
	name = WithoutFolders(name)
	n := utf8.RuneCountInString(name)
	if n <= width || width < 2 {
		return name
	}
	if m := placeForm().FindStringSubmatch(name); m != nil && strings.Contains(m[3], ".") {
		const leastRegion = 4
		at := " (" + m[3] + ")"
		if room := width - utf8.RuneCountInString(at); room >= leastRegion {
			return ShortenRegion(m[1], room) + at
		}
		name = m[3]
	}
	return ShortenRegion(name, width)
}

// ShortenRegion leaves out, until the name fits: what stands in brackets, the brackets,
// its begin.
func ShortenRegion(name string, width int) string {
	for _, attempt := range []string{name, words.WithoutBrackets(name, "…"), words.WithoutBrackets(name, "")} {
		if utf8.RuneCountInString(attempt) <= width {
			return attempt
		}
		name = attempt
	}
	r := []rune(name)
	if len(r) <= width {
		return name
	}
	return "…" + string(r[len(r)-width+1:])
}

// shownNames decides how the names of one table are shown.
type shownNames struct {
	number map[string]int // of names that would look like another one
	full   []string       // by number - 1
}

// names finds the names of a table that look the same at the given widths.
func (g *Grid) names(widths []int) *shownNames {
	n := &shownNames{number: make(map[string]int)}
	looks := make(map[string]string) // what is shown, and the name that it stands for
	clash := make(map[string]bool)
	each := func(visit func(name, shown string)) {
		for _, row := range g.Rows {
			for i, cell := range row {
				if g.isName(i) {
					visit(cell, Shorten(cell, widths[i]))
				}
			}
		}
	}
	each(func(name, shown string) {
		if other, ok := looks[shown]; ok && other != name {
			clash[shown] = true
		}
		looks[shown] = name
	})
	each(func(name, shown string) {
		if clash[shown] && n.number[name] == 0 {
			n.full = append(n.full, name)
			n.number[name] = len(n.full)
		}
	})
	return n
}

// display returns how a name is shown in a column.
func (n *shownNames) display(name string, width int) string {
	k := n.number[name]
	if k == 0 {
		return Shorten(name, width)
	}
	mark := fmt.Sprintf(" #%d", k)
	return Shorten(name, width-len(mark)) + mark
}

// somewhere is a source line that is only where its region begins.
var somewhere = trace.Expression(`\+ \([^()]+\)( #[0-9]+)?$`)

// longestNote is the width from which on a footnote leaves the middle of a name out: names of C++ templates have thousands of characters.
const longestNote = 300

// footnotes lists the numbered names, and explains the plus behind a region.
func (n *shownNames) footnotes(w io.Writer, rows [][]string, width int) {
	for k, name := range n.full {
		if r := []rune(name); len(r) > longestNote {
			name = string(r[:longestNote*2/3]) + " … " + string(r[len(r)-longestNote/3:])
		}
		fmt.Fprintf(w, "#%d %s\n", k+1, Wrap(name, width-3, 3))
	}
	for _, row := range rows {
		for _, cell := range row {
			if somewhere().MatchString(cell) {
				fmt.Fprintln(w, Wrap("+ somewhere in the region that begins at this line; the line itself is not recorded", width, 2))
				return
			}
		}
	}
}
