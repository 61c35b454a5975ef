package spans

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// A reader makes a file of a recording of a table.
type reader struct {
	*table
	f         *recording.File
	starts    map[int64]int64 // of steps; nil: times count from elsewhere
	job       string          // whose rows are read; "": all
	processes map[processKey]*process
	only      *process // where neither rank, dp rank nor stage is known
	lost      uint64   // spans without room for their track
	key       []byte   // of the region at hand
}

// A processKey names a process: by rank, or by dp rank and stage.
type processKey struct {
	byRank        bool
	rank          int64
	dp, stage, tp int64
}

type process struct {
	*recording.Process
	place   [2]int64 // dp rank and stage
	placed  bool     // both are known
	tracks  map[trackKey]*recording.Track
	devices map[int64]*recording.Device
	regions map[string]region
}

// A trackKey names a track of a process: by the device and its stream, or by its name.
type trackKey struct {
	device int64 // -1: none
	name   string
}

// A region is what spans of a name are.
type region struct {
	id   trace.RegionID
	lane string
	op   nest.Operation // of those with a peer
}

// read reads a file.
func read(ctx context.Context, f *recording.File, o Options, starts map[int64]int64) error {
	t, err := open(f.Path, o)
	if err != nil {
		return err
	}
	defer t.file.Close()
	changed := wire.Watch(t.file)
	f.Size, f.Version, f.Table, f.Clock = t.size, t.version, true, "table"
	if len(t.leftOut) > 0 {
		f.Describe("TABLE::LEFT_OUT", []byte(strings.Join(t.leftOut, ", ")))
	}
	if starts != nil {
		f.Describe("TABLE::STEPS", []byte("placed one behind the other"))
	}
	r := &reader{table: t, f: f, starts: starts, processes: make(map[processKey]*process)}
	if t.of[fieldStep] >= 0 { // rows of other tables are of one job
		r.job = o.Job
	}
	err = t.rows(ctx, nil, r.row, func(number int64, err error) { r.bad(number, err, codeOf(err)) })
	f.Changed(changed())
	if r.only != nil && len(r.processes) > 0 {
		f.Ledger.AddN(trace.CodeBadValue, f.Drop(r.only.Process), f.Place(-1), "rows without a rank, in a table of ranks; left out")
	}
	if r.whole() {
		f.Describe(trace.PropertyWorkers, []byte("true"))
	}
	f.Ledger.AddN(trace.CodeLimitExceeded, r.lost, f.Place(-1), "ranks or threads; spans of the last ones are left out")
	return err
}

// bad notes a row, or what begins with it, that is left out.
func (r *reader) bad(number int64, err error, code trace.Code) {
	r.f.Ledger.Add(code, r.f.Place(-1), fmt.Sprintf("row %d: %v", number, err))
}

// attributes are those of numbers, by the columns that have them.
var attributes = [...]struct {
	of field
	id trace.AttributeID
}{
	{fieldStep, recording.AttrStep}, {fieldDP, recording.AttrDP}, {fieldStage, recording.AttrStage},
	{fieldMicroBatch, recording.AttrMicroBatch}, {fieldChunk, recording.AttrChunk}, {fieldModelChunk, recording.AttrModelChunk},
	{fieldSeq, recording.AttrSeq}, {fieldBytes, recording.AttrBytes}, {fieldTP, recording.AttrTP},
}

// row adds a span.
func (r *reader) row(row *row) error {
	if !row.belongs(r.job) {
		return nil
	}
	start, duration, err := row.span()
	name := row.text(fieldName)
	if err == nil && len(name) == 0 {
		err = errName
	} else if column := row.wrong(); err == nil && column != "" {
		err = fmt.Errorf("the %s is no number", strings.ReplaceAll(column, "_", " "))
	}
	if err != nil {
		r.bad(row.number, err, trace.CodeBadValue)
		return nil
	}
	if step, ok := row.integer(fieldStep); ok {
		start += r.starts[step]
	}
	p := r.process(row)
	reg := r.region(p, row, name)
	track := r.track(p, row, reg)
	if track == nil {
		r.lost++
		return nil
	}
	for _, a := range attributes {
		if v, ok := row.integer(a.of); ok && v >= 0 {
			track.Stream.AddAttr(a.id, trace.TypeUint64, uint64(v))
		}
	}
	if group := row.text(fieldGroup); len(group) > 0 {
		track.Stream.AddAttr(recording.AttrGroup, trace.TypeString, uint64(r.f.Text(string(group))))
	}
	var call nest.Call
	if reg.op != nest.OpNone {
		if peer, ok := row.integer(fieldPeer); ok && peer >= 0 && peer < trace.None {
			bytes, _ := row.integer(fieldBytes)
			call = nest.Call{Operation: reg.op, Peer: uint32(peer), Sent: uint64(max(bytes, 0)), Received: uint64(max(bytes, 0))}
		}
	}
	track.Put(start, duration, reg.id, call)
	return nil
}

// process returns the process of a row.
func (r *reader) process(row *row) *process {
	var k processKey
	if k.rank, k.byRank = row.integer(fieldRank); !k.byRank || k.rank < 0 || k.rank >= trace.None {
		dp, hasDP := row.integer(fieldDP)
		stage, hasStage := row.integer(fieldStage)
		tp, hasTP := row.integer(fieldTP)
		if k = (processKey{dp: dp, stage: stage, tp: tp}); !hasDP && !hasStage && !hasTP {
			if r.only == nil {
				r.only = newProcess(r.f.NewProcess("process", 0))
			}
			return r.only
		}
	}
	p := r.processes[k]
	if p == nil {
		if k.byRank {
			p = newProcess(r.f.NewProcess("worker", k.rank))
			p.Rank, p.HasRank = uint32(k.rank), true
			dp, hasDP := row.integer(fieldDP)
			stage, hasStage := row.integer(fieldStage)
			p.place, p.placed = [2]int64{dp, stage}, hasDP && hasStage
		} else {
			name := fmt.Sprintf("dp %d, stage %d", k.dp, k.stage)
			if row.at[fieldTP] >= 0 {
				name += fmt.Sprintf(", tp %d", k.tp)
			}
			p = newProcess(r.f.NewProcess(name, k.stage<<48|k.dp&0xffffffff<<16|k.tp&0xffff))
		}
		if r.f.Room() {
			r.processes[k] = p
		}
	}
	return p
}

// whole reports whether the ranks of the table are one at each dp rank and stage, and as far apart: those between are further devices of
// the same workers.
func (r *reader) whole() bool {
	places, dps, stages := make(map[[2]int64]bool), make(map[int64]bool), make(map[int64]bool)
	ranks := make([]int64, 0, len(r.processes))
	for k, p := range r.processes {
		if !p.placed || places[p.place] {
			return false
		}
		places[p.place], dps[p.place[0]], stages[p.place[1]] = true, true, true
		ranks = append(ranks, k.rank)
	}
	slices.Sort(ranks)
	for i := range ranks {
		if ranks[0] != 0 || ranks[i] != int64(i)*ranks[min(1, len(ranks)-1)] {
			return false
		}
	}
	return len(ranks) > 1 && len(places) == len(dps)*len(stages)
}

func newProcess(p *recording.Process) *process {
	p.Works = true
	return &process{Process: p, tracks: make(map[trackKey]*recording.Track), devices: make(map[int64]*recording.Device),
		regions: make(map[string]region)}
}

// regionsKept bounds the regions that a process finds by their names without looking at these.
const regionsKept = 1 << 12

// region returns the region of a name.
func (r *reader) region(p *process, row *row, name []byte) region {
	category := row.text(fieldCategory)
	_, onDevice := row.integer(fieldDevice)
	key := name
	if len(category) > 0 || onDevice || row.at[fieldPeer] >= 0 {
		r.key = append(append(append(append(r.key[:0], name...), 0), category...), 0)
		r.key = strconv.AppendBool(r.key, onDevice)
		key = r.key
	}
	if reg, ok := p.regions[string(key)]; ok {
		return reg
	}
	text := wire.CutName(string(name))
	if row.at[fieldStep] >= 0 {
		text = operation(text)
	}
	reg := region{lane: laneOf(text)}
	what := recording.Function
	what.Category = strings.ToValidUTF8(wire.CutName(string(category)), "\uFFFD")
	switch {
	case onDevice && strings.HasPrefix(strings.ToLower(text), "memcpy"):
		what = recording.Copy(trace.ParadigmUnknown)
	case onDevice && strings.HasPrefix(strings.ToLower(text), "memset"):
		what = recording.Memset(trace.ParadigmUnknown)
	case onDevice:
		what = recording.Kernel(trace.ParadigmUnknown)
	}
	if row.at[fieldPeer] >= 0 {
		reg.op = messageOf(text)
	}
	if reg.op != nest.OpNone {
		reg.id = r.f.Communicator(text, what, reg.op)
	} else {
		reg.id = r.f.Region(text, what)
	}
	if len(p.regions) < regionsKept && len(key) <= wire.NameLimit {
		p.regions[string(key)] = reg
	}
	return reg
}

// separators are what names of operations are parted by.
var separators = strings.NewReplacer("-", "", "_", "", " ", "", ".", "", ":", "")

// passes are other names of computations.
var passes = map[string]int{"forward": 0, "fwd": 0, "forwardpass": 0, "forwardstep": 0, "backward": 1, "bwd": 1, "backwardpass": 1,
	"backwardstep": 1, "wgrad": 2, "weightgrad": 2, "optimizerstep": 3}

// operation returns the name of an operation of a training step that a name stands for, in any case and with any separators; else the
// name itself.
func operation(name string) string {
	plain := separators.Replace(strings.ToLower(name))
	for _, known := range trace.TrainingOperations {
		if separators.Replace(known) == plain {
			return known
		}
	}
	if i, ok := passes[plain]; ok {
		return trace.TrainingOperations[i]
	}
	return name
}

// messageOf returns the operation of a message that a name tells.
func messageOf(name string) nest.Operation {
	s := strings.ToLower(name)
	switch send, recv := strings.Contains(s, "send"), strings.Contains(s, "recv") || strings.Contains(s, "receive"); {
	case send && !recv:
		return nest.OpSend
	case recv && !send:
		return nest.OpRecv
	}
	return nest.OpNone
}

// laneOf returns the thread of an operation of a training step by its name.
func laneOf(name string) string {
	switch {
	case strings.HasSuffix(name, "-send"), strings.HasSuffix(name, "-recv"):
		return name
	case strings.HasSuffix(name, "-all-reduce"), strings.HasSuffix(name, "-all-gather"), strings.HasSuffix(name, "-reduce-scatter"),
		name == "optimizer-clip-main-grad":
		return "collectives"
	}
	return "compute"
}

// track returns the track of a row, nil if there is no room for it.
func (r *reader) track(p *process, row *row, reg region) *recording.Track {
	k := trackKey{device: -1}
	stream, thread := row.text(fieldStream), row.text(fieldThread)
	device, onDevice := row.integer(fieldDevice)
	order := int64(1)
	switch {
	case onDevice && device >= 0:
		k = trackKey{device, wire.CutName(string(stream))}
	case thread != nil:
		k.name = "thread " + wire.CutName(string(thread))
		order, _ = row.integer(fieldThread)
	case stream != nil:
		k.name = "stream " + wire.CutName(string(stream))
		order, _ = row.integer(fieldStream)
	case row.at[fieldStep] >= 0:
		k.name = reg.lane
	default:
		k.name = "spans"
	}
	track, ok := p.tracks[k]
	if ok {
		return track
	}
	name := strings.ToValidUTF8(k.name, "\uFFFD")
	if k.device >= 0 {
		d := p.devices[device]
		if d == nil {
			d = p.NewDevice(device)
			p.devices[device] = d
		}
		number, _ := row.integer(fieldStream)
		track = d.NewStream("stream "+name, number)
	} else {
		track = p.NewThread(name, order)
	}
	if track != nil {
		track.Exact = true
		track.Main = k.name == "compute" || k.name == "spans"
	}
	if r.f.Room() {
		p.tracks[k] = track
	}
	return track
}
