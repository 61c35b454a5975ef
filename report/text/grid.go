package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Grid is a table for people: a heading, if it has one, notes on what stands in it, columns, rows of
// text. Columns whose title starts with "<" are names: aligned left, and shortened where
// the table is wider than the terminal; "<" alone is for labels, which are never cut. The
// others are figures, aligned right and never cut either. Columns that do not fit even so are left out, the last
// first, and named below the heading. Columns of names that are all empty are left out.
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
	columnGap = 2
	leastName = 18 // columns of a name before columns are left out
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
	if g.Heading != "" {
		fmt.Fprintf(w, "\n%s\n", Wrap(g.Heading, width, 0))
	}
	for _, note := range g.notes {
		fmt.Fprintln(w, Wrap(note, width, 0))
	}
	g.dropEmpty()
	natural := g.natural()
	if left := g.dropWide(natural, width); len(left) > 0 {
		fmt.Fprintln(w, Wrap(fmt.Sprintf("Not shown at this width: %s.", strings.Join(left, ", ")), width, 0))
	}
	widths := g.fit(natural[:len(g.Titles)], width)
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
	for i, row := range rows {
		g.printRow(w, row, widths)
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("-", together(widths)))
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

// dropWide takes the last columns away until rows fit the width, and returns their titles.
func (g *Grid) dropWide(natural []int, width int) (titles []string) {
	for len(g.Titles) > 1 && together(g.narrowed(natural[:len(g.Titles)], leastName)) > width {
		last := len(g.Titles) - 1
		titles = append(titles, strings.TrimPrefix(g.Titles[last], "<"))
		g.Titles = g.Titles[:last]
		for i := range g.Rows {
			g.Rows[i] = g.Rows[i][:last]
		}
	}
	slices.Reverse(titles)
	return titles
}

// printRow writes one row.
func (g *Grid) printRow(w io.Writer, row []string, widths []int) {
	var b strings.Builder
	for i, width := range widths {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		pad := strings.Repeat(" ", width-utf8.RuneCountInString(row[i]))
		if g.isName(i) {
			b.WriteString(row[i] + pad)
		} else {
			b.WriteString(pad + row[i])
		}
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

// fit returns how wide each column may be: as wide as its cells, but names, the widest
// first, are narrowed until a row fits the width, to leastName at least.
func (g *Grid) fit(natural []int, width int) []int {
	most := leastName
	for most < width && together(g.narrowed(natural, most+1)) <= width {
		most++
	}
	return g.narrowed(natural, most)
}

// narrowed returns how wide columns are if names have a width at most.
func (g *Grid) narrowed(natural []int, most int) []int {
	widths := slices.Clone(natural)
	for i := range widths {
		if g.narrows(i) {
			widths[i] = min(widths[i], most)
		}
	}
	return widths
}

// together returns the width of a row.
func together(widths []int) int {
	n := -columnGap
	for _, w := range widths {
		n += w + columnGap
	}
	return n
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
	if numbers > 0 && together(wider) <= width {
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
