package measurement

// Used returns how much of a buffer is used after so many records, and how often it was flushed.
func (c *Costs) Used(records uint64) (used int64, flushes uint64) {
	if c.Buffer <= 0 {
		return int64(records) * c.Record, 0
	}
	flushes = records / c.perBuffer()
	return int64(records%c.perBuffer()) * c.Record, flushes
}

// perBuffer returns how many records a buffer takes.
func (c *Costs) perBuffer() uint64 { return uint64(max(c.Buffer/max(c.Record, 1), 1)) }

// An Effect is what records cost the run. The run is longer at least by the larger of two times: what its busiest location needs, and
// what the disk needs for all.
type Effect struct {
	Records uint64   `json:"records"`
	Bytes   uint64   `json:"bytes"`
	Flushes uint64   `json:"flushes"` // during the run, of the location that has the most
	Ns      int64    `json:"time_ns"` // by which the run is longer
	Share   *float64 `json:"share"`   // of the run time; null: that is 0
}

// Effect returns what records cost, of which each location has so many, in a run of so many ns.
func (c *Costs) Effect(records []uint64, ns int64) Effect {
	var e Effect
	most, flushed := 0.0, 0.0
	for _, n := range records {
		_, flushes := c.Used(n)
		e.Records += n
		e.Flushes = max(e.Flushes, flushes)
		most = max(most, float64(n)*c.record()+float64(flushes)*c.Flush)
		flushed += float64(flushes) * float64(c.Buffer)
	}
	e.Bytes = e.Records * uint64(max(c.Record, 0))
	if c.Disk > 0 {
		most = max(most, flushed/c.Disk*1e9)
	}
	e.Ns = int64(most)
	if ns > 0 {
		share := float64(e.Ns) / float64(ns)
		e.Share = &share
	}
	return e
}
