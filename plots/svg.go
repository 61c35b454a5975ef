package plots

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A svgCanvas remembers how wide each piece of text is meant to be.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString draws text and remembers its width.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// encodeSVG mends what the SVG canvas leaves to the viewer: a family of fonts
// to fall back on where Liberation Sans is not installed, the width of each
// text, which such a font must be squeezed to, the true type of embedded
// images, and pixels that stay sharp when the picture is magnified.
func (f *Figure) encodeSVG(w io.Writer) error {
	c := &svgCanvas{Canvas: vgsvg.New(px(f.width), px(f.height))}
	f.draw(draw.New(c))
	var doc bytes.Buffer
	if _, err := c.WriteTo(&doc); err != nil {
		return fmt.Errorf("encoding SVG: %w", err)
	}
	const text = "<text "
	mend := strings.NewReplacer(
		"font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;",
		`xlink:href="data:image/jpg;`, `preserveAspectRatio="none" style="image-rendering:pixelated" xlink:href="data:image/png;`,
	)
	for i, part := range strings.Split(doc.String(), text) {
		if i > 0 {
			if _, err := fmt.Fprintf(w, `%stextLength="%.5g" lengthAdjust="spacingAndGlyphs" `, text, c.widths[i-1].Points()); err != nil {
				return err
			}
		}
		if _, err := mend.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}
