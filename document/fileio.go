package document

import "tracekit/document/field"

// FileIO says what a program does to files. Times are sums over all locations.
type FileIO struct {
	Calls  uint64 `json:"calls"`
	TimeNs int64  `json:"time_ns"` // in calls that no other such call encloses
	// on the threads that speak for their ranks, without what the calls call that is no such call
	MainNs     int64         `json:"main_threads_ns"`
	MainMost   field.Extreme `json:"main_thread_most"` // of that, the rank with the most
	ReadBytes  uint64        `json:"read_bytes"`
	WriteBytes uint64        `json:"write_bytes"`
	Min        field.Extreme `json:"min"` // of ranks: the least time
	Max        field.Extreme `json:"max"`
	Operations []IOOperation `json:"operations"`
	Files      []IOFile      `json:"files"`
	Sizes      []IOSizes     `json:"sizes"` // of accesses, ascending; reads first
}

// An IOOperation sums the calls of one function.
type IOOperation struct {
	Operation string   `json:"operation"`
	Kind      string   `json:"kind"` // read, write or other
	Calls     uint64   `json:"calls"`
	TimeNs    int64    `json:"time_ns"`
	MinNs     int64    `json:"min_ns"`
	MeanNs    int64    `json:"mean_ns"`
	MaxNs     int64    `json:"max_ns"`
	Sized     uint64   `json:"sized"` // calls of which the bytes are known
	Bytes     uint64   `json:"bytes"`
	Bandwidth *float64 `json:"bytes_per_s"` // of the calls of which the bytes are known; null: there are none
}

// An IOFile sums the calls that work on one file.
type IOFile struct {
	File       string   `json:"file"`
	Ranks      int      `json:"ranks"`
	Calls      uint64   `json:"calls"`
	TimeNs     int64    `json:"time_ns"`
	Reads      uint64   `json:"reads"`
	Writes     uint64   `json:"writes"`
	ReadBytes  uint64   `json:"read_bytes"`
	WriteBytes uint64   `json:"write_bytes"`
	Bandwidth  *float64 `json:"bytes_per_s"` // in reads and writes; null: no bytes are known
}

// IOSizes is a class of accesses: reads or writes that move From to To-1 bytes.
type IOSizes struct {
	Kind   string `json:"kind"`
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	Calls  uint64 `json:"calls"`
	Bytes  uint64 `json:"bytes"`
	TimeNs int64  `json:"time_ns"`
}
