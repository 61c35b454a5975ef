package plots

import (
	"fmt"
	"io"
	"math"
	"testing"
)

// send adds n messages between two ranks at equal distances of time.
func send(tl *Timeline, n int, from, to int) {
	span := tl.opts.To - tl.opts.From
	for i := range int64(n) {
		at := tl.opts.From + span*i/int64(n)
		tl.Message(Message{From: from, To: to, Sent: at, Done: at + span/50, Bytes: 10})
	}
}

func TestMessagesTurnDense(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  MessageMode
		n     int
		dense bool
		lines int
	}{
		{"none", AutoMessages, 0, false, 0},
		{"few", AutoMessages, 20, false, 20},
		{"over the limit", AutoMessages, 101, true, 0},
		{"all", AllMessages, 101, false, 101},
		{"all, more than can be told apart", AllMessages, mostLines + 1, true, 0},
		{"not wanted", NoMessages, 20, false, 0},
		{"as many as the limit, in one place", AutoMessages, 100, false, 100},
	} {
		o := TimelineOptions{To: 1e6, Ranks: rankNames(4), Messages: c.mode, MessageLimit: 100, Width: 600, Height: 300}
		tl := newTimeline(t, o)
		send(tl, c.n, 0, 3)
		if tl.messages.dense() != c.dense || len(tl.messages.lines) != c.lines {
			t.Errorf("%s: dense %t with %d lines", c.name, tl.messages.dense(), len(tl.messages.lines))
		}
		draws(t, tl.Figure())
	}
}

// TestMessagesLeftOut counts only what has a place in the diagram.
func TestMessagesLeftOut(t *testing.T) {
	tl := flat(t, 100, 200, 2, 1)
	for _, m := range []Message{
		{From: 0, To: 2, Sent: 110, Done: 120},
		{From: -1, To: 1, Sent: 110, Done: 120},
		{From: 0, To: 1, Sent: 10, Done: 99},
		{From: 0, To: 1, Sent: 200, Done: 300},
		{From: 0, To: 1, Sent: math.MaxInt64, Done: math.MaxInt64},
	} {
		tl.Message(m)
	}
	if tl.messages.count != 0 {
		t.Errorf("%d messages counted", tl.messages.count)
	}
	tl.Message(Message{From: 0, To: 1, Sent: 150, Done: 140}) // received before sent: drawn as it is
	tl.Message(Message{From: 1, To: 1, Sent: 50, Done: 250})  // through the whole range, to itself
	if tl.messages.count != 2 {
		t.Errorf("%d messages counted, want 2", tl.messages.count)
	}
	draws(t, tl.Figure())
}

// TestTraceLine counts one crossing for each step along the longer side.
func TestTraceLine(t *testing.T) {
	for _, c := range []struct {
		name           string
		x0, y0, x1, y1 float64
		least, most    int64
	}{
		{"level", 0, 0.5, 1, 0.5, 10, 11},
		{"upright", 0.5, 0, 0.5, 1, 20, 21},
		{"diagonal", 0, 0, 1, 1, 20, 21},
		{"point", 0.3, 0.3, 0.3, 0.3, 1, 1},
		{"half outside", -1, 0.5, 1, 0.5, 10, 11},
		{"outside", 1.5, 0, 2, 1, 0, 0},
	} {
		m := messageLayer{width: 10, height: 20, blocks: make([]uint32, 200)}
		m.trace(c.x0, c.y0, c.x1, c.y1)
		var sum int64
		for _, n := range m.blocks {
			sum += int64(n)
		}
		if sum < c.least || sum > c.most || sum > 0 && m.peak() != 1 {
			t.Errorf("%s: %d crossings, at most %d in a block", c.name, sum, m.peak())
		}
	}
}

func TestCollectives(t *testing.T) {
	tl := flat(t, 0, 1000, 3, 1)
	for _, c := range []Collective{
		{Ranks: []int{0}, Begin: []int64{1}, End: []int64{2}},
		{Ranks: []int{0, 1}, Begin: []int64{1}, End: []int64{2, 3}},
		{Ranks: []int{0, 3}, Begin: []int64{1, 1}, End: []int64{2, 2}},
		{Ranks: []int{0, 1}, Begin: []int64{1000, 1000}, End: []int64{2000, 2000}},
		{Ranks: []int{0, 1}, Begin: []int64{-9, -9}, End: []int64{-1, -1}},
	} {
		tl.Collective(c)
	}
	if tl.collectives.count != 0 {
		t.Errorf("%d unusable collectives counted", tl.collectives.count)
	}
	begin := []int64{10, 20, 30}
	tl.Collective(Collective{[]int{0, 1, 2}, begin, []int64{40, 40, 40}})
	begin[0] = 99
	if tl.collectives.list[0].Begin[0] != 10 {
		t.Error("the caller's slice was kept")
	}
	draws(t, tl.Figure())
	for range keepPoints {
		tl.Collective(Collective{[]int{0, 2}, []int64{500, 500}, []int64{600, 600}})
	}
	if !tl.collectives.dense() || tl.collectives.ends[tl.columnOf(600)] != keepPoints {
		t.Error("too many collectives are still outlined, or not counted by column")
	}
	draws(t, tl.Figure())
}

// BenchmarkAllMessages: beyond what lines can show, more messages take no more memory.
func BenchmarkAllMessages(b *testing.B) {
	for _, n := range []int{1 << 14, 1 << 17, 1 << 20} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tl := newTimeline(b, TimelineOptions{To: 1e6, Ranks: rankNames(16), Messages: AllMessages})
				for i := range n {
					at := int64(i) * 1e6 / int64(n)
					tl.Message(Message{From: i % 16, To: (i + 1) % 16, Sent: at, Done: at + 1000})
				}
				if err := tl.Figure().Encode(io.Discard, SVG); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/message")
		})
	}
}
