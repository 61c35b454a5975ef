package trace

import "slices"

// The collectives of a step of training of which all members need data of all.
const (
	TrainingParams    = "params-all-gather"
	TrainingGrads     = "grads-reduce-scatter"
	TrainingSeparate  = "separate-grads-all-reduce"
	TrainingEmbedding = "embedding-grads-all-reduce"
	TrainingClip      = "optimizer-clip-main-grad"
)

// TrainingOperations are the names of the operations of a step of training: computations, then communications.
var TrainingOperations = [...]string{"forward-compute", "backward-compute", "weight-compute", "optimizer", "gc",
	"forward-send", "forward-recv", "backward-send", "backward-recv", TrainingParams, TrainingGrads, TrainingSeparate,
	"layernorm-grads-all-reduce", TrainingEmbedding, TrainingClip}

// TrainingComputations is how many of TrainingOperations are computations.
const TrainingComputations = 5

// IsTraining reports whether definitions may be those of a training job.
func (d *Defs) IsTraining() bool {
	if d.AttributeByName(AttributeStep) == None {
		return false
	}
	return slices.ContainsFunc(d.Regions, func(r Region) bool { return d.String(r.Name) == TrainingOperations[0] })
}

// The names of instants between which the profiler of a training job records nothing: between two files of a rank.
const (
	InstantPause  = "recording pauses"
	InstantResume = "recording goes on"
)
