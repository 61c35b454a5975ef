package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"gonum.org/v1/plot/vg/draw"
)

// strip makes a diagram of one rank in which a pixel column is 1000 ns wide.
func strip(t *testing.T) (*Timeline, int64) {
	t.Helper()
	o := TimelineOptions{
		Ranks: []string{"0"}, Width: 400, Height: 200, To: 1,
		Categories: []Category{{Name: "a", Color: hex(0x0072B2)}, {Name: "b", Color: hex(0xD55E00)}}, Wait: hex(0xE0A010),
	}
	o.To = int64(newLayout(o).width) * 1000
	tl := newTimeline(t, o)
	return tl, o.To
}

// TestPixels holds every pixel column to the package's definition of it: from bottom to top the shares of what happens in it.
func TestPixels(t *testing.T) {
	tl, to := strip(t)
	blue, red, wait := hex(0x0072B2), hex(0xD55E00), hex(0xE0A010)
	feedPieces(t, tl, 0, []piece{
		{0, 1000, 0, Code},                           // column 0: code
		{1000, 2000, 0, Wait},                        // 1: waiting
		{3000, 3500, 0, Code}, {3500, 4000, 0, Wait}, // 2: nothing; 3: half code, half waiting
		{4000, 4500, 0, Code}, {4500, 4900, 1, Code}, {4900, 5000, 0, Code}, // 4: both
		{5000, 5400, 1, Code}, {5400, 6000, 0, Wait}, // 5: more waiting
		{7000, 7250, 1, Code},                         // 6: nothing; 7: a quarter recorded
		{9000, 9001, 1, Code}, {9001, 10000, 0, Wait}, // 9: hardly any code
		{10_000, to - 10_000, 0, Code},
	})
	tl.Reconstructed(0, 6000, 8000)
	img := tl.raster(paints(tl.opts.Categories))
	y0, y1 := tl.layout.bar(0)
	for _, c := range []struct {
		what   string
		column int
		want   map[color.RGBA]float64 // shares of the bar's height
		bottom color.RGBA
	}{
		{"code", 0, map[color.RGBA]float64{blue: 1}, blue},
		{"waiting", 1, map[color.RGBA]float64{wait: 1}, wait},
		{"nothing", 2, map[color.RGBA]float64{ground: 1}, ground},
		{"half waiting", 3, map[color.RGBA]float64{blue: 0.5, wait: 0.5}, blue},
		{"two categories", 4, map[color.RGBA]float64{blue: 0.6, red: 0.4}, blue},
		{"more waiting", 5, map[color.RGBA]float64{red: 0.4, wait: 0.6}, red},
		{"nothing, reconstructed", 6, map[color.RGBA]float64{greyGround: 1}, greyGround},
		{"a quarter recorded", 7, map[color.RGBA]float64{red: 0.25, greyGround: 0.75}, red},
		{"hardly any code", 9, map[color.RGBA]float64{wait: 1}, wait},
		{"nothing at the end", int(to/1000) - 1, map[color.RGBA]float64{ground: 1}, ground},
	} {
		got := map[color.RGBA]float64{}
		for y := y0; y < y1; y++ {
			got[img.RGBAAt(c.column, y)] += 1 / float64(y1-y0)
		}
		for col, share := range c.want {
			if math.Abs(got[col]-share) > 1/float64(y1-y0) {
				t.Errorf("%s: color %v has a share of %.2f, want %.2f", c.what, col, got[col], share)
			}
		}
		if b := img.RGBAAt(c.column, y1-1); len(got) != len(c.want) || b != c.bottom {
			t.Errorf("%s: %d colors, at the bottom %v, want %d and %v", c.what, len(got), b, len(c.want), c.bottom)
		}
	}
}

// TestAverage: bars too thin to stack have the mean of what happens in a column, as far as it is recorded.
func TestAverage(t *testing.T) {
	a, b := hex(0x204060), hex(0x806040)
	for _, c := range []struct {
		parts []part
		want  color.RGBA
	}{
		{[]part{{ns: 100, color: a}, {ns: 0, color: b}}, a},
		{[]part{{ns: 50, color: a}, {ns: 50, color: b}}, hex(0x505050)},
		{[]part{{ns: 50, color: a}}, mix(a, ground, 0.5)},
	} {
		if got := average(c.parts, 100, ground); got != c.want {
			t.Errorf("%v: got %v, want %v", c.parts, got, c.want)
		}
	}
}

// TestSharedRow checks that ranks in one row of pixels share it fairly: the
// category that leads over all of them gives the hue, waiting the paleness.
func TestSharedRow(t *testing.T) {
	o := TimelineOptions{Width: 400, Height: 200, Ranks: rankNames(1), To: 1, Categories: make([]Category, 3)}
	o.Ranks = rankNames(4 * newLayout(o).height)
	o.To = int64(newLayout(o).width) * 1000
	tl := newTimeline(t, o)
	if tl.inRow[0] != 4 {
		t.Fatalf("%d ranks in a row", tl.inRow[0])
	}
	feedPieces(t, tl, 2, []piece{{0, 900, 2, Code}}) // leads in its rank, not in the row
	feedPieces(t, tl, 0, []piece{{0, 500, 1, Code}, {500, 1000, 0, Wait}})
	feedPieces(t, tl, 3, []piece{{0, 1000, 0, Wait}})
	feedPieces(t, tl, 1, []piece{{0, 600, 1, Code}, {600, 1000, 0, Wait}})
	got := tl.rows[0][0]
	if got.slot[0] != 1 || got.ns[0] != 1100 || got.code != 2000 || got.wait != 1900 {
		t.Errorf("got %+v", got)
	}
}

// TestBarsFillBands checks the geometry for any number of rows: bands tile
// the height, bars lie in their bands and are never empty.
func TestBarsFillBands(t *testing.T) {
	for rows := 1; rows <= 600; rows += 1 + rows/7 {
		for _, pinned := range []int{0, 3} {
			l := layout{height: 700, rows: pinned + rows, pinned: pinned}
			last := 0
			for r := range l.rows {
				if r == l.pinned {
					last = l.restTop()
				}
				b0, b1 := l.band(r)
				y0, y1 := l.bar(r)
				if b0 != last || y0 < b0 || y1 > b1 || y1 <= y0 {
					t.Fatalf("%d rows: row %d has band %d to %d after %d, bar %d to %d", rows, r, b0, b1, last, y0, y1)
				}
				last = b1
			}
			if last != 700 {
				t.Errorf("%d rows end at %d", rows, last)
			}
		}
	}
}

// TestMarked: marked ranks are labeled where they are if rows have room for labels, else in rows of their own; all ranks have places.
func TestMarked(t *testing.T) {
	for _, c := range []struct{ ranks, pinned int }{{4, 0}, {1024, 2}, {4096, 2}} {
		marked := []int{c.ranks - 1, 1, c.ranks - 1}
		tl := newTimeline(t, TimelineOptions{To: 1000, Ranks: rankNames(c.ranks), Marked: marked, Categories: make([]Category, 1), Width: 800,
			Height: 400})
		if tl.layout.pinned != c.pinned {
			t.Errorf("%d ranks: %d rows stand apart, want %d", c.ranks, tl.layout.pinned, c.pinned)
		}
		lanes := 0
		for r := range c.ranks {
			y0, y1 := tl.layout.band(tl.RowOf(r))
			if y := tl.places[r].middle; y < float64(y0)-1 || y > float64(y1)+1 {
				t.Fatalf("%d ranks: rank %d is labeled at %.1f, its row is %d to %d", c.ranks, r, y, y0, y1)
			}
			apart := tl.RowOf(r) < tl.layout.pinned
			if apart != (c.pinned > 0 && (r == 1 || r == c.ranks-1)) {
				t.Errorf("%d ranks: rank %d stands apart: %v", c.ranks, r, apart)
			}
		}
		for _, n := range tl.inRow {
			lanes += n
		}
		if lanes != c.ranks {
			t.Errorf("%d ranks: rows have %d", c.ranks, lanes)
		}
		draws(t, tl.Figure())
	}
	if _, err := NewTimeline(TimelineOptions{To: 1, Ranks: rankNames(2), Marked: []int{2}}); err == nil {
		t.Error("a rank is marked that is not drawn, and there is no error")
	}
}

// TestImagesKeepTheirPixels states that an image that has as many pixels as its place has the same ones in a PNG file, and that another one
// is resampled.
func TestImagesKeepTheirPixels(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i)
		if i%4 == 3 {
			img.Pix[i] = 0xff
		}
	}
	for _, width := range []int{40, 80} {
		f := &Figure{width: 100, height: 60, draw: func(c draw.Canvas) { c.DrawImage(rect(px(7), px(25), px(7+width), px(5)), img) }}
		var b bytes.Buffer
		if err := f.Encode(&b, PNG); err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		differ := 0
		for y := range 20 {
			for x := range 40 {
				if got.At(7+x, 60-25+y) != img.At(x, y) {
					differ++
				}
			}
		}
		if (differ == 0) != (width == 40) {
			t.Errorf("%d pixels wide: %d pixels differ", width, differ)
		}
	}
}
