package paraver

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tracekit/trace"
)

// A decoder takes the lines of a block, one after the other, and puts what they say into
// threads. There are two kinds:
//
//   - The one of the reading knows the state of all threads and may add to the tables.
//
//   - Those of the workers decode blocks before the reading has come to them, into threads of
//     the block's own. A line that such a decoder cannot be sure of (it defines something, it
//     is the first bad one of its kind, its thread flushes) ends its work on the block.
//
//     main is nil in workers
//     slots[i] is the number, from 1, of the block's thread of location i; 0: none (workers only)
//     calls[i] says that location i has regions, as far as the decoder has seen (workers only)
type decoder struct {
	*tables
	main   *reading
	block  *block
	slots  []uint32
	calls  []bool
	caches caches

	begin int // of the line in the block

	// Of the line, kept to use the memory again:
	ops       []operation
	members   []uint32    // metric members of its numbers
	values    []uint64    // its numbers
	sets      []*meterSet // the metrics that its numbers make
	callers   [callerLevels]callerKey
	ownValues ownValues
	fields    [14]int64
}

// caches remember what was looked up in the tables last, by a hash.
type caches struct {
	types    [512]typeInfo
	meters   [256]*meterSet
	callers  [512]cachedCaller
	contexts [512]cachedContext
}

// A cachedCaller is a caller and its number; a cachedContext is a call and its context.
type (
	cachedCaller struct {
		key   callerKey
		id    uint32
		known bool
	}
	cachedContext struct {
		key   contextKey
		id    trace.CallingContextID
		known bool
	}
)

// errUnsure is why a worker's decoder stops at a line.
var errUnsure = errors.New("the line needs the slow path")

// decode takes the lines of a block from position pos on. It returns where it stopped.
func (d *decoder) decode(b *block, pos int) int {
	d.block = b
	s := scanner{data: b.data, pos: pos}
	for s.pos < len(b.data) {
		if b.data[s.pos] == '\n' {
			b.lines++
			s.pos++
			continue
		}
		d.begin = s.pos
		if err := d.line(&s); err != nil && !d.bad(err) {
			return d.begin
		}
		b.lines++
		s.nextLine()
	}
	return s.pos
}

// line reads a line from its begin on; s is left anywhere in it. The error says why the line is
// left out.
func (d *decoder) line(s *scanner) error {
	c := s.data[s.pos]
	if c >= '1' && c <= '4' && s.data[s.pos+1] == ':' {
		s.pos += 2
		switch c {
		case '1':
			return d.state(s)
		case '2':
			return d.event(s)
		case '3':
			return d.communication(s)
		}
		return d.global(s)
	}
	return d.other(s)
}

// other reads a line that is no record: metadata, a communicator, nothing.
func (d *decoder) other(s *scanner) error {
	n := bytes.IndexByte(s.data[s.pos:], '\n')
	text := bytes.TrimRight(s.data[s.pos:s.pos+n], "\r")
	switch {
	case len(text) == 0:
		return nil
	case d.main == nil:
		return errUnsure
	case text[0] == '#':
		d.block.counts.Comments++
		d.main.note(text)
		return nil
	case len(text) > 2 && text[1] == ':' && strings.IndexByte("cCiI", text[0]) >= 0:
		d.block.counts.Communicators++
		d.version++
		return d.comms.line(string(text))
	}
	d.block.counts.Others++
	d.find(trace.CodeUnknownRecord, "%.40q", text)
	return nil
}

// bad notes a line that is left out, for the reason err; it returns false if a worker may
// not.
func (d *decoder) bad(err error) bool {
	code := trace.CodeBadValue
	if err == errObject {
		code = trace.CodeDanglingReference
	}
	if err == errUnsure || !d.find(code, "%v", err) {
		return false
	}
	d.block.counts.Bad++
	return true
}

// mayFind reports whether find will note a finding of that code.
func (d *decoder) mayFind(code trace.Code) bool { return d.main != nil || d.known[code] }

// find notes a finding at the line that is read. Only the first of a code is described; a
// worker leaves that to the reading, and find returns false.
func (d *decoder) find(code trace.Code, format string, args ...any) bool {
	if d.known[code] {
		d.block.findings[code]++
		return true
	}
	if d.main == nil {
		return false
	}
	d.known[code] = true
	d.main.ledger.Add(code, d.main.at(d.block.offset+int64(d.begin)),
		fmt.Sprintf("line %d: ", d.main.lines+d.block.lines+1)+fmt.Sprintf(format, args...))
	return true
}

// thread returns a thread by its numbers, nil if there is none.
func (d *decoder) thread(appl, task, number int64) *thread {
	p := d.place(appl, task)
	if p == nil || number < 1 || number > p.threads {
		return nil
	}
	i := p.first + uint32(number-1)
	if d.main != nil {
		l := &d.main.threads[i]
		if l.events == nil {
			d.main.openThread(l)
		}
		return l
	}
	if d.slots[i] == 0 {
		d.block.addThread(i, p.rank, d.calls[i])
		d.slots[i] = uint32(len(d.block.threads))
	}
	return &d.block.threads[d.slots[i]-1]
}

// info returns what is known of a type of event; ok is false if a worker sees it first.
func (d *decoder) info(typ uint32) (i typeInfo, ok bool) {
	c := &d.caches.types[typ*0x9E3779B1>>23]
	if c.typ == typ && c.known {
		return *c, true
	}
	if i, ok = d.types.all[typ]; !ok {
		if d.main == nil {
			return i, false
		}
		i = d.types.classify(typ)
		d.types.all[typ] = i
	}
	*c = i
	return i, true
}

// set returns the metric of the members in that order, nil if there are too many metrics; ok
// is false if a worker sees it first.
func (d *decoder) set(members []uint32) (set *meterSet, ok bool) {
	h := uint32(0)
	for _, id := range members {
		h = (h ^ id) * 0x9E3779B1
	}
	c := &d.caches.meters[h>>24]
	if *c != nil && slices.Equal((*c).members, members) {
		return *c, true
	}
	set = d.meters.find(members)
	if set == nil {
		if d.main == nil {
			return nil, false
		}
		if set = d.meters.add(members); set == nil {
			return nil, true
		}
	}
	*c = set
	return set, true
}

// caller returns the number of a caller, None if its line is not known; ok is false if a
// worker sees it first.
func (d *decoder) caller(k callerKey) (id uint32, ok bool) {
	c := &d.caches.callers[(uint32(k.function)*0x9E3779B1^uint32(k.line)*0x85EBCA77^uint32(k.level))>>23]
	if c.known && c.key == k {
		return c.id, true
	}
	if id, ok = d.sites.ids[k]; !ok {
		if d.main == nil {
			return trace.None, false
		}
		id = d.sites.addCaller(k)
	}
	*c = cachedCaller{k, id, true}
	return id, true
}

// context returns the calling context of a call; ok is false if a worker sees it first.
func (d *decoder) context(k contextKey) (id trace.CallingContextID, ok bool) {
	c := &d.caches.contexts[(uint32(k.region)*0x9E3779B1^k.caller*0x85EBCA77)>>23]
	if c.known && c.key == k {
		return c.id, true
	}
	if id, ok = d.sites.contexts[k]; !ok {
		if d.main == nil {
			return trace.None, false
		}
		id = d.sites.addContext(k)
	}
	*c = cachedContext{k, id, true}
	return id, true
}
