package rocpd

import "encoding/json"

// A fields goes over the members of an object that is written as the recorder does it: keys and texts without escapes, whole
// numbers. It is not ok if something else is met, of which package json knows what it means.
type fields struct {
	b     []byte
	at    int
	depth int // of objects in values that are passed over
	wrong bool
}

// deepest is the depth of objects in a record beyond which package json has to look.
const deepest = 16

// parse reads a record; false: package json has to.
func (x *jsonRecord) parse(b []byte) bool {
	f := fields{b: b}
	for key := f.first(); key != nil; key = f.next() {
		switch string(key) {
		case "kind":
			x.Kind = int(f.integer())
		case "operation":
			x.Operation = int(f.integer())
		case "thread_id":
			x.Thread = f.integer()
		case "correlation_id":
			f.one("internal", &x.Correlation.Internal)
		case "start_timestamp":
			x.Start = f.integer()
		case "end_timestamp":
			x.End = f.integer()
		case "dispatch_info":
			f.dispatch(&x.Dispatch)
		case "stream_id":
			x.Stream = &handle{}
			f.one("handle", &x.Stream.Handle)
		case "src_agent_id":
			f.one("handle", &x.Source.Handle)
		case "dst_agent_id":
			f.one("handle", &x.Target.Handle)
		case "bytes":
			x.Bytes = f.natural()
		case "agent_id":
			f.one("handle", &x.Agent.Handle)
		case "address":
			x.Address = json.RawMessage(f.other())
		case "allocation_size":
			x.Size = f.integer()
		default:
			f.other()
		}
	}
	return !f.wrong && f.at == len(b)
}

func (f *fields) dispatch(d *jsonDispatch) {
	for key := f.first(); key != nil; key = f.next() {
		switch string(key) {
		case "agent_id":
			f.one("handle", &d.Agent.Handle)
		case "queue_id":
			f.one("handle", &d.Queue.Handle)
		case "kernel_id":
			d.Kernel = f.natural()
		default:
			f.other()
		}
	}
}

// one reads a member of an object that is a number.
func (f *fields) one(name string, to *uint64) {
	for key := f.first(); key != nil; key = f.next() {
		if string(key) == name {
			*to = f.natural()
		} else {
			f.other()
		}
	}
}

// fail ends it.
func (f *fields) fail() []byte {
	f.wrong = true
	return nil
}

// byte returns the next byte that is no white space, 0 at the end.
func (f *fields) byte() byte {
	for ; f.at < len(f.b); f.at++ {
		if c := f.b[f.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// is takes a byte if it is next.
func (f *fields) is(c byte) bool {
	if f.byte() != c {
		return false
	}
	f.at++
	return true
}

// first returns the key of the first member of an object, nil if there is none.
func (f *fields) first() []byte {
	if f.wrong || !f.is('{') {
		return f.fail()
	}
	if f.is('}') {
		return nil
	}
	return f.key()
}

// next returns the key of the next member, nil behind the last one.
func (f *fields) next() []byte {
	switch {
	case f.wrong || f.is('}'):
		return nil
	case !f.is(','):
		return f.fail()
	}
	return f.key()
}

func (f *fields) key() []byte {
	key := f.text()
	if key == nil || !f.is(':') {
		return f.fail()
	}
	for _, c := range key[1 : len(key)-1] {
		if c >= 'A' && c <= 'Z' { // package json takes no notice of case
			return f.fail()
		}
	}
	return key[1 : len(key)-1 : len(key)-1]
}

// text takes a text, and returns it in its quotes.
func (f *fields) text() []byte {
	if f.byte() != '"' {
		return f.fail()
	}
	from := f.at
	for f.at++; f.at < len(f.b); f.at++ {
		switch c := f.b[f.at]; {
		case c == '"':
			f.at++
			return f.b[from:f.at]
		case c < ' ' || c == '\\' || c >= 0x80:
			return f.fail()
		}
	}
	return f.fail()
}

// natural takes a number that is not below 0.
func (f *fields) natural() (v uint64) {
	f.byte()
	const most = 19 // digits that fit
	from := f.at
	for f.at < len(f.b) && f.b[f.at]-'0' <= 9 {
		v = 10*v + uint64(f.b[f.at]-'0')
		f.at++
	}
	n := f.at - from
	if n == 0 || n > most || n > 1 && f.b[from] == '0' {
		f.fail()
	}
	return v // what comes behind it must be a comma or a bracket
}

// integer takes a number.
func (f *fields) integer() int64 {
	below := f.is('-')
	v := f.natural()
	if v >= 1<<63 {
		f.fail()
	}
	if below {
		return -int64(v)
	}
	return int64(v)
}

// other takes a value, and returns it.
func (f *fields) other() []byte {
	c := f.byte()
	from := f.at
	switch {
	case c == '"':
		f.text()
	case c == '{' && f.depth < deepest:
		f.depth++
		for key := f.first(); key != nil; key = f.next() {
			f.other()
		}
		f.depth--
	case c == '-' || c-'0' <= 9:
		f.integer()
	default: // arrays, words
		f.fail()
	}
	return f.b[from:f.at]
}
