package tkf

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"tracekit/formulae/internal/pack"
	"tracekit/trace"
)

// Counters that a recorder reads at the same moments are locations with equal times. Such a location's blocks have no times; a section
// before them says whose times it has.

// A stepDigest is a hash of the steps of time of a location.
type stepDigest struct {
	hash hash.Hash
	list []byte // of steps that are not in it yet
}

// digestSteps is how many steps are hashed at a time: one alone takes as long as eight.
const digestSteps = 512

func (d *stepDigest) add(step uint64) {
	if d.list = binary.LittleEndian.AppendUint64(d.list, step); len(d.list) == 8*digestSteps {
		d.hash.Write(d.list)
		d.list = d.list[:0]
	}
}

func (d *stepDigest) sum() [sha256.Size]byte {
	d.hash.Write(d.list)
	return [sha256.Size]byte(d.hash.Sum(nil))
}

// sameTimes returns whose times each location has, trace.None: its own. The first one with them has its own; so has the leader, which all
// others need.
func (p *Parts) sameTimes() []trace.LocationID {
	type times struct {
		steps [sha256.Size]byte
		count uint64
	}
	out, first := make([]trace.LocationID, len(p.Of)), make(map[times]trace.LocationID)
	if l := p.head.Leader; l < uint64(len(p.Of)) {
		first[times{p.Of[l].steps, p.Of[l].count}] = trace.LocationID(l)
	}
	for l, x := range p.Of {
		of, known := first[times{x.steps, x.count}]
		switch out[l] = trace.None; {
		case !known:
			first[times{x.steps, x.count}] = trace.LocationID(l)
		case of != trace.LocationID(l) && x.sizes.times > sectionBytes:
			out[l] = of
		}
	}
	return out
}

// writeValues writes blocks of events of a location that has the times of another one: without them.
func (s *sectionWriter) writeValues(l, of uint64, events *blocks) error {
	if err := s.write(sectionTimes, l, binary.AppendUvarint(nil, of)); err != nil {
		return err
	}
	for block := range events.all {
		_, values, _ := divide(block)
		if err := s.write(sectionEvents, l, append([]byte{0}, values...)); err != nil { // no times
			return err
		}
	}
	return nil
}

// readShared reads whose times a location has.
func (s *source) readShared(at section) error {
	block, err := s.load(at)
	if err != nil {
		return err
	}
	of, n := binary.Uvarint(block)
	if n != len(block) || at.owner >= uint64(len(s.same)) || of >= uint64(len(s.same)) || of == at.owner || at.owner == s.head.Leader ||
		s.same[at.owner] != trace.None {
		return s.damaged(at, pack.ErrDamaged)
	}
	s.same[at.owner] = trace.LocationID(of)
	return nil
}
