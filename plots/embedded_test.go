package plots

import (
	"image"
	"image/color"
	"testing"
)

// TestPaletted states that a palette changes no pixel, and that there is none for more colors than it holds.
func TestPaletted(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 256, 2))
	for x := range 256 {
		img.SetRGBA(x, 0, color.RGBA{R: uint8(x), G: 7, A: 255})
		img.SetRGBA(x, 1, color.RGBA{R: uint8(255 - x), G: 7, A: 255})
	}
	p := paletted(img)
	if p == nil {
		t.Fatal("256 colors need no palette")
	}
	for y := range 2 {
		for x := range 256 {
			if got, want := color.RGBAModel.Convert(p.At(x, y)), img.At(x, y); got != want {
				t.Fatalf("(%d,%d) is %v, want %v", x, y, got, want)
			}
		}
	}
	img.SetRGBA(9, 1, color.RGBA{A: 128})
	if paletted(img) != nil {
		t.Error("257 colors have a palette")
	}
}
