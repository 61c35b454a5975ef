package plots

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A hint is what a viewer of an SVG picture shows when the pointer rests on a place. The place
// is in pixels from the figure's top left corner. The first hint is the title of the whole figure.
type hint struct {
	x, y, width, height float64
	text                string
}

// titles returns the hints of diagrams that stand one above the other: their titles and, for each
// segment that is drawn by itself, or else for each bar, what it is.
func titles(ts []*Timeline) []hint {
	var whole []string
	var out []hint
	top := 0
	for _, t := range ts {
		if name := strings.TrimSpace(t.opts.Title + ", " + t.opts.Subtitle); name != "," {
			whole = append(whole, strings.Trim(name, ", "))
		}
		if t.crowded {
			out = t.barHints(out, top)
		} else {
			out = t.segmentHints(out, top)
		}
		top += t.opts.Height
	}
	return append([]hint{{text: strings.Join(whole, "; ")}}, out...)
}

// barHints adds what the time of each bar is spent with, where bars have pixels of their own.
func (t *Timeline) barHints(out []hint, top int) []hint {
	if len(t.rows) < len(t.opts.Ranks) {
		return out
	}
	span := float64(t.opts.To - t.opts.From)
	for rank, name := range t.opts.Ranks {
		s, whole := t.shares[rank], span*float64(max(1, t.lanes(rank)))
		y0, y1 := t.layout.bar(t.RowOf(rank))
		out = append(out, hint{float64(t.layout.left), float64(top + t.layout.top + y0), float64(t.layout.width), float64(y1 - y0),
			fmt.Sprintf("%s %s: runs %s, waits %s", t.opts.RankAxis, name, percent(float64(s.code)/whole), percent(float64(s.wait)/whole))})
	}
	return out
}

// segmentHints adds what each segment is that is drawn by itself.
func (t *Timeline) segmentHints(out []hint, top int) []hint {
	for _, s := range t.segments {
		x0, x1 := t.fraction(s.start)*float64(t.layout.width), t.fraction(s.end)*float64(t.layout.width)
		if x1-x0 < 0.5 {
			continue
		}
		what := "waits"
		if s.slot < len(t.opts.Categories) {
			what = t.opts.Categories[s.slot].Name
		}
		y0, y1 := t.layout.bar(t.RowOf(s.rank))
		out = append(out, hint{float64(t.layout.left) + x0, float64(top + t.layout.top + y0), x1 - x0, float64(y1 - y0),
			fmt.Sprintf("%s, %s %s, at %s for %s", what, t.opts.RankAxis, t.opts.Ranks[s.rank], Nanoseconds.text(float64(s.start)),
				Nanoseconds.text(float64(s.end-s.start)))})
	}
	return out
}

// titleOf returns the title of an SVG document, its first element; "" if it has none.
func titleOf(hints []hint) string {
	if len(hints) == 0 || hints[0].text == "" {
		return ""
	}
	return hints[0].title() + "\n"
}

func (h hint) title() string {
	var text strings.Builder
	if xml.EscapeText(&text, []byte(strings.Map(printable, h.text))) != nil {
		return ""
	}
	return "<title>" + text.String() + "</title>"
}

// writeHints ends an SVG document with the hints of its places.
func writeHints(w io.Writer, hints []hint) error {
	for _, h := range hints[min(1, len(hints)):] {
		at := func(pixels float64) float64 { return px(pixels).Dots(72) }
		if _, err := fmt.Fprintf(w, "<rect x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" fill=\"none\" pointer-events=\"all\">%s</rect>\n",
			at(h.x), at(h.y), at(h.width), at(h.height), h.title()); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "</svg>\n")
	return err
}
