package jsontrace

import (
	"bytes"
	"regexp"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// A tri is an answer that may not be known yet.
type tri uint8

const (
	unsure tri = iota
	yes
	no
)

// operation gives an operation of a step of training its numbers. The first slice of a region says whether its slices are such.
func (f *file) operation(l *track, r *region, ev *event) {
	if r.training == unsure {
		r.training = no
		if bytes.Contains(ev.args, []byte(`"step"`)) && bytes.Contains(ev.args, []byte(`"mb_id"`)) {
			r.training = yes
		}
	}
	if r.training == no {
		return
	}
	var numbers [4]int64 // of attrStep and those after it
	var has [4]bool
	members(ev.args, func(key, value []byte) bool {
		i := 0
		switch string(key) {
		case "step":
		case "seq_id":
			i = 1
		case "mb_id":
			i = 2
		case "model_chunk":
			i = 3
		default:
			return true
		}
		numbers[i], has[i] = integer(text(value))
		return true
	})
	if !has[0] || numbers[0] < 0 {
		return
	}
	l.steps, f.attributes = true, attrStage+1
	for i, n := range numbers {
		if has[i] && n >= 0 { // -1: none
			l.Stream.AddAttr(attrStep+trace.AttributeID(i), trace.TypeUint64, uint64(n))
		}
	}
}

// What names of processes and threads say about workers: "DP rank [1]", "PP rank 3, TP rank 0, compute".
var (
	dpRank = trace.Expression(`(?i)\bDP rank \[?(\d{1,9})\b`)
	ppRank = trace.Expression(`(?i)\bPP rank \[?(\d{1,9})\b`)
	tpRank = trace.Expression(`(?i)\bTP rank \[?(\d{1,9})\b`)
)

// placeWorker finds the data-parallel rank and the stage of a track by its names. Of tensor-parallel ranks the first stands for all.
func (f *file) placeWorker(l *track) {
	names := f.meta.processes[l.pid] + ", " + f.meta.threads[[2]ident{l.pid, l.tid}]
	if m := tpRank().FindStringSubmatch(names); m != nil && number([]byte(m[1])) > 0 {
		return
	}
	l.Placed = &nest.Placed{With: attrStep}
	for i, name := range []*regexp.Regexp{dpRank(), ppRank()} {
		if m := name.FindStringSubmatch(names); m != nil {
			l.Placed.Attributes = append(l.Placed.Attributes, attrDP+trace.AttributeID(i))
			l.Placed.Values = append(l.Placed.Values, number([]byte(m[1])))
		}
	}
}
