package rocpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"path"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// The values of JSON that are read. Others are gone over.
type (
	handle struct{ Handle uint64 }

	jsonMetadata struct {
		Pid         int64
		Command     json.RawMessage // a text, or the list of its words
		Environment json.RawMessage
		Node        struct {
			Hostname string
			Machine  string `json:"machine_id"`
		}
	}

	jsonAgent struct {
		ID      handle
		Type    int64  // 1 processor, 2 device
		Number  int64  `json:"logical_node_type_id"`
		Product string `json:"product_name"`
	}

	jsonKind struct {
		Kind       string
		Operations []string
	}

	jsonRecord struct {
		Kind        int
		Operation   int
		Thread      int64 `json:"thread_id"`
		Correlation struct {
			Internal uint64
		} `json:"correlation_id"`
		Start    int64        `json:"start_timestamp"`
		End      int64        `json:"end_timestamp"`
		Dispatch jsonDispatch `json:"dispatch_info"`
		Stream   *handle      `json:"stream_id"`
		Source   handle       `json:"src_agent_id"`
		Target   handle       `json:"dst_agent_id"`
		Bytes    uint64
		Agent    handle `json:"agent_id"`
		Address  json.RawMessage
		Size     int64 `json:"allocation_size"`
	}

	jsonDispatch struct {
		Agent  handle `json:"agent_id"`
		Queue  handle `json:"queue_id"`
		Kernel uint64 `json:"kernel_id"`
	}

	// jsonCounters are the counters of a kernel, each in as many parts as the device has units.
	jsonCounters struct {
		Data struct {
			Dispatch jsonDispatch `json:"dispatch_info"`
			End      int64        `json:"end_timestamp"`
			Stream   *handle      `json:"stream_id"`
		} `json:"dispatch_data"`
		Records []struct {
			Counter handle `json:"counter_id"`
			Value   float64
		}
	}
)

// A tool is what a file of JSON holds of one process.
type tool struct {
	f        *recording.File
	process  *process
	threads  map[int64]*recording.Track
	agents   map[uint64]agent
	kinds    []jsonKind
	markers  map[uint64]uint32 // texts
	counters map[uint64]string
	kernels  map[uint64]trace.RegionID
	defined  map[string]bool // what of definitions was read
	early    map[string]bool // members with records that come before
}

func newTool(f *recording.File) *tool {
	return &tool{f: f, process: newProcess(f.NewProcess("", 0)), threads: make(map[int64]*recording.Track), agents: make(map[uint64]agent),
		markers: make(map[uint64]uint32), counters: make(map[uint64]string), kernels: make(map[uint64]trace.RegionID),
		defined: make(map[string]bool), early: make(map[string]bool)}
}

// about takes what a file says of its process.
func (t *tool) about(m *jsonMetadata) {
	t.process.Pid = m.Pid
	var words []string
	if json.Unmarshal(m.Command, &words) != nil {
		words = make([]string, 1)
		_ = json.Unmarshal(m.Command, &words[0])
	}
	if len(words) > 0 && words[0] != "" {
		command, _, _ := strings.Cut(words[0], " ")
		t.process.Name = t.f.Keep([]byte(path.Base(command)))
	}
	var launch recording.Launch
	launch.Take(m.Environment)
	t.process.Rank, t.f.JobSize, t.process.HasRank = launch.Rank()
	t.f.Host = t.f.Keep([]byte(m.Node.Hostname))
	if machine := t.f.Host + " " + t.f.Keep([]byte(m.Node.Machine)); machine != " " {
		t.f.Clock = "the start of " + machine
	}
}

// agent takes a processor or a device.
func (t *tool) agent(a *jsonAgent) {
	const device = 2
	if len(t.agents) == rowLimit {
		return
	}
	t.agents[a.ID.Handle] = agent{a.Type == device, a.Number}
	if a.Type == device && a.Product != "" {
		t.f.Describe(fmt.Sprintf("GPU %d", a.Number), []byte(a.Product))
	}
}

// record returns what takes records of a kind, nil if they are not read.
func (t *tool) record(kind string) func(*jsonRecord) {
	switch {
	case strings.HasSuffix(kind, "_api"):
		return t.call
	case kind == "kernel_dispatch":
		return t.kernel
	case kind == "memory_copy":
		return t.copy
	case kind == "memory_allocation":
		return t.allocation
	}
	return nil
}

// span returns the begin and the duration of a record.
func (t *tool) span(x *jsonRecord) (begin, dur int64) {
	if x.End < x.Start {
		t.f.Ledger.Add(trace.CodeBadValue, t.f.Place(-1), "an event that ends before it begins; taken as a moment")
		return x.Start, 0
	}
	if dur = x.End - x.Start; dur < 0 {
		dur = math.MaxInt64
	}
	return x.Start, dur
}

// names returns the names of a record's kind and operation, "" if they are not known.
func (t *tool) names(x *jsonRecord) (kind, operation string) {
	if x.Kind < 0 || x.Kind >= len(t.kinds) {
		return "", ""
	}
	k := &t.kinds[x.Kind]
	if x.Operation >= 0 && x.Operation < len(k.Operations) {
		operation = k.Operations[x.Operation]
	}
	return k.Kind, operation
}

// thread returns the thread of a number, nil if there are too many.
func (t *tool) thread(id int64) *recording.Track {
	l, ok := t.threads[id]
	if !ok && t.f.Room() {
		l = t.process.NewThread(fmt.Sprintf("thread %d", id), id)
		t.threads[id] = l
	}
	return l
}

// call takes a call on a thread.
func (t *tool) call(x *jsonRecord) {
	kind, name := t.names(x)
	if name == "" {
		name = fmt.Sprintf("operation %d of kind %d", x.Operation, x.Kind)
	}
	begin, dur := t.span(x)
	l := t.thread(x.Thread)
	if l == nil {
		return
	}
	what, launches := whatOf(kind, name)
	if what == recording.Annotation {
		text, said := t.markers[x.Correlation.Internal]
		mark := strings.HasPrefix(name, "roctxMark")
		if said {
			name = t.f.Said(text)
		}
		if mark {
			l.Moment()
			l.Stream.AddOther(begin, trace.KindInstant, uint64(t.f.Text(name)))
			return
		}
	}
	if launches && x.Correlation.Internal != 0 {
		l.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, x.Correlation.Internal)
	}
	l.Put(begin, dur, t.f.Region(name, what), nest.Call{})
}

// stream returns the stream of a device, or the queue where streams are not recorded.
func (t *tool) stream(device agent, stream *handle, queue handle) *recording.Track {
	kind, number := "queue", queue.Handle
	if stream != nil {
		kind, number = "stream", stream.Handle
	}
	return t.process.stream(device.number, int64(number), func() string { return fmt.Sprintf("%s %d", kind, number) })
}

// work puts what a stream executes.
func (t *tool) work(x *jsonRecord, l *recording.Track, region trace.RegionID) {
	begin, dur := t.span(x)
	if l == nil {
		return
	}
	if id := x.Correlation.Internal; id != 0 {
		l.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, id)
	}
	if x.Bytes > 0 {
		l.Stream.AddAttr(recording.AttrBytes, trace.TypeUint64, x.Bytes)
	}
	l.Put(begin, dur, region, t.f.Communication(region))
}

func (t *tool) kernel(x *jsonRecord) {
	region, known := t.kernels[x.Dispatch.Kernel]
	if !known {
		region = t.f.Region("(kernel without a name)", kernelWhat)
	}
	t.work(x, t.stream(t.agents[x.Dispatch.Agent.Handle], x.Stream, x.Dispatch.Queue), region)
}

func (t *tool) copy(x *jsonRecord) {
	device := t.agents[x.Target.Handle]
	if !device.gpu {
		device = t.agents[x.Source.Handle]
	}
	_, name := t.names(x)
	t.work(x, t.stream(device, x.Stream, handle{}), t.f.Region(copyName(name), copyWhat))
}

func (t *tool) allocation(x *jsonRecord) {
	device := int64(-1)
	if a := t.agents[x.Agent.Handle]; a.gpu {
		device = a.number
	}
	_, name := t.names(x)
	begin, dur := t.span(x)
	// Addresses are numbers, or texts of them.
	h := fnv.New64a()
	h.Write(bytes.Trim(x.Address, `"`))
	t.process.allocate(t.f, device, nest.AddTime(begin, dur), strings.Contains(name, "FREE"), h.Sum64(), x.Size)
}

// collected puts the counters of a kernel at its end, each as the sum of its parts.
func (t *tool) collected(c *jsonCounters) {
	if c.Data.End == 0 {
		return
	}
	sums := make(map[uint64]float64)
	var order []uint64
	for _, x := range c.Records {
		if _, known := sums[x.Counter.Handle]; !known {
			order = append(order, x.Counter.Handle)
		}
		sums[x.Counter.Handle] += x.Value
	}
	l := t.stream(t.agents[c.Data.Dispatch.Agent.Handle], c.Data.Stream, c.Data.Dispatch.Queue)
	for _, id := range order {
		name := t.counters[id]
		if name == "" {
			name = fmt.Sprintf("counter %d", id)
		}
		if metric, ok := t.f.Metric(name, "", trace.MetricRelativeLast, trace.TypeDouble); ok && l != nil {
			t.f.Value(l, c.Data.End, metric, sums[id])
		}
	}
}
