package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"tracekit/stats/delays"
	"tracekit/trace"
)

// The program of the page, which is written in web/src.
//
//go:generate go test -C ../web/test -count=1 -run TestBundleIsFresh -update
var (
	//go:embed page.js
	script []byte
	//go:embed page.css
	styles []byte
)

// DefaultSize is how large a page may be unless told otherwise.
const DefaultSize = 4 << 20

// LeastSize is what a page may be bounded to: its program and a bare analysis need that much.
const LeastSize = 256 << 10

// Bounds returns how much of a trace a page of so many bytes can show.
func Bounds(size int64) Limits {
	runs := int(size / 3)
	return Limits{Runs: runs, Messages: runs / 20, Collectives: runs / 60, Stretches: runs / 40, Pieces: runs / 16}
}

// A Page is what is written.
type Page struct {
	Title    string
	Trace    *trace.Trace
	Timeline *Timeline         // Encode makes it coarser where it does not fit
	Document any               // of the analysis, as `tracekit analyze --json` prints it
	More     *More             // nil: nothing
	Costs    []delays.PathCost // of the whole run
	Files    []string          // further files beside the page, by their names relative to it
	Size     int64             // bytes at most
	Served   bool              // by a server that has tiles of the timeline (Index)
}

// Encode returns the page as HTML: the timeline is drawn as coarse, and of the document's lists
// are kept the first rows, as many as fit.
func (p *Page) Encode(ctx context.Context) ([]byte, error) {
	c, err := p.Content(ctx)
	if err != nil {
		return nil, err
	}
	return c.HTML(p.Served), nil
}

// A Content is what a page of a trace holds besides the program.
type Content struct {
	Title string `json:"title"`
	Parts []Part `json:"parts"`
}

// A Part is data for the program, packed, in letters that no markup is made of.
type Part struct {
	ID   string `json:"id"`
	Data string `json:"data"`
}

// programSize is how many bytes of a page are the same in all.
func programSize() int64 { return int64(len(script)+len(styles)) + 8<<10 }

// Content packs what the page holds.
func (p *Page) Content(ctx context.Context) (*Content, error) { return p.content(newPacker(ctx)) }

func (p *Page) content(z *packer) (*Content, error) {
	left := p.Size - programSize()
	doc, err := z.document(p.Document, left*2/5)
	if err != nil {
		return nil, err
	}
	left -= int64(len(doc))
	more, err := p.More.pack(z, left/4)
	if err != nil {
		return nil, err
	}
	curves, err := p.Timeline.packCurves(z, left/4)
	if err != nil {
		return nil, err
	}
	left -= int64(len(more) + len(curves))
	var head, numbers string
	for {
		if head, err = z.json(p.describe()); err != nil {
			return nil, err
		}
		if numbers, err = z.pack(p.Timeline.numbers()...); err != nil {
			return nil, err
		}
		if int64(len(head)+len(numbers)) <= left {
			break
		}
		if !p.Timeline.thin() {
			return nil, fmt.Errorf("a page of %d bytes has no room for %d rows; use a larger "+
				"--size", p.Size, len(p.Timeline.Rows))
		}
	}
	return &Content{Title: shorten(p.Title), Parts: []Part{{"document", doc}, {"more", more}, {"header", head}, {"numbers", numbers},
		{"curves", curves}}}, nil
}

// HTML returns the page; one that is served may ask its server for more.
func (c *Content) HTML(served bool) []byte {
	var b bytes.Buffer
	size := programSize()
	for _, part := range c.Parts {
		size += int64(len(part.Data)) + 64
	}
	b.Grow(int(size))
	_, _ = c.WriteHTML(&b, served) // into memory
	return b.Bytes()
}

// WriteHTML writes the page (HTML) and returns its size.
func (c *Content) WriteHTML(to io.Writer, served bool) (size int64, err error) {
	connect := "'none'"
	if served {
		connect = "'self'"
	}
	write := func(text string) {
		if err == nil {
			n := 0
			n, err = io.WriteString(to, text)
			size += int64(n)
		}
	}
	write(fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; connect-src %s; worker-src blob:; base-uri 'none'; form-action 'none'">
<title>%s</title>
<style>%s</style>
</head>
<body>
<main id="page"><p>This page needs JavaScript. Nothing is loaded from anywhere.</p></main>
`, digest(script), digest(styles), connect, html.EscapeString(c.Title), styles))
	for _, part := range c.Parts {
		write(fmt.Sprintf(`<script type="text/plain" id="%s">`, part.ID))
		write(part.Data)
		write("</script>\n")
	}
	write(fmt.Sprintf("<script>%s</script>\n</body>\n</html>\n", script))
	return size, err
}

// packCurves packs the curves, as coarse as it takes to fit into so many bytes; those that
// do not fit at all are left out.
func (tl *Timeline) packCurves(z *packer, limit int64) (string, error) {
	for {
		packed, err := z.pack(encodeCurves(tl.Curves, 0))
		if err != nil || int64(len(packed)) <= limit {
			return packed, err
		}
		if !tl.thinCurves() {
			if tl.Curves[0].Row == trace.None {
				tl.Curves, tl.Counters = nil, nil
			} else {
				tl.sumCurves(int(limit) / 16)
			}
		}
	}
}

// thin makes the timeline smaller, and reports whether it could.
func (tl *Timeline) thin() bool {
	smaller := tl.coarsen()
	tl.Messages, smaller = everyOther(tl.Messages, smaller)
	tl.Collectives, smaller = everyOther(tl.Collectives, smaller)
	tl.Critical, smaller = everyOther(tl.Critical, smaller)
	return smaller
}

func everyOther[T any](rows []T, before bool) ([]T, bool) {
	var kept []T
	for i := 0; i < len(rows); i += 2 {
		kept = append(kept, rows[i])
	}
	if len(rows) <= 16 {
		return rows, before
	}
	return kept, true
}

// digest names a text in a content security policy.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// packLevel is the level of compression: the next but one makes a page two hundredths smaller, and a report of a small trace two hundredths
// slower.
const packLevel = 3

// A packer packs one part of a page after another, until its context ends. The tables of the
// compressor are more than most parts.
type packer struct {
	ctx context.Context
	z   *flate.Writer
}

func newPacker(ctx context.Context) *packer {
	z, _ := flate.NewWriter(nil, packLevel) // which is one
	return &packer{ctx: ctx, z: z}
}

// pack compresses data, which lies in several places, in letters that no markup is made of.
func (p *packer) pack(data ...[]byte) (string, error) {
	var letters strings.Builder
	size := 0
	for _, some := range data {
		size += len(some)
	}
	letters.Grow(size / 2)
	encoder := base64.NewEncoder(base64.StdEncoding, &letters)
	p.z.Reset(encoder)
	for _, some := range data {
		for piece := range slices.Chunk(some, 1<<16) {
			if err := p.ctx.Err(); err != nil {
				return "", err
			}
			_, _ = p.z.Write(piece) // into memory
		}
	}
	_ = p.z.Close()
	_ = encoder.Close()
	return letters.String(), nil
}

func (p *packer) json(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return p.pack(data)
}

// document packs a document into so many bytes. If it has too many, the longest of its
// lists loses half of its rows, the last ones, until it fits; "cut" then says of which lists
// how many rows there were.
func (p *packer) document(document any, limit int64) (string, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return "", err
	}
	packed, err := p.pack(data)
	if err != nil || int64(len(packed)) <= limit {
		return packed, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return "", err
	}
	lists, cut := map[string][]json.RawMessage{}, map[string]int{}
	for name, raw := range fields {
		if list := []json.RawMessage(nil); json.Unmarshal(raw, &list) == nil && list != nil {
			lists[name] = list
		}
	}
	for int64(len(packed)) > limit {
		name := longest(lists)
		if name == "" {
			return "", fmt.Errorf("the analysis does not fit into a page of this size; use a larger --size")
		}
		list := lists[name]
		if _, ok := cut[name]; !ok {
			cut[name] = len(list)
		}
		lists[name] = list[:len(list)/2]
		for _, add := range []struct {
			name  string
			value any
		}{{name, lists[name]}, {"cut", cut}} {
			if fields[add.name], err = json.Marshal(add.value); err != nil {
				return "", err
			}
		}
		if packed, err = p.json(fields); err != nil {
			return "", err
		}
	}
	return packed, nil
}

// longest returns the name of the list with the most bytes, "" if all are empty.
func longest(lists map[string][]json.RawMessage) string {
	best, most := "", 0
	for name, list := range lists {
		n := 0
		for _, row := range list {
			n += len(row)
		}
		if n > most || n == most && n > 0 && name < best {
			best, most = name, n
		}
	}
	return best
}
