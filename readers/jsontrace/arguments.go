package jsontrace

// leftOut counts the events of which not all arguments become part of the tables: those
// that last or are moments. What the arguments of counters, flows and metadata say is kept.
type leftOut struct {
	events uint64
	first  int64  // where the first of them begins
	name   string // of its first argument
}

// note takes an event that begins at a byte of the file.
func (o *leftOut) note(ev *event, at int64) {
	if len(ev.args) <= len("{}") {
		return
	}
	switch ev.phase {
	case 'C', 's', 't', 'f':
		return
	}
	if o.events++; o.events == 1 {
		o.first = at
		members(ev.args, func(key, _ []byte) bool {
			o.name = unescape(key)
			return false
		})
	}
}
