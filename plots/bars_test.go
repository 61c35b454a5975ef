package plots

import (
	"image/color"
	"math"
	"strings"
	"testing"
)

// sampleBars is what hosts and messages say of a ping-pong.
func sampleBars(groups int) BarsData {
	d := BarsData{Title: "Ping-pong: hosts and messages", XLabel: "bytes of a message", Y: Axis{Label: "share of the time", Unit: Share},
		Categories: []Category{{Name: "compute"}, {Name: "copy"}, {Name: "wire"}, {Name: "waiting", Color: color.White}},
		Note:       "Left of each pair: the host; right: the message."}
	for i := range groups {
		x := float64(i) / float64(groups)
		d.Groups = append(d.Groups, BarGroup{Bytes.text(float64(int(8) << i)),
			[][]float64{{0.1, 0.3 * x, 0, 0.9 - 0.3*x}, {0.1, 0.8 * x, 0.9 - 0.8*x, 0}}})
	}
	return d
}

func TestBars(t *testing.T) {
	f, err := Bars(sampleBars(10))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bars", f)
}

// TestBarsOddities: bars without values say so, many groups lose names but no bars, and what cannot be
// drawn is refused.
func TestBarsOddities(t *testing.T) {
	for name, d := range map[string]BarsData{
		"none": {Title: "x"}, "zeros": {Title: "x", Categories: make([]Category, 1),
			Groups: []BarGroup{{"a", [][]float64{{0}}}}}, "many": sampleBars(40),
	} {
		f, err := Bars(d)
		if err != nil {
			t.Fatal(name, err)
		}
		draws(t, f)
	}
	if names := sampleBars(40).names(600); len(names) >= 40 || len(names) < 5 {
		t.Errorf("%d names of 40 in 600 pixels", len(names))
	}
	for name, bar := range map[string][]float64{"short": {1, 2, 3}, "negative": {1, 2, -3, 0}, "no number": {1, math.NaN(), 0, 0},
		"infinite": {math.Inf(1), 0, 0, 0}} {
		d := sampleBars(3)
		d.Groups[1].Bars[0] = bar
		if _, err := Bars(d); err == nil || !strings.Contains(err.Error(), "bars") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
