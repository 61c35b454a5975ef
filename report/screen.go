package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"tracekit/report/text"
)

// The size of the first screen, in lines and columns.
const (
	screenLines = 40
	screenWidth = 100 // at most: longer lines read badly
	labelWidth  = 30
	wideLabel   = 34 // where there is room: the longest title of a wait state
	valueWidth  = 9
	barWidth    = 20
	leastName   = 20
)

// A block is a part of the first screen: a heading and items of one or more lines. Where the screen is too long, items lose all but
// their first line, then are left out, the last first, down to as many as must stay. The first item stays as it is.
type block struct {
	heading string
	about   string // behind the heading
	right   string // or at the end of its line
	items   [][]string
	least   int
	whole   bool                     // items are left out as a whole
	tail    []string                 // stays
	ending  func(items int) []string // makes tail anew when items are left out; nil: it stays as it is
}

func (b *block) add(lines ...string) { b.items = append(b.items, lines) }

func (b *block) lines() (n int) {
	if b == nil || len(b.items)+len(b.tail) == 0 {
		return 0
	}
	for _, item := range b.items {
		n += len(item)
	}
	if b.heading != "" {
		n++
	}
	return n + len(b.tail) + 1 // an empty line behind it
}

// shrink makes a block shorter by one step, if it can be.
func (b *block) shrink() bool {
	for i := len(b.items) - 1; i > 0 && !b.whole; i-- {
		if len(b.items[i]) > 1 {
			b.items[i] = b.items[i][:1]
			return true
		}
	}
	if len(b.items) > b.least {
		b.items = b.items[:len(b.items)-1]
		if b.ending != nil {
			b.tail = b.ending(len(b.items))
		}
		return true
	}
	return false
}

// A screen lays blocks out.
type screen struct {
	w      io.Writer
	width  int
	bars   bool
	colors bool
}

// print prints blocks in their order, after it has made those of less weight shorter, the first of them first; to one item if need be.
func (s *screen) print(blocks []*block, shorter ...*block) {
	total := func() (n int) {
		for _, b := range blocks {
			n += b.lines()
		}
		return n - 1
	}
	for range 2 { // then to less than their least
		for _, b := range shorter {
			for b != nil && total() > screenLines && b.shrink() {
			}
			if b != nil {
				b.least = min(b.least, 1)
			}
		}
	}
	first := true
	for _, b := range blocks {
		if b.lines() == 0 {
			continue
		}
		if !first {
			fmt.Fprintln(s.w)
		}
		first = false
		if b.heading != "" {
			about := cut(b.about, s.width-utf8.RuneCountInString(b.heading)-2)
			if b.right != "" {
				about = padLeft(b.right, s.width-utf8.RuneCountInString(b.heading)-2)
			}
			fmt.Fprintln(s.w, strings.TrimRight(s.paint(bold, b.heading)+"  "+about, " "))
		}
		for _, item := range append(b.items, b.tail) {
			for _, line := range item {
				fmt.Fprintln(s.w, strings.TrimRight(line, " "))
			}
		}
	}
}

// row is a line of a block: what it is, its value, how much of the whole that is, and remarks.
func (s *screen) row(label, value string, share *float64, remark string) string {
	labels := labelWidth
	if s.width >= screenWidth {
		labels = wideLabel
	}
	line := "  " + pad(cut(label, labels), labels) + padLeft(value, valueWidth) + "  "
	if s.bars && s.width >= 2+labels+valueWidth+2+barWidth {
		bar := ""
		if share != nil {
			bar = barOf(*share)
		}
		line += s.paint(blue, pad(bar, barWidth)) + "  "
	}
	room := s.width - (2 + labels + valueWidth + 2)
	if s.bars {
		room -= barWidth + 2
	}
	if room > 0 {
		line += cut(remark, room)
	}
	return line
}

// ends is a line with something at its left and at its right end.
func (s *screen) ends(left, right string) string {
	right = text.Plain(right)
	left = cut(left, s.width-utf8.RuneCountInString(right)-2)
	return pad(left, s.width-utf8.RuneCountInString(right)) + right
}

// wrapped are the lines of a text, behind an indentation: as many whole sentences as so many lines hold, at least the begin of the first.
func (s *screen) wrapped(said string, indent, most int) []string {
	var lines []string
	sentences := strings.SplitAfter(said, ". ")
	for n := len(sentences); n > 0; n-- {
		said = strings.TrimSpace(strings.Join(sentences[:n], ""))
		wrapped := text.Wrap(strings.Repeat(" ", indent)+said, s.width, indent)
		if lines = strings.Split(wrapped, "\n"); len(lines) <= most {
			return lines
		}
	}
	lines = lines[:most]
	lines[most-1] = cut(lines[most-1]+" …", s.width)
	return lines
}

// The styles of a terminal, by their numbers.
const (
	bold  = "1"
	red   = "31;1"
	green = "32"
	blue  = "34"
)

// paint gives a text a style where colors are shown.
func (s *screen) paint(style, what string) string {
	what = text.Plain(what)
	if !s.colors || what == "" {
		return what
	}
	return "\x1b[" + style + "m" + what + "\x1b[0m"
}

// barOf draws a share of 1 in eighths of a cell.
func barOf(share float64) string {
	eighths := int(min(max(share, 0), 1)*barWidth*8 + 0.5)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune('█' + 8 - rest)) // ▏ to ▉ follow the full block
	}
	return cmp.Or(bar, "▏")
}

// cut makes a text, made plain, so wide at most, by its end.
func cut(what string, width int) string {
	r := []rune(text.Plain(what))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:max(0, width-1)]) + "…"
}

func pad(what string, width int) string {
	return what + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(what)))
}

func padLeft(what string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(what))) + what
}
