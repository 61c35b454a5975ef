package plots

import (
	"image/color"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text in points (3/4 of a pixel each).
const (
	sizeTitle = 12.5
	sizeLabel = 10
	sizeTick  = 9
	sizeNote  = 8
)

// textStyle returns sans-serif text of a size and color, set to the right
// of and above its point unless the caller aligns it otherwise.
func textStyle(size float64, c color.Color) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	return text.Style{Color: c, Font: font.From(f, vg.Length(size)), Handler: plot.DefaultTextHandler}
}

// bold returns the same text style in bold.
func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

// aligned returns the text style with its alignment set.
func aligned(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// hairline is the line that borders and rules are drawn with.
func hairline(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: px(1)}
}

// fillRect paints a rectangle given by two corners.
func fillRect(c draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	c.SetColor(col)
	c.Fill(rect(x0, y0, x1, y1).Path())
}

// strokeRect outlines a rectangle given by two corners.
func strokeRect(c draw.Canvas, s draw.LineStyle, x0, y0, x1, y1 vg.Length) {
	c.StrokeLines(s, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: y0}})
}

// rect returns the rectangle between two corners in any order.
func rect(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: min(x0, x1), Y: min(y0, y1)}, Max: vg.Point{X: max(x0, x1), Y: max(y0, y1)}}
}

// shorten cuts text in the middle until it is no wider than width: beginnings
// and ends of names tell more than their middles. Line ends become spaces.
func shorten(s string, style text.Style, width vg.Length) string {
	runes := []rune(oneLine(s))
	if style.Width(string(runes)) <= width {
		return string(runes)
	}
	// Invariant: keeping lo runes fits (or lo is 0), keeping hi does not.
	lo, hi := 0, len(runes)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if style.Width(middle(runes, mid)) <= width {
			lo = mid
		} else {
			hi = mid
		}
	}
	return middle(runes, lo)
}

// brief drops the list of parameters of a C++ name, which tells less than
// the room it takes: "f(int, double*)" becomes "f".
func brief(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		return name[:i]
	}
	return name
}

// shortenName is shorten for names of categories, whose parameters go first.
func shortenName(s string, style text.Style, width vg.Length) string {
	if style.Width(oneLine(s)) > width {
		s = brief(s)
	}
	return shorten(s, style, width)
}

// middle keeps n runes of a text, half of them at either end.
func middle(r []rune, n int) string {
	if n == 0 {
		return ""
	}
	head := (n + 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-head):])
}

// oneLine makes a text of printable characters and bounds the length, so that a damaged name
// cannot stall the layout.
func oneLine(s string) string {
	const longest = 1000
	out := make([]rune, 0, min(len(s), longest))
	for _, r := range s {
		if out = append(out, printable(r)); len(out) == longest {
			break
		}
	}
	return string(out)
}

// printable returns a space for what parts words and lines, and U+FFFD for what is no graphic
// character: no font can draw it, and XML has no form for some of it.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsGraphic(r):
		return unicode.ReplacementChar
	}
	return r
}
