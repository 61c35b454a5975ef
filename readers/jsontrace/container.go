package jsontrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// errorLimit is the number of syntax errors after which the rest of a file is given up.
const errorLimit = 1000

// A handler takes what the container holds.
type handler interface {
	// digits is the number of decimals of a microsecond to keep.
	digits() int
	// event takes an element of traceEvents, which is valid until it returns.
	event(ev *event, at int64)
	// member takes another member of the outer object, raw; nil if it was too long.
	member(key string, value []byte, at int64)
	// find reports something about the text at a position.
	find(code trace.Code, at int64, text string)
}

// A container walks over the outer structure of a file: an array of events, an object
// with the member traceEvents, or objects one after the other with or without commas.
//
//	object: the text is an object with traceEvents
//	array: an array of events is open
//	workers: how many goroutines may parse ahead, in blocks of that size
type container struct {
	in      *input
	h       handler
	ev      event
	object  bool
	array   bool
	errors  int
	found   bool   // some event or traceEvents was seen
	latest  string // key of the last member of the outer object
	workers int
	block   int
	ahead   *ahead // from the first event on, nil if the text is short or workers is below 2
}

// run reads the whole text. The error is that of the context or of reading, or
// trace.ErrNotATrace.
func (c *container) run(ctx context.Context) error {
	defer c.close()
	if err := c.start(); err != nil {
		return err
	}
	for n := 0; c.step(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return c.finish()
}

// start skips a byte order mark and decides between the forms.
func (c *container) start() error {
	c.in.more()
	if bytes.HasPrefix(c.in.rest(), []byte("\xef\xbb\xbf")) {
		c.in.pos += 3
	}
	first, ok := c.in.peek(0)
	switch {
	case ok && first == '[':
		c.in.pos++
		c.array = true
	case ok && first == '{':
		if c.object = !c.startsWithEvent(); c.object {
			c.in.pos++
		}
	default:
		if err := c.in.err; err != nil {
			return fmt.Errorf("%w: %w", trace.ErrNotATrace, err)
		}
		return fmt.Errorf("%w: no JSON array or object at the start", trace.ErrNotATrace)
	}
	return nil
}

// startsWithEvent reports whether the object at the start is an event rather than the
// outer object: it is complete within the window and has a phase or no members.
func (c *container) startsWithEvent() bool {
	n := c.ev.parse(c.in.rest(), c.in.eof, nanoDigits)
	for n == short && len(c.in.buf) < windowBytes && c.in.more() {
		n = c.ev.parse(c.in.rest(), c.in.eof, nanoDigits)
	}
	return n > 0 && (c.ev.phase != 0 || c.ev.empty && c.followedByObject(n))
}

// followedByObject reports whether another object follows: {}{…}.
func (c *container) followedByObject(n int) bool {
	rest := bytes.TrimLeft(c.in.rest()[n:], " \t\r\n,")
	return len(rest) > 0 && rest[0] == '{'
}

// step reads one event or member; it returns false at the end.
func (c *container) step() bool {
	b, ok := c.in.peek(',') // commas are noise between events
	if !ok || c.errors > errorLimit {
		return false
	}
	switch {
	case c.object && !c.array:
		return c.outer(b)
	case b == '{':
		return c.element()
	case b == ']' && c.array:
		c.in.pos++
		c.array = false
		return c.object || c.afterArray()
	case b == '[' && !c.array: // another array after the first
		c.in.pos++
		c.array = true
		return true
	}
	return c.resync("an event does not start with {")
}

// parseAhead lets other goroutines read the text behind the window.
func (c *container) parseAhead() {
	c.ahead = newAhead(c.in.r, aheadOptions{workers: c.workers, block: c.block,
		at: c.in.offset + int64(len(c.in.buf)), digits: c.h.digits()})
	c.in.r = c.ahead
}

func (c *container) close() {
	if c.ahead != nil {
		c.ahead.close()
	}
}

// parse returns the event at the current position and its length, or a status.
func (c *container) parse() (*event, int) {
	rest := c.in.rest()
	if c.ahead != nil && c.ahead.digits == c.h.digits() {
		if ev, n := c.ahead.event(c.in.at()); ev != nil && n <= len(rest) {
			return ev, n
		}
	}
	return &c.ev, c.ev.parse(rest, c.in.eof, c.h.digits())
}

// element reads an event.
func (c *container) element() bool {
	if c.ahead == nil && c.workers > 1 && !c.in.eof {
		c.parseAhead()
	}
	for {
		at := c.in.at()
		ev, n := c.parse()
		switch {
		case n > 0:
			c.found = true
			c.h.event(ev, at)
			c.in.pos += n
			return true
		case n == short && c.in.more():
			continue // from the start of the event: it happens once for each window
		case n == short && c.in.eof:
			return c.cut(at)
		case n == short:
			return c.resync("an event is too long")
		}
		return c.resync("this is not an event")
	}
}

// cut handles the end of the text within a value: the file is truncated, unless a missing
// quote or bracket has swallowed what follows.
func (c *container) cut(at int64) bool {
	if i := nextObject(c.in.rest()); i >= 0 {
		return c.resync("an event has no end")
	}
	c.h.find(trace.CodeTruncated, at, "the last event is cut")
	c.array, c.object = false, false
	c.in.pos = len(c.in.buf)
	return false
}

// resync goes on at the next line that starts with an object.
func (c *container) resync(text string) bool {
	c.errors++
	c.h.find(trace.CodeCorrupt, c.in.at(), text)
	if c.errors > errorLimit {
		c.h.find(trace.CodeTruncated, c.in.at(), "too many errors, the rest was not read")
		return false
	}
	c.in.pos++
	for {
		if i := nextObject(c.in.rest()); i >= 0 {
			c.in.pos += i
			c.array = c.array || c.object // what looks like an event is one
			return true
		}
		c.in.pos += len(bytes.TrimRight(c.in.rest(), " \t\r\n,"))
		if !c.in.more() {
			c.in.pos = len(c.in.buf)
			return false
		}
	}
}

// nextObject returns the index of the first { that is the first on its line but for
// commas and white space, in the lines after the first; -1 if there is none.
func nextObject(b []byte) int {
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\n')
		if k < 0 {
			return -1
		}
		j := i + k + 1
		for j < len(b) && (isSpace(b[j]) || b[j] == ',') {
			j++
		}
		if j < len(b) && b[j] == '{' {
			return j
		}
		i = j // no line between holds anything
	}
}

// afterArray looks at what follows the array of the array form.
func (c *container) afterArray() bool {
	b, ok := c.in.peek(',')
	if ok && b != '[' && b != '{' {
		c.h.find(trace.CodeTrailingData, c.in.at(), "there is text after the array")
		return false
	}
	return ok
}

// outer reads a member of the outer object.
func (c *container) outer(b byte) bool {
	switch b {
	case '}':
		c.in.pos++
		c.object = false
		if b, ok := c.in.peek(','); ok && b != '{' {
			c.h.find(trace.CodeTrailingData, c.in.at(), "there is text after the object")
			return false
		}
		return true
	case '"':
		return c.outerMember()
	}
	if !c.found {
		c.errors = errorLimit // no trace begins so: do not search on
	}
	return c.resync("a member of the outer object does not start with a quote")
}

func (c *container) outerMember() bool {
	at := c.in.at()
	key, status := c.key()
	switch status {
	case short:
		return c.cutOuter(at)
	case broken:
		return c.resync("a key of the outer object has no value")
	}
	c.latest = key
	b, ok := c.in.peek(0)
	if !ok {
		return c.cutOuter(at)
	}
	if key == "traceEvents" && b == '[' {
		c.in.pos++
		c.array, c.found = true, true
		return true
	}
	return c.value(key, at)
}

// key reads a key and the colon after it; the status is 0, short or broken.
func (c *container) key() (string, int) {
	for {
		b := c.in.rest()
		end := skipString(b, 1)
		if end > 0 {
			if i := skipSpace(b, end); i < len(b) {
				if b[i] != ':' {
					return "", broken
				}
				key := unescape(b[1 : end-1])
				c.in.pos += i + 1
				return key, 0
			}
		}
		if !c.in.more() {
			return "", short
		}
	}
}

// value reads the value of a member of the outer object.
func (c *container) value(key string, at int64) bool {
	if key == "tracekit" {
		c.in.limit = headerLimit
		defer func() { c.in.limit = objectLimit }()
	}
	for {
		b := c.in.rest()
		n := skipValue(b, 0, c.in.eof)
		switch {
		case n > 0:
			c.h.member(key, b[:n], at)
			c.in.pos += n
			return true
		case n == broken:
			return c.resync("a value of the outer object is malformed")
		case c.in.more():
			continue
		case c.in.eof:
			return c.cutOuter(at)
		}
		c.h.member(key, nil, at)
		return c.skipLong() || c.cutOuter(at)
	}
}

// skipLong passes over a value that does not fit into the window.
func (c *container) skipLong() bool {
	var s longValue
	for {
		if n, done := s.skip(c.in.rest()); done {
			c.in.pos += n
			return true
		}
		c.in.pos = len(c.in.buf)
		if !c.in.more() {
			return false
		}
	}
}

// A longValue is the state of passing over a value piece by piece.
type longValue struct {
	depth             int
	inString, escaped bool
}

// skip returns the index behind the value, if it ends in b.
func (s *longValue) skip(b []byte) (int, bool) {
	for i, c := range b {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString && c == '\\':
			s.escaped = true
		case s.inString && c == '"':
			s.inString = false
		case s.inString:
			continue
		case c == '"':
			s.inString = true
			continue
		case classes[c] == open:
			s.depth++
			continue
		case classes[c] == shut:
			s.depth--
		default:
			continue
		}
		if s.depth == 0 && !s.inString {
			return i + 1, true
		}
	}
	return 0, false
}

func (c *container) cutOuter(at int64) bool {
	c.h.find(trace.CodeTruncated, at, "the outer object is cut")
	c.array, c.object = false, false
	c.in.pos = len(c.in.buf)
	return false
}

// finish says how the text ended.
func (c *container) finish() error {
	switch {
	case c.in.err != nil && errors.Is(c.in.err, wire.ErrDamaged):
		c.h.find(trace.CodeTruncated, c.in.at(), c.in.err.Error())
	case c.in.err != nil:
		return c.in.err
	case c.object && c.errors <= errorLimit:
		c.h.find(trace.CodeTruncated, c.in.at(), "the outer object is not closed")
	}
	if !c.found && (!c.array || c.errors > 0) {
		return fmt.Errorf("%w: no traceEvents and no event", trace.ErrNotATrace)
	}
	return nil
}
