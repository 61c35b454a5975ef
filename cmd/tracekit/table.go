package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A grid is a table for people: a heading, columns, rows of text. Columns whose title
// starts with "<" are names: aligned left and shortened in the middle when the terminal
// is narrow; the others are figures, aligned right and never cut.
type grid struct {
	heading string
	titles  []string
	rows    [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// remark adds a column of remarks to the first n rows, if there is anything to remark.
func (g *grid) remark(n int, of func(row int) string) {
	some := false
	for i := range n {
		some = some || of(i) != ""
	}
	if !some {
		return
	}
	g.titles = append(g.titles, "remarks")
	for i := range g.rows {
		text := ""
		if i < n {
			text = of(i)
		}
		g.rows[i] = append(g.rows[i], text)
	}
}

// print writes the table, or nothing if it has no rows.
func (g *grid) print(w io.Writer, width int) {
	if len(g.rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", g.heading)
	t := table.NewWriter()
	t.SetStyle(gridStyle())
	limit := g.nameWidth(width)
	header := make(table.Row, len(g.titles))
	configs := make([]table.ColumnConfig, len(g.titles))
	for i, title := range g.titles {
		name := isName(title)
		if name {
			title = title[1:]
		}
		header[i] = title
		configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		if name {
			configs[i].Align, configs[i].AlignHeader = text.AlignLeft, text.AlignLeft
			configs[i].WidthMax, configs[i].WidthMaxEnforcer = limit, shorten
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, r := range g.rows {
		row := make(table.Row, len(r))
		for i, c := range r {
			row[i] = c
		}
		t.AppendRow(row)
	}
	for line := range strings.Lines(t.Render() + "\n") {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

func isName(title string) bool { return len(title) > 0 && title[0] == '<' }

// nameWidth returns how wide a name may be for the table to fit the terminal.
func (g *grid) nameWidth(width int) int {
	const gap, least = 2, 16
	room, names, widest := width-gap, 0, 0
	for i, title := range g.titles {
		w := utf8.RuneCountInString(title)
		for _, r := range g.rows {
			w = max(w, utf8.RuneCountInString(r[i]))
		}
		room -= gap
		if isName(title) {
			names++
			widest = max(widest, w)
		} else {
			room -= w
		}
	}
	if names == 0 {
		return 0
	}
	return min(widest, max(least, room/names))
}

func gridStyle() table.Style {
	s := table.StyleDefault
	s.Options = table.Options{SeparateHeader: true}
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	s.Box.MiddleHorizontal, s.Box.MiddleSeparator = "-", "-"
	s.Format.Header = text.FormatDefault
	return s
}
