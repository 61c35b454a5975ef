package trace

// defRmaWin is the number of OTF2's definition of a window of one-sided communication.
const defRmaWin = 24

// SyncsProcesses is the bit of OTF2's RmaSyncLevel that says that an operation on a window makes processes wait for each other.
const SyncsProcesses = 1

// Windows returns the communicators of the windows of one-sided communication, by the number that events have of them. Windows are opaque
// definitions of OTF2 (record RmaWin: its number, its name, and the number of its communicator).
func (d *Defs) Windows() map[uint64]CommID {
	var out map[uint64]CommID
	var comms map[uint64]CommID
	for _, o := range d.Opaque {
		if o.Format != "otf2" || o.Kind != defRmaWin {
			continue
		}
		if comms == nil {
			out, comms = make(map[uint64]CommID), make(map[uint64]CommID)
			for i, c := range d.Comms {
				comms[c.Ref] = CommID(i)
			}
		}
		rest, window, ok := compressed(o.Payload, o.BigEndian)
		rest, _, named := compressed(rest, o.BigEndian)
		_, ref, of := compressed(rest, o.BigEndian)
		if comm, known := comms[ref]; ok && named && of && known {
			out[window] = comm
		}
	}
	return out
}

// compressed reads a compressed number of 32 bits (OTF2: its length in bytes, then those), and returns what follows.
func compressed(b []byte, bigEndian bool) (rest []byte, value uint64, ok bool) {
	if len(b) == 0 || b[0] > 4 || len(b) <= int(b[0]) {
		return nil, 0, false
	}
	n := int(b[0])
	for i := range n {
		at := n - i
		if bigEndian {
			at = 1 + i
		}
		value = value<<8 | uint64(b[at])
	}
	return b[1+n:], value, true
}
