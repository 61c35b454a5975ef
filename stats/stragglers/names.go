package stragglers

import (
	"strconv"
	"strings"

	"tracekit/trace"
)

// A phase is a part of a step: forward and backward pass, gradients of weights, what the optimizer does. Of what is recorded
// without one it is unnamed.
type phase uint8

const (
	unnamed phase = iota
	forward
	backward
	weights
	update
)

// A meaning is what the name of a region says about steps.
type meaning struct {
	phase  phase
	batch  uint32 // micro-batch; none: not named
	stage  uint32 // of the model, of which a rank may have several; none: not named
	step   uint64
	stepBy stepMark
	op     bool // an operator that does not communicate
	waits  bool // an operator that does
	sent   bool // a message of gloo
}

// A stepMark says by what a step is known.
type stepMark uint8

const (
	noStep       stepMark = iota
	servedStep            // an annotation of a server without a number
	namedStep             // an annotation with a number, such as step3
	profilerStep          // ProfilerStep#3
)

// The names of annotations of steps and of phases. vLLM calls a step execute_context_1(48)_generation_3(3), or execute_new_1_cached_3,
// SGLang step[DECODE bs=32]. Those of PyTorch's pipelines are as "Forward 3" or, with
// their stage, "PP:1F3", where I is the backward pass without gradients of weights.
var (
	stepName  = trace.Expression(`(?i)^(?:train(?:ing)?[ _]?)?(?:step|iter(?:ation)?|batch)[ _#:]*(\d{1,18})$`)
	phaseName = trace.Expression(`(?i)^(?:[\w.]*[.:])?(forward|fwd|f|backward|bwd|b|weight|wgrad|w)(?:[ _-]?(?:step|pass|compute))?` +
		`(?:[ _#:-]*(?:mb|micro-?batch)?[ _#:-]*(\d{1,9}))?$`)
	actionName = trace.Expression(`^PP:(\d{1,9})([FBIW])(\d{1,9})$`)
	servedName = trace.Expression(`^(?:execute_(?:\d+_)?(?:context|new)_\d|step\[[A-Z])`)
	updateName = trace.Expression(`(?i)^(?:optimizer[._ -]?step\b.*|optimizer|update)$`)
)

// evaluates begins the names of slices of PyTorch's backward pass.
const evaluates = "autograd::engine::evaluate_function"

// meaningOf returns what a region of a profiler says, by its name and category.
func meaningOf(name, category string) (m meaning) {
	m.batch, m.stage = none, none
	if category == "cpu_op" || category == "Operator" {
		_, peers := trace.PeerOperator(name)
		m.waits = peers || strings.HasPrefix(name, "c10d::") || strings.HasPrefix(name, "_c10d_functional") || name == "record_param_comms"
		m.op = !m.waits
	}
	if strings.HasPrefix(name, evaluates) {
		m.phase = backward
		return m
	}
	if n, ok := strings.CutPrefix(name, "ProfilerStep#"); ok {
		if v, err := strconv.ParseUint(n, 10, 63); err == nil {
			m.step, m.stepBy = v, profilerStep
		}
		return m
	}
	m.sent = name == "gloo:send" || name == "gloo:recv"
	if category != "user_annotation" && category != "gpu_user_annotation" {
		return m
	}
	name = strings.Trim(name, "# ")
	if found := stepName().FindStringSubmatch(name); found != nil {
		m.step, _ = strconv.ParseUint(found[1], 10, 63) // which is one
		m.stepBy = namedStep
		return m
	}
	if servedName().MatchString(name) {
		m.stepBy = servedStep
		return m
	}
	if updateName().MatchString(name) {
		m.phase = update
		return m
	}
	found := phaseName().FindStringSubmatch(name)
	if action := actionName().FindStringSubmatch(name); action != nil {
		n, _ := strconv.ParseUint(action[1], 10, 31) // which is one
		m.stage, found = uint32(n), action[1:]
	}
	if found == nil {
		return m
	}
	switch strings.ToLower(found[1])[0] {
	case 'f':
		m.phase = forward
	case 'b', 'i':
		m.phase = backward
	case 'w':
		m.phase = weights
	}
	if len(found[1]) == 1 && found[2] == "" { // a letter alone says nothing
		m.phase = unnamed
	}
	if n, err := strconv.ParseUint(found[2], 10, 31); err == nil {
		m.batch = uint32(n)
	}
	return m
}

// The categories of regions that PyTorch's profiler records.
var categories = map[string]bool{"cpu_op": true, "user_annotation": true, "kernel": true, "Operator": true, "Kernel": true}

// Profiled reports whether a trace is one of several ranks that PyTorch's profiler has recorded, by its definitions. The steps of
// such a trace, and who does what in them, are found by what its ranks do.
func Profiled(d *trace.Defs) bool {
	recorded := 0
	for _, l := range d.World() {
		if int(l) < len(d.Locations) {
			recorded++
		}
	}
	if recorded < 2 {
		return false
	}
	for i := range d.Regions {
		if categories[d.String(d.Regions[i].Description)] {
			return true
		}
	}
	return false
}
