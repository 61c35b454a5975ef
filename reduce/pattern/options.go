package pattern

import (
	"fmt"
	"strings"
	"time"

	"tracekit/trace"
)

// Options says what repeats, and what is kept of it. The zero value is the default.
type Options struct {
	Marker   Marker // where intervals begin
	Keep     int    // first instances of each pattern that stay; 0: DefaultKeep
	Alike    Alike  // which intervals are instances of one pattern
	Distance uint64 // with ByDistance: how far two instances may be apart

	Times     Times // what is kept of when instances that are cut began
	Jobs      int   // locations read at the same time; below 1: one per processor
	Intervals int   // most that a run is cut into; 0: maxIntervals
}

// DefaultKeep is the number of instances of a pattern that stay: two, so that a period can be
// measured (docs/DEFINITIONS.md 1.3).
const DefaultKeep = 2

// maxIntervals is how many intervals a run is cut into at most; what comes behind them stays.
const maxIntervals = 1 << 22

// Alike says which intervals are instances of one pattern.
type Alike uint8

// The tests of docs/DEFINITIONS.md 1.3. In both the instances of a pattern are alike on every
// rank.
const (
	// ByCalls: as many calls of each call site, with the same partners relative to the rank
	// itself and the same sizes. An instance is cut only if all of its records come in the
	// order of one that stays, so that it can be given back.
	ByCalls Alike = iota
	// ByDistance, the paper's test: the numbers of calls of each MPI function differ, in sum,
	// by Options.Distance at most. What is given back is the first instance of the pattern.
	ByDistance
)

// Times says what is kept of when the instances that are cut began.
type Times uint8

// The kinds of times.
const (
	// AutoTimes takes laws where they are half as long as all times, else all times.
	AutoTimes  Times = iota
	LawTimes         // laws where they are shorter
	ExactTimes       // all times
)

// A Marker says where the intervals of a rank begin: the zero value, at the call site that
// lets most of the run be cut, which is found from the trace.
type Marker struct {
	Kind   MarkerKind
	Region string             // OnRegion: its name
	Op     trace.CollectiveOp // OnCollective
	Ns     int64              // OnTime
	site   uint64             // OnSite: which was found
}

// A MarkerKind says what intervals begin with.
type MarkerKind uint8

// The kinds of marker.
const (
	OnSite       MarkerKind = iota // a call site, found from the trace
	OnRegion                       // each visit of a region
	OnCollective                   // each call of a collective operation
	OnTime                         // an interval is that long
)

// ParseMarker reads a marker: "" or "auto"; a duration such as 10ms; an MPI collective, such
// as MPI_Allreduce; or else the name of a region.
func ParseMarker(text string) (Marker, error) {
	if text == "" || text == "auto" {
		return Marker{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d <= 0 {
			return Marker{}, fmt.Errorf("--repeating-marker %s: want a time above zero", text)
		}
		return Marker{Kind: OnTime, Ns: int64(d)}, nil
	}
	if f := trace.MPIFunctionOf(text); f.Class == trace.ClassColl || f.Class == trace.ClassIcoll {
		return Marker{Kind: OnCollective, Op: f.Op}, nil
	}
	return Marker{Kind: OnRegion, Region: text}, nil
}

// String returns the marker for people.
func (m Marker) String() string {
	switch m.Kind {
	case OnRegion:
		return m.Region
	case OnCollective:
		return "MPI_" + m.Op.String()
	case OnTime:
		return strings.TrimSuffix(time.Duration(m.Ns).String(), "0s")
	}
	return "the call site that lets most be cut"
}

func (o Options) withDefaults() Options {
	if o.Keep < 1 {
		o.Keep = DefaultKeep
	}
	if o.Intervals < 1 {
		o.Intervals = maxIntervals
	}
	return o
}
