package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestHints states that SVG pictures are well-formed, begin with their title, and say what each
// segment is or, where those are too many, how each bar spends its time.
func TestHints(t *testing.T) {
	for _, c := range []struct {
		segments int64
		want     string
	}{{2, "solve <a>, rank 0, at 0 for 40 ns"}, {6000, "rank 0: runs 80.0 %, waits 0.0 %"}} {
		tl, err := NewTimeline(TimelineOptions{Title: "A & B", Subtitle: "all", From: 0, To: 50 * c.segments, Ranks: []string{"0"},
			Categories: []Category{{Name: "solve <a>"}}})
		if err != nil {
			t.Fatal(err)
		}
		lane := tl.Lane(0)
		for i := range c.segments {
			lane.Segment(50*i, 50*i+40, 0, Code)
		}
		if err := tl.Add(lane); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := tl.Figure().Encode(&out, SVG); err != nil {
			t.Fatal(err)
		}
		titles := titlesOf(t, out.Bytes())
		if len(titles) < 2 || titles[0] != "A & B, all" || titles[1] != c.want {
			t.Errorf("%d segments: titles begin with %q, want %q", c.segments, titles[:min(2, len(titles))], c.want)
		}
	}
}

func titlesOf(t *testing.T, doc []byte) (titles []string) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	inside := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return titles
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if inside = x.Name.Local == "title"; inside {
				titles = append(titles, "")
			}
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				titles[len(titles)-1] += strings.TrimSpace(string(x))
			}
		}
	}
}
