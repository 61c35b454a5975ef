package plots

import (
	"image"
	"image/color"
	"testing"
)

// strip makes a diagram of one rank in which a pixel column is 1000 ns wide.
func strip(t *testing.T) (*Timeline, int64) {
	t.Helper()
	o := TimelineOptions{
		Ranks: []string{"0"}, Width: 400, Height: 200, To: 1,
		Categories: []Category{{Name: "a"}, {Name: "b", Group: MPI}},
	}
	o.To = int64(newLayout(o).width) * 1000
	tl := newTimeline(t, o)
	return tl, o.To
}

// pixel returns the colors in the middle of the first bar, in one column, on
// and off the stripes of the hatch.
func pixel(t *testing.T, img *image.RGBA, tl *Timeline, column int) (plain, striped color.RGBA) {
	t.Helper()
	y0, y1 := tl.layout.bar(0)
	for y := (y0 + y1) / 2; ; y++ {
		if y == (y0+y1)/2+6 {
			return plain, striped
		}
		if stripe(column, y) {
			striped = img.RGBAAt(column, y)
		} else {
			plain = img.RGBAAt(column, y)
		}
	}
}

// TestPixels holds every pixel to the package's definition of it.
func TestPixels(t *testing.T) {
	tl, to := strip(t)
	blue, red := hex(0x0072B2), hex(0xD55E00)
	feedPieces(t, tl, 0, []piece{
		{0, 1000, 0, Code},                           // column 0: code
		{1000, 2000, 0, Wait},                        // 1: waiting
		{2000, 3000, 0, Blocked},                     // 2: blocked
		{3000, 3500, 0, Code}, {3500, 4000, 0, Wait}, // 3: half code, half waiting
		{4000, 4500, 0, Code}, {4500, 4900, 1, Code}, {4900, 5000, 0, Code}, // 4: a leads
		{5000, 5400, 0, Code}, {5400, 6000, 1, Code}, // 5: b leads
		{7000, 7250, 1, Code},                           // 6: nothing; 7: a quarter recorded
		{8000, 8500, 0, Blocked}, {8500, 9000, 0, Wait}, // 8: half blocked, half waiting
		{9000, 9001, 1, Code}, {9001, 10000, 0, Wait}, // 9: hardly any code
		{10_000, to - 10_000, 0, Code},
	})
	tl.Reconstructed(0, 6000, 8000)
	img := tl.raster(assign(tl.opts.Categories, tl.weight))
	for _, c := range []struct {
		what           string
		column         int
		plain, striped color.RGBA
	}{
		{"code", 0, blue, blue},
		{"waiting", 1, white, white},
		{"blocked", 2, white, hatchInk},
		{"half waiting", 3, mix(blue, white, 0.5), mix(blue, white, 0.5)},
		{"two categories, a leads", 4, blue, blue},
		{"two categories, b leads", 5, red, red},
		{"nothing, reconstructed", 6, greyGround, greyGround},
		{"half blocked", 8, white, mix(white, hatchInk, 0.5)},
		{"hardly any code", 9, white, white},
		{"nothing at the end", int(to/1000) - 1, ground, ground},
	} {
		plain, striped := pixel(t, img, tl, c.column)
		if !near(plain, c.plain) || !near(striped, c.striped) {
			t.Errorf("%s: got %v and %v, want %v and %v", c.what, plain, striped, c.plain, c.striped)
		}
	}
	if plain, _ := pixel(t, img, tl, 7); near(plain, greyGround) || near(plain, red) {
		t.Errorf("a quarter recorded: got %v, want something between red and gray", plain)
	}
}

// near allows for rounding.
func near(a, b color.RGBA) bool {
	far := func(x, y uint8) bool { return max(x, y)-min(x, y) > 1 }
	return !far(a.R, b.R) && !far(a.G, b.G) && !far(a.B, b.B)
}

// TestSharedRow checks that ranks in one row of pixels share it fairly: the
// category that leads over all of them gives the hue, waiting the paleness.
func TestSharedRow(t *testing.T) {
	o := TimelineOptions{Width: 400, Height: 200, Ranks: rankNames(1), To: 1, Categories: make([]Category, 3)}
	o.Ranks = rankNames(4 * newLayout(o).height)
	o.To = int64(newLayout(o).width) * 1000
	tl := newTimeline(t, o)
	if tl.rowLanes(0) != 4 {
		t.Fatalf("%d ranks in a row", tl.rowLanes(0))
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
	for rows := 1; rows <= 700; rows += 1 + rows/7 {
		l := layout{height: 700, rows: rows}
		last := 0
		for r := range rows {
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
