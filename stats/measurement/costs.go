package measurement

import "slices"

// Costs are what measuring costs. Times are in ns; 0: that costs nothing.
type Costs struct {
	Model    string  `json:"model"`     // the name that it began with; "": none
	Event    float64 `json:"event_ns"`  // a record
	Byte     float64 `json:"byte_ns"`   // a byte of a record that is kept
	Header   float64 `json:"header_ns"` // a message that carries more than the program's data
	Layer    float64 `json:"layer_ns"`  // a message that passes a layer which could sample it
	Draw     float64 `json:"draw_ns"`   // a random number that decides about a message
	Clock    float64 `json:"clock_ns"`  // a reading of the clock that decides about a message
	Sample   float64 `json:"sample_ns"` // a message that is sampled and added to statistics
	Write    float64 `json:"write_ns"`  // a message that is sampled and written
	Limit    int64   `json:"limit_bytes"`
	Baseline float64 `json:"baseline_ns"` // latency of a small message without any of it

	Record int64   `json:"record_bytes"` // of a record
	Buffer int64   `json:"buffer_bytes"` // of a location; 0: never full
	Flush  float64 `json:"flush_ns"`     // of a full buffer, while its location waits
	Disk   float64 `json:"disk_bytes_s"` // that all locations together write in a second; 0: no bound
}

// A Unit is what a cost is given in.
type Unit uint8

// The units.
const (
	Time  Unit = iota // ns
	Bytes             // bytes
	Rate              // bytes per second
)

// A Key is a cost by its name in texts such as event=0.2us.
type Key struct {
	Name string
	Unit Unit
	of   func(*Costs) (*float64, *int64)
}

// Keys are the names of all costs.
var Keys = []Key{
	timeKey("event", func(c *Costs) *float64 { return &c.Event }),
	timeKey("byte", func(c *Costs) *float64 { return &c.Byte }),
	timeKey("header", func(c *Costs) *float64 { return &c.Header }),
	timeKey("layer", func(c *Costs) *float64 { return &c.Layer }),
	timeKey("draw", func(c *Costs) *float64 { return &c.Draw }),
	timeKey("clock", func(c *Costs) *float64 { return &c.Clock }),
	timeKey("sample", func(c *Costs) *float64 { return &c.Sample }),
	timeKey("write", func(c *Costs) *float64 { return &c.Write }),
	timeKey("baseline", func(c *Costs) *float64 { return &c.Baseline }),
	timeKey("flush", func(c *Costs) *float64 { return &c.Flush }),
	sizeKey("limit", func(c *Costs) *int64 { return &c.Limit }),
	sizeKey("record", func(c *Costs) *int64 { return &c.Record }),
	sizeKey("buffer", func(c *Costs) *int64 { return &c.Buffer }),
	{"disk", Rate, func(c *Costs) (*float64, *int64) { return &c.Disk, nil }},
}

func timeKey(name string, of func(*Costs) *float64) Key {
	return Key{name, Time, func(c *Costs) (*float64, *int64) { return of(c), nil }}
}

func sizeKey(name string, of func(*Costs) *int64) Key {
	return Key{name, Bytes, func(c *Costs) (*float64, *int64) { return nil, of(c) }}
}

// Set sets the cost of a key.
func (k Key) Set(c *Costs, v float64) {
	if f, n := k.of(c); f != nil {
		*f = v
	} else {
		*n = int64(v)
	}
}

// models are the costs that papers give, by name, and what else tracekit assumes.
var models = []Costs{
	// Latencies of a ping-pong of 4 bytes: 37.2 µs alone, 3 µs more with the layer, 16 µs more if sampled. The latencies of P-0.01 and P-0.9
	// leave 2.7 µs for drawing, that of T-0.3, which never samples, 1.6 µs for the clock, and 59.9 µs for WRITE of every second message 33.5
	// µs.
	{Model: "photon", Layer: 3_000, Draw: 2_700, Clock: 1_600, Sample: 16_000, Write: 33_500, Limit: 20_000, Baseline: 37_200, Record: 32},
	{Model: "impulse", Header: 3_600, Record: 32},
	{Model: "buffer", Event: 200, Record: 32, Buffer: 16 << 20, Flush: (16 << 20) / 0.1, Disk: 1e9},
}

// unknown are recorders whose documentation gives no times.
var unknown = []string{"scorep", "extrae", "tau", "pytorch", "nsight", "rocprof", "perfetto", "dftracer"}

// Named returns the costs that are known by a name. Known is false of a recorder of which no cost is documented; ok is false of other
// names.
func Named(name string) (c Costs, known, ok bool) {
	for _, m := range models {
		if m.Model == name {
			return m, true, true
		}
	}
	return Costs{Model: name, Record: 32}, false, slices.Contains(unknown, name)
}

// Names returns all names: those with costs, and those of recorders whose costs are not documented.
func Names() (known, undocumented []string) {
	for _, m := range models {
		known = append(known, m.Model)
	}
	return known, unknown
}

// Photon returns the costs of PHOTON's paper.
func Photon() Costs { return must("photon") }

// Assumed returns the costs that stand for recording into buffers: records of 32 bytes and 0.2 µs, buffers of 16 MiB, which a process
// writes at 100 MB/s and all together at 1 GB/s.
func Assumed() Costs { return must("buffer") }

// must returns the costs of a model by its name.
func must(name string) Costs {
	c, known, _ := Named(name)
	if !known {
		panic("measurement: no model " + name)
	}
	return c
}

// Messages reports whether messages cost something.
func (c *Costs) Messages() bool { return c.Header+c.Layer+c.Draw+c.Clock+c.Sample+c.Write > 0 }

// Records reports whether records cost something.
func (c *Costs) Records() bool { return c.Event+c.Byte > 0 || c.Flush > 0 && c.Buffer > 0 }

// record returns what a record costs beside flushes.
func (c *Costs) record() float64 { return c.Event + c.Byte*float64(c.Record) }
