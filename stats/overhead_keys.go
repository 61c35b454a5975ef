package stats

import (
	"context"
	"iter"

	"tracekit/stats/fit"
	"tracekit/trace"
)

// A commKey is what calls must share to be comparable.
type commKey struct {
	op        uint32 // index into overheads.ops
	processes uint32
	bytes     uint64
}

// Bounds of memory: samples of at most 2^14 distinct durations (16 bytes each) for a
// thousand keys; what comes later is kept by size class, of which there are about 60 for
// each operation and number of processes.
const (
	sampleLimit = 1 << 14
	keyLimit    = 1 << 10
)

// mostBytes keeps sums over calls from overflowing, whatever a trace claims.
const mostBytes = 1 << 40

// A commCall is a communication event: a call that communicates, starts or completes a
// request, synchronises or probes, as far as it is selected.
type commCall struct {
	*trace.Call
	row    uint32
	last   rowEnd // of its sends and receives
	counts bool   // it is selected and a communication event; else only the above is known
	key    commKey
	ticks  int64    // duration
	time   int64    // duration in ns
	wait   int64    // of which waiting, in ns
	cause  CallWait // of the wait
	whole  bool     // neither clipped by the selection nor never left
}

// callChunk is the number of calls that commCalls reads at a time.
const callChunk = 256

// commCalls iterates over the calls of a location in order. What it yields is valid until
// the next one.
func (o *overheads) commCalls(l trace.LocationID) iter.Seq[*commCall] {
	return func(yield func(*commCall) bool) {
		calls, sizes, waits := o.t.Calls[l], o.sizes[l], o.calls[l]
		rows, bytes, index := make([]trace.Call, callChunk+1), make([]uint64, callChunk), make([]uint32, callChunk)
		ends := rowEnd{o.t.Sends[l].Len(), o.t.Recvs[l].Len()}
		e := new(commCall)
		for first := 0; first < calls.Len(); first += callChunk {
			n := calls.Copy(rows, first) // with the first one of the next chunk
			sizes.Copy(bytes, first)
			waits.index.Copy(index, first)
			for k := range min(n, callChunk) {
				e.Call, e.row, e.last = &rows[k], uint32(first+k), ends
				if k+1 < n {
					e.last = rowEnd{int(rows[k+1].FirstSend), int(rows[k+1].FirstRecv)}
				}
				if e.cause = (CallWait{}); index[k] > 0 {
					e.cause = waits.rows.Ptr(int(index[k] - 1)).CallWait
				}
				o.describe(e, l, bytes[k])
				if !yield(e) {
					return
				}
			}
		}
	}
}

// describe fills in what is known of a call with that many bytes.
func (o *overheads) describe(e *commCall, l trace.LocationID, bytes uint64) {
	c := e.Call
	e.wait, e.whole = 0, false
	if e.counts = o.counts(c) && o.scope.overlaps(l, c.Enter, c.Leave); !e.counts {
		return
	}
	e.key = commKey{o.op[c.Region], 2, min(bytes, mostBytes)}
	if c.Coll != trace.None {
		e.key.processes = o.t.Collectives.Ptr(int(c.Coll)).Size
	}
	e.ticks = o.scope.clip(c.Enter, c.Leave)
	e.time = o.rate.ns(e.ticks)
	if w := e.cause.Time; w > 0 {
		e.wait = min(e.time, o.rate.ns(o.scope.clip(c.Enter, c.Enter+w)))
	}
	e.whole = !c.Open && e.ticks == c.Leave-c.Enter
}

// counts reports whether a call is a communication event. MPI_Init and MPI_Finalize run
// once and have no law.
func (o *overheads) counts(c *trace.Call) bool {
	if int(c.Region) >= len(o.classes) || int(c.Path) >= len(o.paths) || c.Class == trace.ClassInit || c.Class == trace.ClassFinalize {
		return false
	}
	return o.classes[c.Region] != trace.ClassNone
}

// sample collects the durations of all keys.
func (o *overheads) sample(ctx context.Context) error {
	for l := range o.t.Calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		for e := range o.commCalls(trace.LocationID(l)) {
			if !e.whole {
				continue
			}
			wait := e.wait
			if o.withWaits {
				wait = 0
			}
			o.add(e.Path, e.key, timedCall{e.Enter, e.time - wait})
		}
	}
	return nil
}

// A timedCall is a duration in ns of a call that begins at a tick.
type timedCall struct{ enter, time int64 }

// A memo is what was last looked up for a call path, whose calls mostly share a key.
type memo[T any] struct {
	key   commKey
	known bool
	value T
}

// add counts a call in the sample of its key.
func (o *overheads) add(path trace.PathID, k commKey, c timedCall) {
	last := &o.sampled[path]
	if !last.known || last.key != k {
		*last = memo[*fit.Sample]{k, true, o.sampleOf(k)}
	}
	s := last.value
	s.Add(c.time)
	if s.Len() <= int64(o.keep) {
		name := o.fitKey(k)
		o.order[name] = append(o.order[name], c)
	}
}

// sampleOf returns the sample of a key or, where keys are too many, of its size class.
func (o *overheads) sampleOf(k commKey) *fit.Sample {
	s := o.samples[k]
	if s == nil && len(o.samples) >= keyLimit {
		k.bytes = uint64(fit.SizeClass(int64(k.bytes)))
		s = o.samples[k]
	}
	if s == nil {
		s = &fit.Sample{Limit: sampleLimit}
		o.samples[k] = s
	}
	return s
}

// named returns the samples under the names of their operations.
func (o *overheads) named() map[fit.Key]*fit.Sample {
	out := make(map[fit.Key]*fit.Sample, len(o.samples))
	for k, s := range o.samples {
		out[o.fitKey(k)] = s
	}
	return out
}

func (o *overheads) fitKey(k commKey) fit.Key {
	return fit.Key{Operation: o.ops[k.op], Processes: int(k.processes), Bytes: int64(k.bytes)}
}

// A limit is where necessary time ends for calls of one key.
type limit struct {
	tMax     int64 // ns
	transfer int64 // ns by which it exceeds that of the smallest size of its class
	group    int   // index into groups; -1: no call of the key was sampled
}

// limitAt returns the limit for a call of a path.
func (o *overheads) limitAt(path trace.PathID, k commKey) limit {
	last := &o.limited[path]
	if !last.known || last.key != k {
		*last = memo[limit]{k, true, o.limit(k)}
	}
	return last.value
}

func (o *overheads) limit(k commKey) limit {
	if x, ok := o.limits[k]; ok {
		return x
	}
	x := o.newLimit(o.fitKey(k))
	if len(o.limits) < 64*keyLimit {
		o.limits[k] = x
	}
	return x
}

// newLimit asks the profile that was given, or else the trace's own. A key of which the
// trace has no whole call has no overhead that we could know of.
func (o *overheads) newLimit(k fit.Key) limit {
	smallest := k
	smallest.Bytes = fit.SizeClass(k.Bytes)
	group, ok := o.index[smallest]
	if !ok {
		return limit{tMax: never, group: -1}
	}
	p := o.profileFor(k.Operation)
	t, _ := p.TMax(k)
	least, _ := p.TMax(smallest)
	return limit{tMax: t, transfer: max(0, t-least), group: group}
}

// profileFor returns the profile that decides about an operation.
func (o *overheads) profileFor(operation string) *fit.Profile {
	if p := o.opts.Profile; p != nil {
		if t, _ := p.TMax(fit.Key{Operation: operation}); t >= 0 {
			return p
		}
	}
	return &o.own
}
