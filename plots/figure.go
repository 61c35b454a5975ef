package plots

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Format is a file format of pictures.
type Format string

// The formats that a Figure can be written in.
const (
	PNG Format = "png"
	SVG Format = "svg"
)

// FormatOf tells the format of a file by the ending of its name, in upper or
// lower case. Any ending but .png and .svg is an error.
func FormatOf(path string) (Format, error) {
	switch f := Format(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")); f {
	case PNG, SVG:
		return f, nil
	}
	return "", fmt.Errorf("picture %q: the name must end in .png or .svg", path)
}

// A Figure is a finished drawing of a fixed size in pixels, ready to be
// written any number of times.
type Figure struct {
	width, height int
	titles        []hint // of SVG pictures
	draw          func(draw.Canvas)
}

// Stamped returns the figure with a remark in its lower right corner.
func (f *Figure) Stamped(remark string) *Figure {
	out := *f
	out.draw = func(c draw.Canvas) {
		f.draw(c)
		c.FillText(bold(aligned(textStyle(sizeNote, ink), draw.XRight, draw.YBottom)), vg.Point{X: c.Max.X - px(6), Y: c.Min.Y + px(4)}, remark)
	}
	return &out
}

// Size returns the figure's width and height in pixels (of 1/96 inch).
func (f *Figure) Size() (width, height int) { return f.width, f.height }

// Encode writes the figure. The bytes depend on the figure's data alone.
func (f *Figure) Encode(w io.Writer, format Format) error {
	switch format {
	case PNG:
		return f.encodePNG(w)
	case SVG:
		return f.encodeSVG(w)
	}
	return fmt.Errorf("picture format %q: want png or svg", format)
}

// Save writes the figure to a file in the format that its name ends in.
func (f *Figure) Save(path string) error {
	format, err := FormatOf(path)
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Encode(out, format), out.Close())
}

// encodePNG draws on a canvas of pixels; its lengths are multiples of a pixel, so
// that raster layers come out pixel for pixel.
func (f *Figure) encodePNG(w io.Writer) error {
	c := pngCanvas{vgimg.NewWith(vgimg.UseWH(px(f.width), px(f.height)), vgimg.UseDPI(dpi))}
	f.draw(draw.New(c))
	out := bufio.NewWriter(w)
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // which makes pictures a few per cent larger
	if err := encoder.Encode(out, c.Image()); err != nil {
		return fmt.Errorf("encoding PNG: %w", err)
	}
	return out.Flush()
}

// A pngCanvas copies images whose pixels are its own.
type pngCanvas struct{ *vgimg.Canvas }

// DrawImage draws an image, of which each pixel is one of the canvas if the rectangle has as many. Others are resampled.
func (c pngCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	height := c.Image().Bounds().Dy()
	at := image.Rect(pixels(r.Min.X), height-pixels(r.Max.Y), pixels(r.Max.X), height-pixels(r.Min.Y))
	if at.Size() != img.Bounds().Size() {
		c.Canvas.DrawImage(r, img)
		return
	}
	imagedraw.Draw(c.Image(), at, img, img.Bounds().Min, imagedraw.Over)
}

// dpi is the resolution of PNG files; lengths in this package are pixels.
const dpi = 96

// px converts pixels to the canvas's lengths.
func px[N int | float64](n N) vg.Length { return vg.Length(n) * vg.Inch / dpi }

// pixels converts a length of the canvas to whole pixels.
func pixels(l vg.Length) int { return int(float64(l)*dpi/float64(vg.Inch) + 0.5) }

// A svgCanvas remembers how wide each piece of text is meant to be.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

// FillString draws text, whatever it holds, and remembers its width.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, text string) {
	text = strings.Map(printable, text)
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// DrawImage embeds an image, in a palette if that holds its colors.
func (c *svgCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	if opaque, ok := img.(*image.RGBA); ok {
		if p := paletted(opaque); p != nil {
			img = p
		}
	}
	c.Canvas.DrawImage(r, img)
}

// paletted returns an image with a palette, a pixel a byte; nil if there are more than 256 colors.
func paletted(img *image.RGBA) *image.Paletted {
	out := image.NewPaletted(img.Bounds(), nil)
	index := make(map[color.RGBA]uint8)
	for y := range img.Bounds().Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Bounds().Dx()]
		last, at := color.RGBA{}, -1
		for x := range img.Bounds().Dx() {
			c := color.RGBA{row[4*x], row[4*x+1], row[4*x+2], row[4*x+3]}
			if at < 0 || c != last {
				i, ok := index[c]
				if !ok {
					if len(index) == 256 {
						return nil
					}
					i = uint8(len(index))
					index[c] = i
					out.Palette = append(out.Palette, c)
				}
				last, at = c, int(i)
			}
			out.Pix[y*out.Stride+x] = uint8(at)
		}
	}
	return out
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
	head, picture, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(doc.String()), "</svg>"), "<g ")
	picture = head + titleOf(f.titles) + "<g " + picture
	for i, part := range strings.Split(picture, text) {
		if i > 0 {
			if _, err := fmt.Fprintf(w, `%stextLength="%.5g" lengthAdjust="spacingAndGlyphs" `, text, c.widths[i-1].Points()); err != nil {
				return err
			}
		}
		if _, err := mend.WriteString(w, part); err != nil {
			return err
		}
	}
	return writeHints(w, f.titles)
}
