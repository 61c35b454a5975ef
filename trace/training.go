package trace

import "slices"

// TrainingOperations are the names of the operations of a step of training: computations, then communications.
var TrainingOperations = [...]string{"forward-compute", "backward-compute", "weight-compute", "optimizer", "gc",
	"forward-send", "forward-recv", "backward-send", "backward-recv", "params-all-gather", "grads-reduce-scatter", "separate-grads-all-reduce",
	"layernorm-grads-all-reduce", "embedding-grads-all-reduce", "optimizer-clip-main-grad"}

// TrainingComputations is how many of TrainingOperations are computations.
const TrainingComputations = 5

// IsTraining reports whether definitions may be those of a training job.
func (d *Defs) IsTraining() bool {
	if d.AttributeByName(AttributeStep) == None || d.AttributeByName(AttributeStage) == None && d.AttributeByName(AttributeDP) == None {
		return false
	}
	return slices.ContainsFunc(d.Regions, func(r Region) bool { return d.String(r.Name) == TrainingOperations[0] })
}
