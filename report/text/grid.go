package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Grid is a table for people: a heading, notes on what stands in it, columns, rows of
// text. Columns whose title starts with "<" are names: aligned left, and shortened where
// the table is wider than the terminal; "<" alone is for labels, which are never cut. The
// others are figures, aligned right and never cut either. What does not fit even so is
// folded: a row continues, indented, on the next line. Columns of names that are all empty
// are left out.
type Grid struct {
	Heading string
	notes   []string
	Titles  []string
	Rows    [][]string
}

// Add adds a row.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

// Note adds a sentence that is printed below the heading.
func (g *Grid) Note(text string) { g.notes = append(g.notes, text) }

// The layout of tables.
const (
	columnGap  = 2
	foldIndent = 4
	leastName  = 18 // columns of a name before a table is folded
)

// Remark adds a column of remarks to the first n rows, if there is anything to remark.
func (g *Grid) Remark(n int, of func(row int) string) {
	some := false
	for i := range n {
		some = some || of(i) != ""
	}
	if !some {
		return
	}
	g.Titles = append(g.Titles, "<remarks")
	for i := range g.Rows {
		text := ""
		if i < n {
			text = of(i)
		}
		g.Rows[i] = append(g.Rows[i], text)
	}
}

// Print writes the table, or nothing if it has no rows.
func (g *Grid) Print(w io.Writer, width int) {
	if len(g.Rows) == 0 {
		return
	}
	for _, row := range g.Rows {
		for i := range row {
			row[i] = Plain(row[i])
		}
	}
	fmt.Fprintf(w, "\n%s\n", Wrap(g.Heading, width, 0))
	for _, note := range g.notes {
		fmt.Fprintln(w, Wrap(note, width, 0))
	}
	g.dropEmpty()
	widths := g.fit(width)
	names := g.names(widths)
	g.makeRoom(widths, len(names.full), width)
	rows := make([][]string, 0, len(g.Rows)+1)
	rows = append(rows, make([]string, len(g.Titles)))
	for i, title := range g.Titles {
		rows[0][i] = strings.TrimPrefix(title, "<")
	}
	for _, r := range g.Rows {
		row := slices.Clone(r)
		for i := range row {
			if g.isName(i) {
				row[i] = names.display(row[i], widths[i])
			}
		}
		rows = append(rows, row)
	}
	widths = widest(rows, len(g.Titles))
	lines := fold(widths, width)
	for i, row := range rows {
		g.printRow(w, row, widths, lines)
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("-", ruleWidth(widths, lines)))
		}
	}
	names.footnotes(w, rows, width)
}

func (g *Grid) isName(column int) bool { return strings.HasPrefix(g.Titles[column], "<") }

// narrows reports whether the cells of a column may be shortened.
func (g *Grid) narrows(column int) bool { return len(g.Titles[column]) > 1 && g.isName(column) }

// dropEmpty takes columns of names away in which nothing stands.
func (g *Grid) dropEmpty() {
	for i := len(g.Titles) - 1; i >= 0; i-- {
		if !g.narrows(i) || slices.ContainsFunc(g.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		g.Titles = slices.Delete(g.Titles, i, i+1)
		for k := range g.Rows {
			g.Rows[k] = slices.Delete(g.Rows[k], i, i+1)
		}
	}
}

// printRow writes one row in as many lines as the columns are folded into.
func (g *Grid) printRow(w io.Writer, row []string, widths []int, lines [][]int) {
	for k, columns := range lines {
		var b strings.Builder
		if k > 0 {
			b.WriteString(strings.Repeat(" ", foldIndent))
		}
		for n, i := range columns {
			if n > 0 {
				b.WriteString(strings.Repeat(" ", columnGap))
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(row[i]))
			if g.isName(i) {
				b.WriteString(row[i] + pad)
			} else {
				b.WriteString(pad + row[i])
			}
		}
		if line := strings.TrimRight(b.String(), " "); line != "" || k == 0 {
			fmt.Fprintln(w, line)
		}
	}
}

// fit returns how wide each column may be: as wide as its cells, but names, the widest
// first, are narrowed until a row fits a line. If that would leave a name less than
// leastName, rows are folded, and names keep what they may without a further line.
func (g *Grid) fit(width int) []int {
	natural := g.natural()
	narrowed := func(most int) []int {
		widths := slices.Clone(natural)
		for i := range widths {
			if g.narrows(i) {
				widths[i] = min(natural[i], most)
			}
		}
		return widths
	}
	fewest := len(fold(narrowed(leastName), width))
	most := leastName
	for most < width && len(fold(narrowed(most+1), width)) == fewest {
		most++
	}
	return narrowed(most)
}

// makeRoom widens the columns of names for the numbers of so many, if there is room.
func (g *Grid) makeRoom(widths []int, numbers, width int) {
	need := len(fmt.Sprintf(" #%d", numbers))
	wider := slices.Clone(widths)
	for i := range wider {
		if g.narrows(i) {
			wider[i] += need
		}
	}
	if numbers > 0 && len(fold(wider, width)) == len(fold(widths, width)) {
		copy(widths, wider)
	}
}

// natural returns how wide columns are if nothing is shortened but the folders of files.
func (g *Grid) natural() []int {
	titles := make([]string, len(g.Titles))
	for i, title := range g.Titles {
		titles[i] = strings.TrimPrefix(title, "<")
	}
	cells := [][]string{titles}
	for _, r := range g.Rows {
		row := slices.Clone(r)
		for i := range row {
			if g.isName(i) {
				row[i] = WithoutFolders(row[i])
			}
		}
		cells = append(cells, row)
	}
	return widest(cells, len(g.Titles))
}

// widest returns the width of each column.
func widest(rows [][]string, columns int) []int {
	widths := make([]int, columns)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// fold distributes columns over lines, as many as fit on each.
func fold(widths []int, width int) (lines [][]int) {
	room := 0
	for i, w := range widths {
		if len(lines) == 0 || w+columnGap > room {
			room = width + columnGap
			if len(lines) > 0 {
				room -= foldIndent
			}
			lines = append(lines, nil)
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], i)
		room -= w + columnGap
	}
	return lines
}

// ruleWidth returns the width of the widest line of a row.
func ruleWidth(widths []int, lines [][]int) int {
	most := 0
	for k, columns := range lines {
		n := -columnGap
		if k > 0 {
			n += foldIndent
		}
		for _, i := range columns {
			n += widths[i] + columnGap
		}
		most = max(most, n)
	}
	return most
}

// Wrap breaks a text, made plain, into lines at its spaces, but not before a unit; all lines
// but the first are indented. A word that is wider than a line stays whole.
func Wrap(text string, width, indent int) string {
	var b strings.Builder
	column := 0
	for i, word := range glueUnits(strings.Split(Plain(text), " ")) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column > indent && column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// glueUnits joins numbers with the units behind them, and words with the mark before them.
func glueUnits(words []string) []string {
	var out []string
	for i, word := range words {
		if i > 0 && (isUnit(strings.TrimRight(word, ",;:.)")) || words[i-1] == strings.TrimSpace(Modelled)) {
			out[len(out)-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

func isUnit(word string) bool {
	switch word {
	case "%", "ns", "µs", "ms", "s", "h", "B", "KiB", "MiB", "GiB", "TiB":
		return true
	}
	return false
}

// What a rebuilt trace cannot give back stands behind this mark wherever it is printed.
const Modelled = "≈ "
