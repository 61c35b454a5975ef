package samples

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// WriteProfiles simulates a training job, as GenerateTraining does, and writes what PyTorch's profiler records of it: one JSON file for
// each GPU into a directory, which it makes. GPU k of worker r is rank r·TP + k; of a slow worker the first GPU is slow, and others of
// the worker wait for it. The errors are those of options that make no sense, of files, and of ctx.
func WriteProfiles(ctx context.Context, o TrainingOptions, dir string) (*TrainingTruth, error) {
	o = o.withDefaults()
	err := o.check()
	if err == nil && o.DP*o.PP*o.TP > mostFiles {
		err = fmt.Errorf("more than %d files", mostFiles)
	}
	if err != nil {
		return nil, fmt.Errorf("generating a training job: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	g, truth := newTraining(o)
	w := &profileWriter{training: g, jitter: rand.New(rand.NewPCG(o.Seed, 0x6a6974746572))}
	w.files = make([]profileFile, o.DP*o.PP*o.TP)
	for rank := range w.files {
		w.files[rank].path = filepath.Join(dir, fmt.Sprintf("rank%d.pt.trace.json", rank))
		w.head(rank)
	}
	err = g.run(ctx, truth, func(step int, at int64) error { return w.step(step, at, truth) })
	for rank := range w.files {
		f := &w.files[rank]
		f.text = append(f.text, "\n]}\n"...)
		err = errors.Join(err, f.flush())
	}
	if err != nil {
		return nil, err
	}
	for i := range truth.Slow {
		truth.Slow[i].Rank *= o.TP
	}
	return truth, nil
}

const (
	mostFiles   = 1 << 16
	fullProfile = 64 << 10 // bytes of a file that are kept before they are written
	epoch       = 1_750_000_000_000_000_000
)

// A profileFile is the file of a rank. It is open only while it is written to, since there may be more of them than a process may open.
type profileFile struct {
	path   string
	text   []byte
	made   bool
	events int
	id     int // correlation
}

func (f *profileFile) flush() error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !f.made {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f.made = true
	out, err := os.OpenFile(f.path, mode, 0o666)
	if err != nil {
		return err
	}
	_, err = out.Write(f.text)
	f.text = f.text[:0]
	return errors.Join(err, out.Close())
}

// The process groups of a rank.
const (
	groupAll = iota
	groupData
	groupPipeline
	groupTensor
	groupEmbedding
	groupsOfRank
)

var groupAbout = [groupsOfRank]string{"default_pg", "DATA_PARALLEL_GROUP", "PIPELINE_MODEL_PARALLEL_GROUP", "TENSOR_MODEL_PARALLEL_GROUP",
	"EMBEDDING_GROUP"}

// A profileWriter writes files of ranks.
type profileWriter struct {
	*training
	jitter *rand.Rand
	files  []profileFile
}

// group returns the name and ranks of a group of a rank; nil if it is in none.
func (p *profileWriter) group(kind, rank int) (name string, ranks []int) {
	worker, lane := rank/p.TP, rank%p.TP
	dp, stage := worker%p.DP, worker/p.DP
	at := func(stage, dp, lane int) int { return (stage*p.DP+dp)*p.TP + lane }
	number := 0
	switch kind {
	case groupAll:
		for r := range p.files {
			ranks = append(ranks, r)
		}
		return "0", ranks
	case groupData:
		number = stage*p.TP + lane
		for d := range p.DP {
			ranks = append(ranks, at(stage, d, lane))
		}
	case groupPipeline, groupEmbedding:
		number = dp*p.TP + lane
		for s := range p.PP {
			if kind == groupPipeline || s == 0 || s == p.PP-1 {
				ranks = append(ranks, at(s, dp, lane))
			}
		}
		if !slices.Contains(ranks, rank) {
			return "", nil
		}
	case groupTensor:
		number = worker
		for l := range p.TP {
			ranks = append(ranks, at(stage, dp, l))
		}
	}
	return strconv.Itoa(1 + number*(groupsOfRank-1) + kind - 1), ranks
}

func listed(ranks []int) string { return strings.ReplaceAll(fmt.Sprint(ranks), " ", ", ") }

// head begins a file.
func (p *profileWriter) head(rank int) {
	f := &p.files[rank]
	var groups []string
	for kind := range groupsOfRank {
		if name, ranks := p.group(kind, rank); len(ranks) > 0 {
			groups = append(groups, fmt.Sprintf(`{"pg_name":%q,"pg_desc":%q,"backend_config":"cuda:nccl","pg_size":%d,"ranks":%s}`, name,
				p.about(kind), len(ranks), listed(ranks)))
		}
	}
	f.text = fmt.Appendf(f.text, `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"simulated"}],"distributedInfo":{"backend":"nccl",`+
		`"rank":%d,"world_size":%d,"pg_count":%d,"pg_config":[%s]},"displayTimeUnit":"ms","baseTimeNanoseconds":%d,"traceEvents":[`, rank,
		len(p.files), len(groups), strings.Join(groups, ","), int64(epoch))
}

// about describes a kind of groups.
func (p *profileWriter) about(kind int) string {
	if p.Undescribed && kind != groupAll {
		return "undefined"
	}
	return groupAbout[kind]
}

// event adds an event. Times are of the rank's clock; args is JSON.
func (f *profileFile) event(category, name string, pid, tid int, start, end int64, args string) {
	if f.events++; f.events > 1 {
		f.text = append(f.text, ',')
	}
	f.text = append(f.text, "\n{\"ph\":\"X\",\"cat\":\""...)
	f.text = append(f.text, category...)
	f.text = append(f.text, "\",\"name\":\""...)
	f.text = append(f.text, name...)
	f.text = strconv.AppendInt(append(f.text, "\",\"pid\":"...), int64(pid), 10)
	f.text = strconv.AppendInt(append(f.text, ",\"tid\":"...), int64(tid), 10)
	f.text = micro(append(f.text, ",\"ts\":"...), start)
	f.text = micro(append(f.text, ",\"dur\":"...), end-start)
	f.text = append(append(append(f.text, ",\"args\":{"...), args...), "}}"...)
}

// micro writes a time in µs. No time is below 0.
func micro(to []byte, ns int64) []byte {
	to = append(strconv.AppendInt(to, ns/1000, 10), '.')
	return append(to, byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
}

// A pieceOfWork is what a GPU does at a time. Times count from the begin of the step.
type pieceOfWork struct {
	kind       string // computation, or what is communicated
	start, end int64
	ready      int64 // when the host launches it at the earliest
	batch      int
	group      int
	peer       int
	way        int // of a message: 0 forward, 1 backward
	other      otherEnd
	bytes      int64
}

// step writes a step.
func (p *profileWriter) step(step int, at int64, truth *TrainingTruth) error {
	for r, w := range p.workers {
		for lane := range p.TP {
			rank := r*p.TP + lane
			f := &p.files[rank]
			before := f.events
			p.rank(f, rank, w.work(p, lane), at, step)
			truth.Events += uint64(f.events - before)
			if len(f.text) > fullProfile {
				if err := f.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// work returns what a GPU of a worker does in a step, in order of launches.
func (w *trainee) work(p *profileWriter, lane int) (list []pieceOfWork) {
	collective := func(kind string, group int) {
		for _, op := range w.ops {
			if op.kind == kind {
				list = append(list, pieceOfWork{kind: kind, start: op.start, end: op.end, ready: op.start, group: group, batch: -1, peer: -1,
					bytes: 4 << 20})
			}
		}
	}
	collective("params-all-gather", groupData)
	for i, c := range w.order {
		end := w.ends[i]
		message := func(kind string, way int, start, end, ready int64, other otherEnd) {
			if other.rank >= 0 {
				list = append(list, pieceOfWork{kind: kind, start: start, end: end, ready: ready, group: groupPipeline, batch: -1,
					peer: p.workers[other.rank].stage, way: way, other: other, bytes: 1 << 20})
			}
		}
		for k := range w.ways {
			x := &w.ways[k]
			if n := slices.Index(x.of, i); n >= 0 && x.hasRecv[n] {
				message("recv", k, x.recvStart[n], x.recvEnd[n], x.recvStart[n], x.from[n])
			}
		}
		start := end - w.took[i]
		computed := pieceOfWork{kind: c.kind, start: start, end: end, ready: start, batch: c.batch, peer: -1}
		if p.TP > 1 {
			summed := p.part(transferSmall)
			own := w.took[i] - summed
			if lane > 0 {
				own = int64(float64(own) / w.slow)
			}
			computed.end = start + own
			list = append(list, computed, pieceOfWork{kind: "tensor", start: computed.end, end: end, ready: start, group: groupTensor, batch: -1,
				peer: -1, bytes: 1 << 20})
		} else {
			list = append(list, computed)
		}
		for k := range w.ways {
			x := &w.ways[k]
			if n := slices.Index(x.of, i); n >= 0 && x.hasSend[n] {
				message("send", k, x.sendStart[n], x.sendEnd[n], start, x.to[n])
			}
		}
	}
	collective("layernorm-grads-all-reduce", groupTensor)
	collective("embedding-grads-all-reduce", groupEmbedding)
	collective("grads-reduce-scatter", groupData)
	collective("optimizer-clip-main-grad", groupAll)
	for _, op := range w.ops {
		if op.kind == "optimizer" {
			list = append(list, pieceOfWork{kind: op.kind, start: op.start, end: op.end, ready: op.start, batch: -1, peer: -1})
		}
	}
	p.inOrder(list)
	slices.SortStableFunc(list, func(a, b pieceOfWork) int { return cmp.Compare(a.ready, b.ready) })
	return list
}

// inOrder lets receives from one worker be launched in the order in which it launches its sends, as NCCL asks: some of them earlier.
func (p *profileWriter) inOrder(list []pieceOfWork) {
	sent := func(w *pieceOfWork) int64 { // when the computation begins behind which it is sent
		from := p.workers[w.other.rank]
		i := from.ways[w.way].of[w.other.n]
		return from.ends[i] - from.took[i]
	}
	by := make(map[int][]*pieceOfWork)
	for i := range list {
		if w := &list[i]; w.kind == "recv" {
			by[w.other.rank] = append(by[w.other.rank], w)
		}
	}
	for _, receives := range by {
		slices.SortStableFunc(receives, func(a, b *pieceOfWork) int { return cmp.Compare(sent(a), sent(b)) })
		for k := len(receives) - 2; k >= 0; k-- {
			if before, w := receives[k], receives[k+1]; w.ready <= before.ready {
				before.ready = w.ready - 1
			}
		}
	}
}

// The names of collectives: PyTorch's, and that of the kernel.
var collectiveNames = map[string][2]string{
	"params-all-gather":          {"_allgather_base", "AllGather_RING_LL"},
	"grads-reduce-scatter":       {"_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_LL"},
	"tensor":                     {"allreduce", "AllReduce_Sum_bf16_RING_LL"},
	"layernorm-grads-all-reduce": {"allreduce", "AllReduce_Sum_bf16_RING_LL"},
	"embedding-grads-all-reduce": {"allreduce", "AllReduce_Sum_bf16_RING_LL"},
	"optimizer-clip-main-grad":   {"allreduce", "AllReduce_Sum_f32_RING_LL"},
	"send":                       {"send", "SendRecv"},
	"recv":                       {"recv", "SendRecv"},
}

var annotated = map[string]string{"forward-compute": "Forward", "backward-compute": "Backward", "weight-compute": "Weight"}

// rank writes a step of a rank that begins at a time.
func (p *profileWriter) rank(f *profileFile, rank int, list []pieceOfWork, at int64, step int) {
	process, main, engine := 10_000+rank, 10_000+rank, 20_000+rank
	clock := p.clock(rank)
	launched := at - 1
	var end int64
	for i := range list {
		w := &list[i]
		launched = max(launched+1, at+w.ready-1000) // the host is ahead of the GPU
		name, computes := annotated[w.kind]
		computes = computes || w.kind == "optimizer"
		end = max(end, w.end)
		if !computes {
			p.communicate(f, rank, w, launched, at, process, main)
			continue
		}
		began, thread := launched, main
		launched += 2 // inside the operator, which is inside the annotation
		n := int64(max(1, p.Kernels))
		for k := range n {
			f.id++
			kernel := `"correlation":` + strconv.Itoa(f.id)
			thread = main
			if w.kind == "backward-compute" || w.kind == "weight-compute" {
				thread = engine
			}
			f.event("cuda_runtime", "cudaLaunchKernel", process, thread, clock(launched), clock(launched+1), kernel)
			f.event("kernel", "gemm_"+w.kind, 0, 7, clock(at+w.start+(w.end-w.start)*k/n), clock(at+w.start+(w.end-w.start)*(k+1)/n),
				kernel+`,"stream":7`)
			launched++
		}
		switch w.kind {
		case "optimizer":
			f.event("user_annotation", "Optimizer.step#Adam.step", process, main, clock(began), clock(launched+2), "")
		case "backward-compute", "weight-compute":
			f.event("cpu_op", "autograd::engine::evaluate_function: LinearBackward0", process, engine, clock(began+1), clock(launched+1), "")
		default:
			f.event("cpu_op", "aten::linear", process, main, clock(began+1), clock(launched+1), "")
		}
		if name != "" && !(p.Undescribed && w.kind != "weight-compute") {
			f.event("user_annotation", name+" "+strconv.Itoa(w.batch), process, thread, clock(began), clock(launched+2), "")
		}
		launched += 2
	}
	f.event("user_annotation", "ProfilerStep#"+strconv.Itoa(step), process, main, clock(at), clock(at+max(end, launched-at+1)), "")
}

// communicate writes a kernel of NCCL.
func (p *profileWriter) communicate(f *profileFile, rank int, w *pieceOfWork, launched, at int64, process, main int) {
	f.id++
	clock, names := p.clock(rank), collectiveNames[w.kind]
	name, ranks := p.group(w.group, rank)
	args := fmt.Sprintf(`"correlation":%d,"stream":%d,"Collective name":%q,"In msg nelems":%d,"Out msg nelems":%[4]d,"dtype":"BFloat16",`+
		`"Group size":%d,"Process Group Name":%q,"Process Group Description":%q`, f.id, 20+w.group, names[0], w.bytes/2, len(ranks), name,
		p.about(w.group))
	const longest = 32 // that are listed
	if len(ranks) <= longest {
		args += `,"Process Group Ranks":"` + listed(ranks) + `"`
	}
	switch w.kind {
	case "send":
		args += `,"Dst Rank":` + strconv.Itoa(w.peer)
	case "recv":
		args += `,"Src Rank":` + strconv.Itoa(w.peer)
	}
	late := int64(0)
	if p.Jitter > 0 {
		late = p.jitter.Int64N(p.Jitter + 1)
	}
	f.event("cuda_runtime", "cudaLaunchKernelExC", process, main, clock(launched), clock(launched+1), `"correlation":`+strconv.Itoa(f.id))
	stream := 20 + w.group
	if w.group == groupPipeline { // sends and receives of each way have streams of their own
		stream += 20*(1+w.peer) + 10*w.way + cmp.Compare(w.kind, "recv")*5
	}
	start := max(at+w.start, launched)
	f.event("kernel", "ncclDevKernel_"+names[1]+"(ncclDevKernelArgsStorage<4096ul>)", 0, stream, clock(start),
		clock(max(start, at+w.end+late)), args)
}

// clock returns the clock of a rank: that of its worker's host.
func (p *profileWriter) clock(rank int) func(int64) int64 {
	return func(t int64) int64 { return p.local(rank/p.TP, t) }
}
