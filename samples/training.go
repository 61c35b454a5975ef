package samples

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tracekit/trace"
)

// TrainingOptions say what training job is to be generated. Times are in ns.
type TrainingOptions struct {
	DP, PP, TP   int // data-parallel ranks, stages of the pipeline, GPUs of a worker, of which a table has the first
	MicroBatches int // of a step; of interleaved schedules a multiple of PP
	Steps        int
	Schedule     string  // one of Schedules
	Seed         uint64  // of the variation of computations
	Compute      int64   // forward computation of a micro-batch on a stage; 0: 1 ms. Backward it takes twice as long
	Noise        float64 // largest deviation of a computation, as a share

	Slow      []SlowWorker
	LastStage float64 // by how much computations of the last stage take longer, as a share
	Sequences float64 // largest deviation of the length of a micro-batch, as a share
	Skew      int64   // largest difference of clocks
	Drift     int64   // largest drift of clocks, in parts per million

	// Of profiles.
	Kernels     int   // of a computation; 0: one
	Jitter      int64 // by how much later than a communication ends its end is recorded, at most
	Undescribed bool  // process groups and passes are not named
}

// A SlowWorker computes longer than the others.
type SlowWorker struct {
	Rank   int     // stage·DP + data-parallel rank
	Factor float64 // above 1
	From   int     // first step in which it is slow, from 0
	Share  float64 // of steps in which it is, at random; 0: all
}

// Schedules are the orders in which a stage computes.
func Schedules() []string { return []string{"1f1b", "interleaved", "zero-bubble"} }

// TrainingTruth is what is true of a generated training job.
type TrainingTruth struct {
	Events    uint64         `json:"events"`
	Workers   int            `json:"workers"`
	GPUs      int            `json:"gpus"`
	StepNs    []int64        `json:"step_ns"` // by step: from its begin to the last end of an optimizer
	Slow      []PlantedSlow  `json:"slow"`
	LastStage bool           `json:"last_stage_slow"`
	Sequences bool           `json:"sequences_vary"`
	Clock     []ProcessClock `json:"clock,omitempty"` // by rank
}

// A PlantedSlow is a slow worker that an analysis must find.
type PlantedSlow struct {
	Rank   int     `json:"rank"`
	DP     int     `json:"dp_rank"`
	Stage  int     `json:"stage"`
	Excess float64 `json:"excess"`
	Since  int     `json:"since_step"` // 0: always
	Random bool    `json:"at_random"`
}

// The lanes of a worker, each a location.
const (
	laneCompute = iota
	laneForwardSend
	laneForwardRecv
	laneBackwardSend
	laneBackwardRecv
	laneCollectives
	lanes
)

var laneNames = [lanes]string{"compute", "forward-send", "forward-recv", "backward-send", "backward-recv", "collectives"}

var trainingTypes = []string{"forward-compute", "backward-compute", "weight-compute", "optimizer", "gc", "forward-send", "forward-recv",
	"backward-send", "backward-recv", "params-all-gather", "grads-reduce-scatter", "layernorm-grads-all-reduce",
	"embedding-grads-all-reduce", "optimizer-clip-main-grad"}

// startTraining is the tick at which the first step begins.
const startTraining = 1_000_000_000

const unknownTime = -1

// withDefaults fills in what is not given.
func (o TrainingOptions) withDefaults() TrainingOptions {
	for _, n := range []*int{&o.DP, &o.PP, &o.TP, &o.MicroBatches, &o.Steps} {
		*n = cmp.Or(*n, 1)
	}
	o.Schedule, o.Compute = cmp.Or(o.Schedule, "1f1b"), cmp.Or(o.Compute, 1_000_000)
	return o
}

func (o *TrainingOptions) check() error {
	const most = 1 << 24
	switch {
	case o.DP < 1 || o.PP < 1 || o.TP < 1 || o.MicroBatches < 1 || o.Steps < 1:
		return errors.New("a size is below 1")
	case o.DP > most || o.PP > most || o.DP*o.PP > most || o.MicroBatches > most || o.Steps > most:
		return errors.New("it would be too large")
	case !slices.Contains(Schedules(), o.Schedule):
		return fmt.Errorf("no schedule %q; want one of %v", o.Schedule, Schedules())
	case o.Schedule == "interleaved" && (o.PP < 2 || o.MicroBatches%o.PP != 0):
		return errors.New("an interleaved schedule needs two stages or more, and a multiple of them as micro-batches")
	case o.Compute < 1000 || o.Compute > 1e12 || !(o.Noise >= 0 && o.Noise < 1) || !(o.LastStage >= 0) ||
		!(o.Sequences >= 0 && o.Sequences < 1):
		return errors.New("a time or share is not valid")
	}
	for _, s := range o.Slow {
		if s.Rank < 0 || s.Rank >= o.DP*o.PP || !(s.Factor >= 1) || s.From < 0 || !(s.Share >= 0 && s.Share <= 1) {
			return fmt.Errorf("no worker %d can be %g times as slow", s.Rank, s.Factor)
		}
	}
	return nil
}

// GenerateTraining simulates a training job and gives its events to the sink that open returns. Operations start once what they
// depend on has ended (docs/internals/TRAINING.md), so that a replay finds their times. The errors are those of options that make no
// sense, of the sink, and of ctx.
func GenerateTraining(ctx context.Context, o TrainingOptions,
	open func(trace.Info, *trace.Defs) (trace.Sink, error)) (*TrainingTruth, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("generating a training job: %w", err)
	}
	g, truth := newTraining(o)
	info := trace.Info{Creator: "tracekit " + moduleVersion(), Machine: "simulated", Description: fmt.Sprintf(
		"training, %d × %d × %d GPUs, %d micro-batches, %s, %d steps, seed %d", o.DP, o.PP, o.TP, o.MicroBatches, o.Schedule, o.Steps, o.Seed)}
	defs := g.defs()
	dry := *g
	source := *g.source // which goes on from where it is, twice
	dry.random = rand.New(&source)
	if err := dry.record(ctx, nowhere{}, o.truth()); err != nil {
		return nil, err
	}
	defs.Clock.GlobalOffset, defs.Clock.Length = dry.earliest, uint64(dry.latest-dry.earliest)
	sink, err := open(info, defs)
	if err != nil {
		return nil, err
	}
	if err := g.record(ctx, sink, truth); err != nil {
		return nil, err
	}
	return truth, sink.Close()
}

// newTraining prepares a simulation. Options have been checked.
func newTraining(o TrainingOptions) (*training, *TrainingTruth) {
	truth := o.truth()
	g := &training{TrainingOptions: o, source: rand.NewPCG(o.Seed, 0x747261696e), chunks: 1}
	g.random = rand.New(g.source)
	if o.Schedule == "interleaved" {
		g.chunks = 2
	}
	for range o.DP * o.PP {
		var c ProcessClock
		if o.Skew > 0 {
			c.Skew = g.random.Int64N(o.Skew + 1)
		}
		if o.Drift > 0 {
			c.Drift = g.random.Int64N(o.Drift + 1)
		}
		if o.Skew > 0 || o.Drift > 0 {
			truth.Clock = append(truth.Clock, c)
		}
		g.clocks = append(g.clocks, c)
	}
	g.orders = make([][]computation, o.PP)
	for s := range g.orders {
		g.orders[s] = g.order(s)
	}
	return g, truth
}

// local returns the time of a worker's clock.
func (g *training) local(worker int, t int64) int64 {
	c := g.clocks[worker]
	return t + c.Skew + (t-startTraining)/1000*c.Drift/1000
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

func (nowhere) Write(*trace.Batch) error { return nil }

func (nowhere) Close() error { return nil }

// record simulates all steps and gives them to a sink.
func (g *training) record(ctx context.Context, sink trace.Sink, truth *TrainingTruth) error {
	g.batches = make([]*trace.Batch, g.DP*g.PP*lanes)
	for l := range g.batches {
		g.batches[l] = &trace.Batch{}
		g.batches[l].Reset(trace.LocationID(l), 0)
	}
	g.earliest = math.MaxInt64
	return g.run(ctx, truth, func(step int, at int64) error { return g.write(sink, step, at, truth) })
}

// run simulates all steps; write takes each with its begin.
func (g *training) run(ctx context.Context, truth *TrainingTruth, write func(step int, at int64) error) error {
	at := int64(startTraining)
	for step := range g.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		length := g.step(step)
		truth.StepNs = append(truth.StepNs, length)
		if err := write(step, at); err != nil {
			return err
		}
		at += length + g.Compute
	}
	return nil
}

// truth is what must be found.
func (o *TrainingOptions) truth() *TrainingTruth {
	t := &TrainingTruth{Workers: o.DP * o.PP, GPUs: o.DP * o.PP * o.TP, Slow: []PlantedSlow{}, LastStage: o.LastStage > 0,
		Sequences: o.Sequences > 0}
	for _, s := range o.Slow {
		t.Slow = append(t.Slow, PlantedSlow{Rank: s.Rank, DP: s.Rank % o.DP, Stage: s.Rank / o.DP, Excess: s.Factor - 1, Since: s.From,
			Random: s.Share > 0})
	}
	return t
}

// A computation is one of a worker's: its type, micro-batch and chunk.
type computation struct {
	kind         string
	batch, chunk int
}

// order returns the computations of a stage in their order.
func (o *training) order(stage int) (out []computation) {
	total := o.MicroBatches * o.chunks
	forward := func(k int) computation {
		if o.chunks == 1 {
			return computation{"forward-compute", k, 0}
		}
		group := o.PP * o.chunks
		return computation{"forward-compute", k/group*o.PP + k%o.PP, k % group / o.PP}
	}
	backward := func(k int) computation {
		c := forward(k)
		return computation{"backward-compute", c.batch, o.chunks - 1 - c.chunk}
	}
	warm := min(total, o.PP-stage-1)
	if o.chunks > 1 {
		warm = min(total, 2*(o.PP-stage-1)+(o.chunks-1)*o.PP)
	}
	for k := range warm {
		out = append(out, forward(k))
	}
	weights := 0
	for k := range total {
		if k+warm < total {
			out = append(out, forward(k+warm))
		}
		out = append(out, backward(k))
		if o.Schedule == "zero-bubble" && k >= stage {
			out = append(out, computation{"weight-compute", weights, 0})
			weights++
		}
	}
	for ; o.Schedule == "zero-bubble" && weights < total; weights++ {
		out = append(out, computation{"weight-compute", weights, 0})
	}
	return out
}

// A training simulates a job step by step.
type training struct {
	TrainingOptions
	chunks  int
	source  *rand.PCG
	random  *rand.Rand
	clocks  []ProcessClock  // by worker
	orders  [][]computation // by stage
	batches []*trace.Batch  // by location
	workers []*trainee      // of the step at hand, by rank

	earliest, latest int64 // event
}

// A trainee is a worker in a step.
//
//	ends[i] is when computation i ends
//	done is how many have ended
type trainee struct {
	dp, stage int
	order     []computation
	took      []int64
	slow      float64 // by which its computations are longer
	ends      []int64
	done      int
	ways      [2]way
	ops       []trainingOp
}

// A way is the messages of the forward or the backward way: one for each computation of the way.
//
//	of[n] is the computation that receive n precedes and send n follows
//	a time that is not known yet is unknownTime
//	of messages before first all is known
type way struct {
	first                                  int
	of                                     []int
	sendStart, sendEnd, recvStart, recvEnd []int64
	hasSend, hasRecv                       []bool
	to, from                               []otherEnd // partners; none: rank < 0
}

// An otherEnd is the other end of a message.
type otherEnd struct{ rank, n int }

// A trainingOp is an operation as it is recorded.
type trainingOp struct {
	kind                      string
	lane                      int
	start, end                int64
	seq, batch, chunk, global int // -1: none
}

// transfers are how long communications take, in thousandths of a computation.
const (
	transferMessage = 20
	transferGather  = 300
	transferScatter = 500
	transferSmall   = 10
	takesOptimizer  = 200
)

func (g *training) part(thousandths int64) int64 { return g.Compute * thousandths / 1000 }

// step simulates a step and returns its length. Times count from its begin.
func (g *training) step(step int) (length int64) {
	lengths := make([]float64, g.DP*g.MicroBatches)
	for i := range lengths {
		lengths[i] = 1 + g.Sequences*(2*g.random.Float64()-1)
	}
	g.workers = g.workers[:0]
	for stage := range g.PP {
		for dp := range g.DP {
			g.workers = append(g.workers, g.trainee(step, dp, stage, lengths[dp*g.MicroBatches:]))
		}
	}
	for changed := true; changed; {
		changed = false
		for rank := range g.workers {
			changed = g.advance(rank) || changed
		}
	}
	return g.finish()
}

func (g *training) trainee(step, dp, stage int, lengths []float64) *trainee {
	w := &trainee{dp: dp, stage: stage, order: g.orders[stage]}
	slow := 1.0
	for _, s := range g.Slow {
		random := g.random.Float64()
		if s.Rank == stage*g.DP+dp && step >= s.From && (s.Share == 0 || random < s.Share) {
			slow *= s.Factor
		}
	}
	w.slow = slow
	if stage == g.PP-1 {
		slow *= 1 + g.LastStage
	}
	for i, c := range w.order {
		base := float64(g.Compute) / float64(g.chunks)
		if c.kind == "backward-compute" && g.Schedule != "zero-bubble" {
			base *= 2
		}
		w.took = append(w.took, int64(base*slow*lengths[c.batch]*(1+g.Noise*(2*g.random.Float64()-1))))
		k := slices.Index([]string{"forward-compute", "backward-compute"}, c.kind)
		if k < 0 {
			continue
		}
		x := &w.ways[k]
		x.of = append(x.of, i)
		for _, times := range []*[]int64{&x.sendStart, &x.sendEnd, &x.recvStart, &x.recvEnd} {
			*times = append(*times, unknownTime)
		}
		global := c.chunk*g.PP + stage
		ahead := 1 - 2*k
		x.to, x.from = append(x.to, g.partner(dp, global+ahead, c)), append(x.from, g.partner(dp, global-ahead, c))
		x.hasSend = append(x.hasSend, g.chunks > 1 || x.to[len(x.to)-1].rank >= 0)
		x.hasRecv = append(x.hasRecv, g.chunks > 1 || x.from[len(x.from)-1].rank >= 0)
	}
	w.ends = slices.Repeat([]int64{unknownTime}, len(w.order))
	return w
}

// partner returns the end of a message at a chunk of the model, for a computation of the same way and micro-batch.
func (g *training) partner(dp, global int, c computation) otherEnd {
	if global < 0 || global >= g.PP*g.chunks {
		return otherEnd{rank: -1}
	}
	stage, n := global%g.PP, 0
	for _, other := range g.orders[stage] {
		if other.kind != c.kind {
			continue
		}
		if other.batch == c.batch && other.chunk == global/g.PP {
			break
		}
		n++
	}
	return otherEnd{stage*g.DP + dp, n}
}

// advance finds what can be known of a worker's times.
func (g *training) advance(rank int) (changed bool) {
	w := g.workers[rank]
	gathered := g.part(transferGather)
	set := func(at *int64, v int64) {
		if *at == unknownTime {
			*at, changed = v, true
		}
	}
	for again := true; again; {
		before := w.done
		for k := range w.ways {
			w.messages(g, k, set)
		}
		if w.done < len(w.order) {
			start, known := gathered, true
			if w.done > 0 {
				start = w.ends[w.done-1]
			}
			for k := range w.ways {
				if n := slices.Index(w.ways[k].of, w.done); n >= 0 && w.ways[k].hasRecv[n] {
					known = known && w.ways[k].recvEnd[n] != unknownTime
					start = max(start, w.ways[k].recvEnd[n])
				}
			}
			if known {
				set(&w.ends[w.done], start+w.took[w.done])
				w.done++
			}
		}
		again = w.done > before
	}
	return changed
}

// messages finds what can be known of the messages of a way.
func (w *trainee) messages(g *training, k int, set func(*int64, int64)) {
	x := &w.ways[k]
	transfer := g.part(transferMessage)
	lastRecv, lastSend := int64(0), int64(0)
	if n := x.first - 1; n >= 0 {
		lastRecv, lastSend = max(0, x.recvEnd[n]), max(0, x.sendEnd[n])
	}
	for n := x.first; n < len(x.of) && (lastRecv != unknownTime || lastSend != unknownTime); n++ {
		c := x.of[n]
		if x.hasRecv[n] && lastRecv != unknownTime {
			start := lastRecv
			if n > 0 {
				start = later(start, w.ends[x.of[n-1]])
			} else if k == 1 && c >= 2 {
				start = later(start, w.ends[c-2])
			}
			if start != unknownTime {
				set(&x.recvStart[n], start)
			}
			if p := x.from[n]; x.recvStart[n] != unknownTime {
				if p.rank < 0 {
					set(&x.recvEnd[n], x.recvStart[n])
				} else if there := g.workers[p.rank].ways[k].sendStart[p.n]; there != unknownTime {
					set(&x.recvEnd[n], max(x.recvStart[n], there)+transfer)
				}
			}
		}
		if x.hasRecv[n] {
			lastRecv = x.recvEnd[n]
		}
		if x.hasSend[n] && lastSend != unknownTime {
			if start := later(lastSend, w.ends[c]); start != unknownTime {
				set(&x.sendStart[n], start)
			}
			if p := x.to[n]; x.sendStart[n] != unknownTime {
				if p.rank < 0 {
					set(&x.sendEnd[n], x.sendStart[n])
				} else if there := g.workers[p.rank].ways[k].recvStart[p.n]; there != unknownTime {
					set(&x.sendEnd[n], max(x.sendStart[n], there)+transfer)
				}
			}
		}
		if x.hasSend[n] {
			lastSend = x.sendEnd[n]
		}
		if n == x.first && lastRecv != unknownTime && lastSend != unknownTime {
			x.first++
		}
	}
}

// later returns the later of two times, unknownTime if one is not known.
func later(a, b int64) int64 {
	if a == unknownTime || b == unknownTime {
		return unknownTime
	}
	return max(a, b)
}

// finish adds what comes behind the computations, and all operations to their workers; it returns the length of the step.
func (g *training) finish() (length int64) {
	at := make([]int64, len(g.workers))
	for r, w := range g.workers {
		w.record()
		w.add("params-all-gather", laneCollectives, 0, g.part(transferGather), 0, 0)
		end := slices.Max(w.ends)
		w.add("gc", laneCompute, end, end, 0, -1)
		w.add("layernorm-grads-all-reduce", laneCollectives, end, end+g.part(transferSmall), 0, -1)
		at[r] = end + g.part(transferSmall)
	}
	together := func(kind string, transfer int64, chunk int, ranks []int) {
		latest := int64(0)
		for _, r := range ranks {
			latest = max(latest, at[r])
		}
		for _, r := range ranks {
			g.workers[r].add(kind, laneCollectives, at[r], latest+transfer, 0, chunk)
			at[r] = latest + transfer
		}
	}
	all := make([]int, len(g.workers))
	for r := range all {
		all[r] = r
	}
	if g.PP > 1 {
		for dp := range g.DP {
			together("embedding-grads-all-reduce", g.part(5*transferSmall), -1, []int{dp, (g.PP-1)*g.DP + dp})
		}
	}
	for stage := range g.PP {
		together("grads-reduce-scatter", g.part(transferScatter), 0, all[stage*g.DP:(stage+1)*g.DP])
	}
	together("optimizer-clip-main-grad", g.part(transferSmall), -1, all)
	for r, w := range g.workers {
		w.add("optimizer", laneCompute, at[r], at[r]+g.part(takesOptimizer), 0, -1)
		length = max(length, at[r]+g.part(takesOptimizer))
	}
	return length
}

// add adds an operation without a micro-batch.
func (w *trainee) add(kind string, lane int, start, end int64, seq, chunk int) {
	w.ops = append(w.ops, trainingOp{kind, lane, start, end, seq, -1, chunk, -1})
}

// record adds the computations and messages of a worker.
func (w *trainee) record() {
	seqs := make(map[string]int)
	w.ops = slices.Grow(w.ops, 3*len(w.order)) // each is computed, received, sent
	for i, c := range w.order {
		w.ops = append(w.ops, trainingOp{c.kind, laneCompute, w.ends[i] - w.took[i], w.ends[i], seqs[c.kind], c.batch, c.chunk, -1})
		seqs[c.kind]++
	}
	for k := range w.ways {
		x, recvs, sends := &w.ways[k], 0, 0
		for n := range x.of {
			if x.hasRecv[n] {
				lane := laneForwardRecv + 2*k
				w.ops = append(w.ops, trainingOp{laneNames[lane], lane, x.recvStart[n], x.recvEnd[n], recvs, -1, -1, -1})
				recvs++
			}
			if x.hasSend[n] {
				lane := laneForwardSend + 2*k
				w.ops = append(w.ops, trainingOp{laneNames[lane], lane, x.sendStart[n], x.sendEnd[n], sends, -1, -1, -1})
				sends++
			}
		}
	}
}

// The attributes of operations, in the order of their definitions.
var trainingAttributes = []string{trace.AttributeStep, trace.AttributeDP, trace.AttributeStage, trace.AttributeSeq,
	trace.AttributeMicroBatch, trace.AttributeChunk, trace.AttributeModelChunk, trace.AttributeBytes}

// bytesOf returns how many bytes an operation communicates, -1 if it computes.
func bytesOf(kind string) int {
	switch {
	case strings.HasSuffix(kind, "-send"), strings.HasSuffix(kind, "-recv"):
		return 1 << 20
	case strings.HasSuffix(kind, "-compute"), kind == "optimizer", kind == "gc":
		return -1
	}
	return 4 << 20
}

// write gives the operations of a step to the sink.
func (g *training) write(sink trace.Sink, step int, at int64, truth *TrainingTruth) error {
	for r, w := range g.workers {
		slices.SortStableFunc(w.ops, func(a, b trainingOp) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
		for _, op := range w.ops {
			b := g.batches[r*lanes+op.lane]
			if (op.kind == "forward-compute" || op.kind == "backward-compute") && op.chunk >= 0 {
				op.global = op.chunk*g.PP + w.stage
			}
			for id, v := range []int{step, w.dp, w.stage, op.seq, op.batch, op.chunk, op.global, bytesOf(op.kind)} {
				if v >= 0 {
					b.AddAttr(trace.AttributeID(id), trace.TypeUint64, uint64(v))
				}
			}
			region := trace.RegionID(slices.Index(trainingTypes, op.kind))
			start, end := g.local(r, at+op.start), g.local(r, at+op.end)
			g.earliest, g.latest = min(g.earliest, start), max(g.latest, end)
			b.AddFlow(start, trace.KindEnter, region)
			b.AddFlow(end, trace.KindLeave, region)
		}
		for lane := range lanes {
			b := g.batches[r*lanes+lane]
			n := uint64(b.Len())
			if n == 0 {
				continue
			}
			if err := sink.Write(b); err != nil {
				return err
			}
			truth.Events += n
			b.Reset(b.Location, b.First+n)
		}
	}
	return nil
}

// defs returns the definitions.
func (g *training) defs() *trace.Defs {
	d := &definer{&trace.Defs{}, make(map[string]trace.StringID)}
	d.text("")
	d.Clock = trace.ClockProperties{Resolution: 1e9, GlobalOffset: startTraining, Realtime: 1<<64 - 1}
	d.SystemTree = []trace.SystemTreeNode{{Name: d.text("simulated"), Class: d.text("machine"), Parent: trace.None}}
	for r := range g.DP * g.PP {
		d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(r), Kind: 1, Creator: trace.None,
			Name: d.text(fmt.Sprintf("rank %d: dp %d, stage %d", r, r%g.DP, r/g.DP))})
		for _, name := range laneNames {
			d.Locations = append(d.Locations, trace.Location{Ref: uint64(len(d.Locations)), Name: d.text(name),
				Kind: trace.LocationCPUThread, Group: trace.LocationGroupID(r), Events: g.eventsOf(name, r/g.DP)})
		}
	}
	for i, name := range trainingTypes {
		d.Regions = append(d.Regions, trace.Region{Ref: uint64(i), Name: d.text(name), Canonical: d.text(name),
			Role: trace.RoleFunction, Paradigm: trace.ParadigmUser})
	}
	for i, name := range trainingAttributes {
		d.Attributes = append(d.Attributes, trace.Attribute{Ref: uint64(i), Name: d.text(name), Type: trace.TypeUint64})
	}
	return d.Defs
}

// eventsOf returns how many events a lane of a stage has.
func (g *training) eventsOf(lane string, stage int) uint64 {
	n := 0
	switch ends := stage == 0 || stage == g.PP-1; {
	case lane == laneNames[laneCompute]:
		n = len(g.orders[stage]) + 2
	case lane == laneNames[laneCollectives]:
		n = 4
		if ends && g.PP > 1 {
			n++
		}
	case g.chunks > 1:
		n = g.MicroBatches * g.chunks
	case stage == 0 && (lane == laneNames[laneForwardRecv] || lane == laneNames[laneBackwardSend]):
	case stage == g.PP-1 && (lane == laneNames[laneForwardSend] || lane == laneNames[laneBackwardRecv]):
	default:
		n = g.MicroBatches
	}
	return uint64(2 * n * g.Steps)
}
