package scaling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
)

// Schema names the JSON document that a Scaling is.
const Schema = "tracekit.scaling/1"

// A Mode is what stays the same from run to run.
type Mode string

// The modes. Auto is detected: strong if the work of all ranks together stays nearer to what it
// is in the smallest run than its work for each rank does.
const (
	Auto   Mode = "auto"
	Strong Mode = "strong" // the problem: twice the ranks have half the work each
	Weak   Mode = "weak"   // the work of a rank: twice the ranks solve twice the problem
)

// Options says how runs are compared.
type Options struct {
	Mode Mode // "" is Auto
	At   int  // number of processes that places are predicted for; 0: twice the most of the runs
	Jobs int  // places modelled at a time; below 1: one per processor
}

// A Scaling is how a program scales, and the document that `tracekit scaling --json` prints. A
// key that is absent is not known: no hardware counters, one size only, runs of different programs.
type Scaling struct {
	Schema     string       `json:"schema"` // always Schema
	Mode       Mode         `json:"mode,omitempty"`
	Detected   bool         `json:"mode_detected"` // Mode was not asked for
	Comparable Comparable   `json:"comparable"`
	Runs       []Run        `json:"runs"`  // ascending by size, those of one size as they were given
	Sizes      []Size       `json:"sizes"` // ascending: the mean over the runs of each size
	At         int          `json:"at,omitempty"`
	Runtime    *PlaceModel  `json:"runtime,omitempty"`
	Models     []PlaceModel `json:"models"`             // of the time of a process in the mean, the largest at At first
	Unmodelled []PlaceRow   `json:"unmodelled"`         // of fewer than three sizes, the heaviest in the largest run first
	Overhead   *Overheads   `json:"overhead,omitempty"` // of runs that were analyzed with it
	Notes      []string     `json:"notes,omitempty"`    // what is missing and why
}

// Comparable says whether results may be compared, and why not, or with what reserve.
type Comparable struct {
	Alike   bool     `json:"alike"`
	Reasons []string `json:"reasons"`
}

// A Run is one run.
type Run struct {
	Path      string `json:"path"`
	Processes int    `json:"processes"`
	Threads   int    `json:"threads"` // of all processes
	RuntimeNs int64  `json:"runtime_ns"`
	Factors
}

// A Size is what the runs of one size have in common: their means. RuntimeSpread is the standard
// deviation of their run times divided by the mean, absent for one run.
type Size struct {
	Processes     int      `json:"processes"`
	Threads       int      `json:"threads"`
	Runs          int      `json:"runs"`
	RuntimeNs     int64    `json:"runtime_ns"`
	RuntimeSpread *float64 `json:"runtime_spread,omitempty"`
	Factors
}

// Factors are the rows of BSC's modelfactors (DEFINITIONS 2.6 and 2.9), fractions. The
// scalabilities, the global efficiency and the speedup refer to the smallest size.
//
//	parallel = load balance · communication, of processes with one thread each, else
//	parallel = process · thread; process = load balance · communication
//	communication = serialization · transfer
//	global = parallel · computation scalability
//	computation = instruction · IPC · frequency scalability, where counters see all useful time
type Factors struct {
	Speedup                 *float64 `json:"speedup,omitempty"`
	GlobalEfficiency        *float64 `json:"global_efficiency,omitempty"`
	ParallelEfficiency      *float64 `json:"parallel_efficiency,omitempty"`
	ProcessEfficiency       *float64 `json:"process_efficiency,omitempty"` // with ThreadEfficiency: of processes with several threads
	ThreadEfficiency        *float64 `json:"thread_efficiency,omitempty"`
	LoadBalance             *float64 `json:"load_balance,omitempty"`
	CommunicationEfficiency *float64 `json:"communication_efficiency,omitempty"`
	SerializationEfficiency *float64 `json:"serialization_efficiency,omitempty"`
	TransferEfficiency      *float64 `json:"transfer_efficiency,omitempty"`
	ComputationScalability  *float64 `json:"computation_scalability,omitempty"`
	IPCScalability          *float64 `json:"ipc_scalability,omitempty"`
	InstructionScalability  *float64 `json:"instruction_scalability,omitempty"`
	FrequencyScalability    *float64 `json:"frequency_scalability,omitempty"`
	IPC                     *float64 `json:"ipc,omitempty"`           // instructions per cycle in useful time
	FrequencyGHz            *float64 `json:"frequency_ghz,omitempty"` // cycles in useful time
	// Σ over ranks, their threads together where the trace tells what these do
	UsefulNs     *int64   `json:"useful_ns,omitempty"`
	Instructions *float64 `json:"instructions,omitempty"` // in useful time, Σ over ranks
}

// New compares runs, at least one, in any order. The error is that of ctx.
func New(ctx context.Context, analyses []*analysis.Result, opts Options) (*Scaling, error) {
	analyses = slices.Clone(analyses)
	slices.SortStableFunc(analyses, func(a, b *analysis.Result) int {
		return cmp.Or(cmp.Compare(a.Trace.Processes, b.Trace.Processes), cmp.Compare(threads(a), threads(b)))
	})
	s := &Scaling{Schema: Schema, Comparable: samePrograms(analyses), Models: []PlaceModel{}, Unmodelled: []PlaceRow{}}
	var bySize [][]*analysis.Result
	for i, a := range analyses {
		s.Runs = append(s.Runs, runOf(a))
		if i == 0 || !sameSize(analyses[i-1], a) {
			bySize = append(bySize, nil)
		}
		bySize[len(bySize)-1] = append(bySize[len(bySize)-1], a)
	}
	first := 0
	for _, same := range bySize {
		s.Sizes = append(s.Sizes, sizeOf(s.Runs[first:first+len(same)]))
		first += len(same)
	}
	if s.Comparable.Alike {
		s.Overhead = overheads(bySize)
	}
	if s.explain(); !s.Comparable.Alike || len(s.Sizes) < 2 {
		return s, nil
	}
	s.Mode, s.Detected = opts.Mode, false
	if s.Mode == "" || s.Mode == Auto {
		s.Mode, s.Detected = s.detect(), true
	}
	s.scale()
	return s, s.model(ctx, bySize, opts)
}

func sameSize(a, b *analysis.Result) bool {
	return a.Trace.Processes == b.Trace.Processes && threads(a) == threads(b)
}

// threads returns the number of threads of all processes.
func threads(a *analysis.Result) int {
	if a.Threads != nil {
		return a.Threads.Threads
	}
	n := a.Trace.Processes
	if a.Efficiency != nil && a.Efficiency.WorkerThreads != nil {
		n += a.Efficiency.WorkerThreads.Threads
	}
	return n
}

func runOf(a *analysis.Result) Run {
	r := Run{Path: a.Trace.Path, Processes: a.Trace.Processes, Threads: threads(a), RuntimeNs: a.Trace.DurationNs}
	if e := a.Efficiency; e != nil {
		r.RuntimeNs = e.RuntimeNs
		r.ParallelEfficiency, r.LoadBalance, r.CommunicationEfficiency = e.ParallelEfficiency, e.LoadBalance, e.CommunicationEfficiency
		r.SerializationEfficiency, r.TransferEfficiency = e.SerializationEfficiency, e.TransferEfficiency
		var useful int64
		for _, u := range e.UsefulNs {
			useful += u
		}
		r.UsefulNs = &useful
	}
	if t := a.Threads; t != nil {
		r.ParallelEfficiency, r.ProcessEfficiency, r.ThreadEfficiency = t.Efficiency.Parallel, t.Efficiency.Process, t.Efficiency.Thread
		r.UsefulNs = &t.UsefulNs
	}
	if c := a.Counters; c != nil {
		r.Instructions, r.IPC, r.FrequencyGHz = c.Instructions, c.IPC, c.FrequencyGHz
	}
	return r
}

// sizeOf takes the means of runs of one size. What one of them does not know has none.
func sizeOf(runs []Run) Size {
	s := Size{Processes: runs[0].Processes, Threads: runs[0].Threads, Runs: len(runs), Factors: runs[0].Factors}
	var times []float64
	for i := range runs {
		times = append(times, float64(runs[i].RuntimeNs))
	}
	mean, deviation := meanOf(times)
	if s.RuntimeNs = int64(math.Round(mean)); len(runs) > 1 && mean > 0 {
		s.RuntimeSpread = numbers.Known(deviation / mean)
	}
	for _, at := range []func(*Factors) **float64{
		func(f *Factors) **float64 { return &f.ParallelEfficiency }, func(f *Factors) **float64 { return &f.LoadBalance },
		func(f *Factors) **float64 { return &f.CommunicationEfficiency }, func(f *Factors) **float64 { return &f.SerializationEfficiency },
		func(f *Factors) **float64 { return &f.ProcessEfficiency }, func(f *Factors) **float64 { return &f.ThreadEfficiency },
		func(f *Factors) **float64 { return &f.TransferEfficiency }, func(f *Factors) **float64 { return &f.IPC },
		func(f *Factors) **float64 { return &f.FrequencyGHz }, func(f *Factors) **float64 { return &f.Instructions },
	} {
		*at(&s.Factors) = meanOver(runs, func(r *Run) *float64 { return *at(&r.Factors) })
	}
	useful := meanOver(runs, func(r *Run) *float64 {
		if r.UsefulNs == nil {
			return nil
		}
		return numbers.Known(float64(*r.UsefulNs))
	})
	if s.UsefulNs = nil; useful != nil {
		ns := int64(math.Round(*useful))
		s.UsefulNs = &ns
	}
	return s
}

// meanOver returns the mean of what all runs know, else nil.
func meanOver(runs []Run, of func(*Run) *float64) *float64 {
	var values []float64
	for i := range runs {
		v := of(&runs[i])
		if v == nil {
			return nil
		}
		values = append(values, *v)
	}
	mean, _ := meanOf(values)
	return numbers.Known(mean)
}

// meanOf returns the mean of at least one value, and their standard deviation.
func meanOf(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(1, len(values)-1)))
}

// quotient returns a/b, nil if one is not known or b is 0.
func quotient(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return numbers.Known(*a / *b)
}

// work is how much there is to do: instructions if all sizes count them, else useful time, else
// nothing that is known.
func (s *Scaling) work(size int) *float64 {
	counted, useful := true, true
	for i := range s.Sizes {
		counted, useful = counted && s.Sizes[i].Instructions != nil, useful && s.Sizes[i].UsefulNs != nil
	}
	switch f := &s.Sizes[size].Factors; {
	case counted:
		return f.Instructions
	case useful:
		return numbers.Known(float64(*f.UsefulNs))
	}
	return numbers.Known(float64(s.Sizes[size].RuntimeNs) * s.Sizes[size].processors())
}

// processors is the number of threads, or of processes if these have one each.
func (s *Size) processors() float64 { return float64(max(s.Threads, s.Processes)) }

// detect finds the mode.
func (s *Scaling) detect() Mode {
	last := len(s.Sizes) - 1
	growth := quotient(s.work(last), s.work(0))
	if growth == nil || *growth <= 0 || math.Log(*growth) < 0.5*math.Log(s.Sizes[last].processors()/s.Sizes[0].processors()) {
		return Strong
	}
	return Weak
}

// scale fills in what refers to the smallest size, of sizes and of runs.
func (s *Scaling) scale() {
	reference := s.Sizes[0]
	for i := range s.Sizes {
		size := &s.Sizes[i]
		size.refer(&reference, s.Mode, size.processors(), float64(size.RuntimeNs))
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		r.refer(&reference, s.Mode, float64(max(r.Threads, r.Processes)), float64(r.RuntimeNs))
	}
}

// refer computes the scalabilities of DEFINITIONS 2.9. In weak scaling the reference does as many
// times the work as there are processors more.
func (f *Factors) refer(reference *Size, mode Mode, processors, runtime float64) {
	more := 1.0
	if mode == Weak {
		more = processors / reference.processors()
	}
	times := func(x *float64) *float64 {
		if x == nil {
			return nil
		}
		return numbers.Known(*x * more)
	}
	if runtime > 0 {
		f.Speedup = numbers.Known(float64(reference.RuntimeNs) / runtime * more)
	}
	if reference.UsefulNs != nil && f.UsefulNs != nil && *f.UsefulNs > 0 {
		f.ComputationScalability = numbers.Known(float64(*reference.UsefulNs) / float64(*f.UsefulNs) * more)
	}
	f.InstructionScalability = times(quotient(reference.Instructions, f.Instructions))
	f.IPCScalability = quotient(f.IPC, reference.IPC)
	f.FrequencyScalability = quotient(f.FrequencyGHz, reference.FrequencyGHz)
	if f.ParallelEfficiency != nil && f.ComputationScalability != nil {
		f.GlobalEfficiency = numbers.Known(*f.ParallelEfficiency * *f.ComputationScalability)
	}
}

// explain notes what is missing.
func (s *Scaling) explain() {
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(s.Runs) == 1:
		note("one run only: nothing to compare it with; give runs of several sizes")
	case len(s.Sizes) == 1:
		note("all runs have %d processes: they are repetitions, and say nothing about other sizes", s.Sizes[0].Processes)
	case s.Comparable.Alike && len(s.Sizes) < leastSizes:
		note("two sizes: a model of growth needs %d at least", leastSizes)
	case s.Comparable.Alike && len(s.Sizes) < trustedSizes:
		note("%d sizes: models of growth are a guess; trust them from %d sizes on", len(s.Sizes), trustedSizes)
	}
	var uncounted, without []string
	for i := range s.Runs {
		if s.Runs[i].Instructions == nil || s.Runs[i].IPC == nil {
			uncounted = append(uncounted, words.TraceName(s.Runs[i].Path))
		}
		if s.Runs[i].UsefulNs == nil {
			without = append(without, words.TraceName(s.Runs[i].Path))
		}
	}
	if len(uncounted) > 0 {
		note("no hardware counters of instructions and cycles in useful time in %s: without them there is no IPC, and no instruction, IPC "+
			"and frequency scalability", some(uncounted))
	}
	if len(without) > 0 {
		note("nobody calls MPI in %s, and threads do not tell when they work: there are no efficiencies", some(without))
	}
}

// some names the first few of a list.
func some(names []string) string {
	const most = 3
	text := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
