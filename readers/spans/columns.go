package spans

import (
	"fmt"
	"slices"
	"strings"

	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// A field is what a column may mean.
type field int

const (
	fieldStart field = iota
	fieldEnd
	fieldDuration
	fieldName
	fieldRank
	fieldStep
	fieldDP
	fieldStage
	fieldTP
	fieldMicroBatch
	fieldChunk
	fieldModelChunk
	fieldSeq
	fieldDevice
	fieldStream
	fieldThread
	fieldBytes
	fieldPeer
	fieldGroup
	fieldCategory
	fieldJob
	fields
)

// synonyms are the usual names of columns, by what they mean; the first is the name of the field. A unit may follow the names of
// times.
var synonyms = [fields][]string{
	fieldStart:    {"start", "start_ts", "start_time", "begin", "begin_ts", "begin_time", "ts", "timestamp", "time_start", "t_start"},
	fieldEnd:      {"end", "end_ts", "end_time", "finish", "finish_time", "stop", "stop_time", "time_end", "t_end"},
	fieldDuration: {"duration", "dur", "elapsed", "elapsed_time", "duration_time"},
	fieldName: {"name", "optype", "op", "op_name", "op_type", "operation", "event", "event_name", "kernel", "kernel_name", "function",
		"activity"},
	fieldRank:       {"rank", "global_rank", "world_rank", "rank_id", "worker", "worker_id"},
	fieldStep:       {"step", "step_id", "iteration", "iter", "global_step", "train_step"},
	fieldDP:         {"dp_rank", "dp", "dp_id", "data_parallel_rank"},
	fieldStage:      {"stage", "stage_id", "pp_rank", "pp", "pipeline_rank", "pipeline_stage", "pipeline_parallel_rank"},
	fieldTP:         {"tp_rank", "tp", "tp_id", "tensor_parallel_rank"},
	fieldMicroBatch: {"micro_batch", "mb_id", "mb", "microbatch", "micro_batch_id", "microbatch_id"},
	fieldChunk:      {"chunk", "mc", "chunk_id", "model_chunk_of_stage", "vpp_rank", "virtual_stage"},
	fieldModelChunk: {"model_chunk", "gmc", "global_model_chunk", "global_chunk"},
	fieldSeq:        {"seq", "seq_id", "sequence", "sequence_id"},
	fieldDevice:     {"device", "device_id", "gpu", "gpu_id"},
	fieldStream:     {"stream", "stream_id"},
	fieldThread:     {"thread", "thread_id", "tid", "lane"},
	fieldBytes:      {"bytes", "nbytes", "size_bytes", "message_size"},
	fieldPeer:       {"peer", "peer_rank", "partner", "partner_rank"},
	fieldGroup:      {"group", "process_group", "group_name", "pg_name", "communicator", "comm"},
	fieldCategory:   {"category", "cat"},
	fieldJob:        {"job", "job_id", "job_name", "run", "run_id", "run_name"},
}

// Fields returns what columns may mean, each with the usual names of such columns.
func Fields() (names [][]string) { return synonyms[:] }

// units are the nanoseconds of units of time, by what follows the name of a column.
var units = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "seconds": 1e9}

// Units are the units of time that a caller may name.
func Units() []string { return []string{"ns", "us", "ms", "s"} }

// meaning returns what a column means by its name, and the unit of time that the name says, 0 if it says none.
func meaning(name string) (f field, unit float64, ok bool) {
	s := strings.ToLower(strings.TrimSpace(name))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" -._()[]/", r) }), "_")
	of := func(s string) bool {
		i := slices.IndexFunc(synonyms[:], func(names []string) bool { return slices.Contains(names, s) })
		f = field(i)
		return i >= 0
	}
	if of(s) {
		return f, 0, true
	}
	if i := strings.LastIndexByte(s, '_'); i > 0 && units[s[i+1:]] > 0 && of(s[:i]) && f <= fieldDuration {
		return f, units[s[i+1:]], true
	}
	return 0, 0, false
}

// A layout says which column of a table has what.
//
//	of[f] is the column of field f; -1: there is none
//	unit[f] is how many ns 1 stands for, of times; 0: not said
type layout struct {
	of      [fields]int
	unit    [fields]float64
	leftOut []string
}

// layoutOf finds the meaning of columns: chosen by the caller, by the names of fields, else by their names. The first column of a
// meaning has it.
func layoutOf(columns []arrowdir.CellColumn, chosen map[string]string) (l layout, err error) {
	for f := range l.of {
		l.of[f] = -1
	}
	taken := make([]bool, len(columns))
	for f, names := range synonyms {
		name, ok := chosen[names[0]]
		if !ok {
			continue
		}
		i := slices.IndexFunc(columns, func(c arrowdir.CellColumn) bool { return c.Name == name })
		if i < 0 {
			return l, fmt.Errorf("%w: it has no column %q; its columns are %s", trace.ErrNotATrace, name, listed(columns))
		}
		if columns[i].Kind == arrowdir.NoCells {
			return l, fmt.Errorf("%w: its column %q %s", trace.ErrNotATrace, name, noCells)
		}
		_, unit, _ := meaning(name)
		l.of[f], l.unit[f], taken[i] = i, unit, true
	}
	for i, c := range columns {
		f, unit, ok := meaning(c.Name)
		switch {
		case taken[i]:
		case ok && l.of[f] < 0 && c.Kind != arrowdir.NoCells:
			l.of[f], l.unit[f] = i, unit
		default:
			l.leftOut = append(l.leftOut, c.Name)
		}
	}
	for f, i := range l.of {
		if i >= 0 && l.unit[f] == 0 {
			l.unit[f] = columns[i].Unit
		}
	}
	var missing []string
	for _, f := range []field{fieldStart, fieldName} {
		if l.of[f] < 0 {
			missing = append(missing, synonyms[f][0])
		}
	}
	if l.of[fieldEnd] < 0 && l.of[fieldDuration] < 0 {
		missing = append(missing, "duration")
	}
	if len(missing) > 0 {
		for _, c := range columns {
			if f, _, ok := meaning(c.Name); ok && c.Kind == arrowdir.NoCells && slices.Contains(missing, synonyms[f][0]) {
				return l, fmt.Errorf("%w: its column %q %s", trace.ErrNotATrace, c.Name, noCells)
			}
		}
		return l, fmt.Errorf("%w: a table without a column for %s; name it, as in --columns %s=COLUMN. Its columns are %s",
			trace.ErrNotATrace, strings.Join(missing, ", "), missing[0], listed(columns))
	}
	return l, nil
}

// noCells says why a column is of no use.
const noCells = "holds lists, records or decimals; write one plain number or text in each row"

// listed lists columns for a message.
func listed(columns []arrowdir.CellColumn) string {
	const most = 24
	var names []string
	for _, c := range columns[:min(most, len(columns))] {
		name := c.Name
		if len(name) > 40 {
			name = strings.ToValidUTF8(name[:40], "") + "…"
		}
		names = append(names, name)
	}
	if len(columns) > most {
		names = append(names, fmt.Sprintf("and %d more", len(columns)-most))
	}
	return strings.Join(names, ", ")
}
