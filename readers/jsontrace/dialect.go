package jsontrace

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// The names of tracekit's own dialect, in which nothing of a trace is lost. See the
// package's documentation.
const (
	dialectVersion     = 1
	requestCategory    = "mpi.req"
	collectiveCategory = "mpi.coll"
	recordCategory     = "tracekit"
)

// A header is the member tracekit of the outer object.
//
//	Tracks[l] are pid and tid of location l
//	times are microseconds since Defs.Clock.GlobalOffset with Digits decimals
type header struct {
	Version int         `json:"version"`
	Digits  int         `json:"digits"`
	About   trace.Info  `json:"about"`
	Tracks  [][2]int64  `json:"lanes"`
	Defs    *trace.Defs `json:"defs"`
}

// A dialect reads the events of a file with a header.
type dialect struct {
	header
	scale    uint64 // 10^(6+digits): the unit of the file per second
	location map[[2]int64]trace.LocationID
	byName   map[string]trace.RegionID // name, 0, paradigm: the first region of these
	byRaw    map[string]trace.RegionID // the same by the text of the file
	strings  map[string]trace.StringID // the first of each text
	scratch  []byte
	types    []trace.ValueType // scratch
	values   []uint64
}

// An openCall is a region that is entered and not left.
type openCall struct {
	region  trace.RegionID
	context trace.CallingContextID
}

// readDialect reads the header. If it cannot be used, the file is read like any other.
func (f *file) readDialect(value []byte, at int64) {
	d := &dialect{location: make(map[[2]int64]trace.LocationID), byName: make(map[string]trace.RegionID),
		byRaw: make(map[string]trace.RegionID), strings: make(map[string]trace.StringID)}
	var err error
	if size := decoded(value); size > 3*len(value)+headerSpare {
		err = fmt.Errorf("its %d bytes would take %d MB; tracekit did not write this", len(value), size>>20)
	} else {
		err = json.Unmarshal(value, &d.header)
	}
	switch {
	case err != nil:
	case len(f.tracks.list) > 0:
		err = fmt.Errorf("it comes after the events")
	case d.Version != dialectVersion || d.Defs == nil || d.Digits != nanoDigits && d.Digits != picoDigits:
		err = fmt.Errorf("version %d is unknown", d.Version)
	case len(d.Tracks) != len(d.Defs.Locations):
		err = fmt.Errorf("%d tracks of %d locations", len(d.Tracks), len(d.Defs.Locations))
	default:
		err = d.Defs.Check()
	}
	if err != nil {
		f.find(trace.CodeBadDefinition, at, "the member tracekit: "+err.Error())
		return
	}
	d.index()
	f.own = d
}

// headerSpare is the memory, in bytes, that definitions may take beyond three times their text:
// that of those which tracekit writes is about as long as they are in memory.
const headerSpare = 16 << 20

// decoded returns about how many bytes a value takes at most when it is decoded.
func decoded(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := skipString(text, i+1)
			if end < 0 {
				return n
			}
			if after := skipSpace(text, end); after == len(text) || text[after] != ':' {
				n += 16
			}
			i = end - 1
		case '{':
			n += 128
		case '[':
			n += 24
		case ',':
			n += 4
		}
	}
	return n
}

func (d *dialect) index() {
	d.scale = 1e6
	for range d.Digits {
		d.scale *= 10
	}
	for i, l := range d.Tracks {
		d.location[l] = trace.LocationID(i)
	}
	for i, s := range d.Defs.Strings {
		if _, ok := d.strings[s]; !ok {
			d.strings[s] = trace.StringID(i)
		}
	}
	for i := range d.Defs.Regions {
		key := regionText(d.Defs, trace.RegionID(i))
		if _, ok := d.byName[key]; !ok {
			d.byName[key] = trace.RegionID(i)
		}
	}
}

// regionText is what a B says of a region: name and paradigm.
func regionText(defs *trace.Defs, id trace.RegionID) string {
	return defs.RegionName(id) + "\x00" + defs.Regions[id].Paradigm.String()
}

// ticks converts a time of the file.
func (d *dialect) ticks(v int64) int64 {
	if r := d.Defs.Clock.Resolution; r != d.scale {
		neg := v < 0
		if neg {
			v = -v
		}
		hi, lo := bits.Mul64(uint64(v), r)
		lo, carry := bits.Add64(lo, d.scale/2, 0)
		hi += carry
		u := uint64(math.MaxInt64)
		if hi < d.scale {
			q, _ := bits.Div64(hi, lo, d.scale)
			u = min(u, q)
		}
		if v = int64(u); neg {
			v = -v
		}
	}
	return nest.AddTime(v, d.Defs.Clock.GlobalOffset)
}

// assemble finds the track of each location.
func (d *dialect) assemble(f *file) (*trace.Defs, []place) {
	places := make([]place, len(d.Defs.Locations))
	for _, l := range f.tracks.list {
		id, ok := d.location[[2]int64{l.pid.n, l.tid.n}]
		if !ok || l.pid.named || l.tid.named {
			f.ledger.AddN(trace.CodeDanglingReference, l.Stream.Len(),
				trace.Place{Location: trace.None, File: f.path, Offset: -1}, "events of a track that is no location")
			continue
		}
		places[id] = place{file: f, track: l}
		f.ledger.AddN(trace.CodeUnsorted, l.Stream.Late(), trace.Place{Location: id, File: f.path, Offset: -1},
			"in "+d.Defs.String(d.Defs.Locations[id].Name))
	}
	return d.Defs, places
}

// pass delivers the events of a track, which are those of its location.
func (f *file) pass(ctx context.Context, l *track, location trace.LocationID, yield func(*trace.Batch, error) bool) {
	for b, err := range f.set.Spool.Events(ctx, l.Number) {
		if b != nil {
			b.Location = location
		}
		if !yield(b, err) {
			return
		}
	}
}

// describe fills in what the header says of the trace.
func (d *dialect) describe(info *trace.Info) {
	info.Creator, info.Machine, info.Description = d.About.Creator, d.About.Machine, d.About.Description
	info.TraceID = d.About.TraceID
	for k, v := range d.About.Properties {
		info.Properties[k] = v
	}
}
