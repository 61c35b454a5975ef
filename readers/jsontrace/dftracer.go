package jsontrace

import "tracekit/trace"

// attrFile is the attribute of slices that says which file they work on.
const (
	attrFile trace.AttributeID = iota
	attrFlowOut
	attrFlowStep
	attrFlowIn
	attributes // their number
)

// dftracer holds the hash tables of a dftracer file.
type dftracer struct {
	files map[string]uint32 // index into names by raw hash
	host  string
	app   string
}

func newDftracer() dftracer { return dftracer{files: make(map[string]uint32)} }

// metadata takes an M of dftracer; it returns false if it is one of the general ones.
func (d *dftracer) metadata(f *file, ev *event) bool {
	name, value := text(member(ev.args, "name")), text(member(ev.args, "value"))
	switch string(ev.name) {
	case "FH":
		d.define(f, value, unescape(name))
	case "HH":
		d.host = unescape(name)
	case "SH":
		if d.app == "" {
			d.app = unescape(name)
		}
	case "PR":
		if string(name) == "rank" {
			if r := rankNumber(value); r < 1<<24 {
				f.origin.rank, f.origin.hasRank = r, true
			}
		}
	default:
		return false
	}
	return true
}

// define gives a hash its file name. Slices may have named the hash before.
func (d *dftracer) define(f *file, hash []byte, name string) {
	if id, ok := d.files[string(hash)]; ok {
		f.names.list[id] = name
		return
	}
	if f.names.bytes < nameLimit {
		d.files[string(hash)] = f.names.text(name)
		f.names.bytes += len(hash) + 64
	}
}

// attach gives the slice that is put next its attributes.
func (f *file) attach(l *lane, ev *event) {
	if hash := f.dft.hash(ev); hash != nil {
		id, ok := f.dft.files[string(hash)]
		if !ok && f.names.bytes < nameLimit {
			id = f.names.fresh("file " + string(hash))
			f.dft.files[string(hash)] = id
			ok = true
		}
		if ok {
			l.stream.AddAttr(attrFile, trace.TypeString, uint64(id))
		}
	}
	f.boundFlow(l, ev)
}

// hash returns the file hash of a slice, nil if there is none. Only files of dftracer,
// which begin with metadata of it, are searched for it.
func (d *dftracer) hash(ev *event) []byte {
	if d.host == "" {
		return nil
	}
	return text(member(ev.args, "fhash"))
}
