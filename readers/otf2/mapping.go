package otf2

import (
	"errors"
	"fmt"
	"math"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

const (
	localMappingTable = 5
	localClockOffset  = 6
)

// localDefs is what the reader uses of a location's definition file.
type localDefs struct {
	maps    [mappingTypes]*idMap
	offsets []trace.ClockOffset
}

// An idMap maps a location's identifiers to the global ones. Identifiers that it does not
// hold map to themselves.
type idMap struct {
	dense  []uint64
	sparse map[uint64]uint64
}

func (m *idMap) get(local uint64) uint64 {
	if m == nil {
		return local
	}
	if m.sparse != nil {
		if g, ok := m.sparse[local]; ok {
			return g
		}
		return local
	}
	if local < uint64(len(m.dense)) {
		return m.dense[local]
	}
	return local
}

var (
	errMapMode  = errors.New("a mapping table is neither dense nor sparse")
	errMapOrder = errors.New("a sparse mapping table is not sorted")
)

// parseIDMap reads the mapping of a MappingTable record (section 6 of the format).
func parseIDMap(c *wire.Cursor) *idMap {
	n, mode, m := compressed(c, 8), c.Uint8(), new(idMap)
	switch mode {
	case 0:
		m.dense = make([]uint64, c.Count(n, 1))
		for i := range m.dense {
			m.dense[i] = compressed(c, 8)
		}
	case 1:
		m.sparse = make(map[uint64]uint64)
		last := uint64(0)
		for i := range c.Count(n, 2) {
			local, global := compressed(c, 8), compressed(c, 8)
			if i > 0 && local <= last {
				c.Fail(errMapOrder)
				break
			}
			m.sparse[local], last = global, local
		}
	default:
		c.Fail(errMapMode)
	}
	return m
}

// readLocalDefs reads a location's definition file. Local definitions of other kinds are
// read over: their unified form stands in the global file.
func readLocalDefs(file *wire.File, chunkSize uint64, location trace.LocationID, l *trace.Ledger) *localDefs {
	defs := new(localDefs)
	fr := newRawRecords(file, int64(chunkSize), false)
	for rec, ok := fr.next(); ok; rec, ok = fr.next() {
		at := trace.Place{Location: location, File: file.Name(), Offset: rec.offset}
		c := &wire.Cursor{Data: rec.payload, BigEndian: rec.bigEndian}
		switch {
		case rec.id == localMappingTable:
			defs.addMap(c, at, l)
		case rec.id == localClockOffset:
			defs.addOffset(c, at, l)
		case localRecords()[rec.id].name == "":
			l.Add(trace.CodeUnknownDefinition, at, localRecords().recordName(rec.id))
		}
	}
	noteEnd(l, fr, location, file.Name())
	return defs
}

func (d *localDefs) addMap(c *wire.Cursor, at trace.Place, l *trace.Ledger) {
	typ := c.Uint8()
	if typ >= uint8(mappingTypes) && c.Err == nil {
		return // a table of a newer version
	}
	m := parseIDMap(c)
	switch {
	case c.Err != nil:
		l.Add(trace.CodeBadDefinition, at, "MappingTable: "+c.Err.Error())
	case d.maps[typ] != nil:
		l.Add(trace.CodeDuplicateDefinition, at, "MappingTable of "+spaceNames[typ])
	default:
		d.maps[typ] = m
	}
}

func (d *localDefs) addOffset(c *wire.Cursor, at trace.Place, l *trace.Ledger) {
	o := trace.ClockOffset{Time: int64(c.Uint64()), Offset: int64(compressed(c, 8)), Deviation: math.Float64frombits(c.Uint64())}
	switch n := len(d.offsets); {
	case c.Err != nil:
		l.Add(trace.CodeBadDefinition, at, "ClockOffset: "+c.Err.Error())
	case n > 0 && o.Time <= d.offsets[n-1].Time:
		l.Add(trace.CodeBadClockOffset, at, fmt.Sprintf("time %d after %d", o.Time, d.offsets[n-1].Time))
	default:
		d.offsets = append(d.offsets, o)
	}
}

// An idTable makes the identifiers of one space dense, in order of definition.
type idTable struct {
	dense  []uint32          // by identifier; trace.None: not defined
	sparse map[uint64]uint32 // identifiers that would make dense too large
	n      uint32            // number of identifiers
}

// add defines an identifier; fresh is false if it was defined before.
func (t *idTable) add(ref uint64) (id uint32, fresh bool) {
	if id := t.get(ref); id != trace.None {
		return id, false
	}
	id = t.n
	t.n++
	if ref >= 4*uint64(id)+4096 {
		if t.sparse == nil {
			t.sparse = make(map[uint64]uint32)
		}
		t.sparse[ref] = id
		return id, true
	}
	for uint64(len(t.dense)) <= ref {
		t.dense = append(t.dense, trace.None)
	}
	t.dense[ref] = id
	return id, true
}

// alias lets a defined identifier stand for another dense one.
func (t *idTable) alias(ref uint64, id uint32) {
	if ref < uint64(len(t.dense)) && t.dense[ref] != trace.None {
		t.dense[ref] = id
	} else {
		t.sparse[ref] = id
	}
}

// get returns the dense identifier, trace.None if ref is not defined.
func (t *idTable) get(ref uint64) uint32 {
	if ref < uint64(len(t.dense)) && t.dense[ref] != trace.None {
		return t.dense[ref]
	}
	if id, ok := t.sparse[ref]; ok {
		return id
	}
	return trace.None
}
