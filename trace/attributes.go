package trace

// AttributeCorrelation names the attribute that links a call on the host to what it starts on an accelerator: both are entered with the
// same value, which no other call of the process has.
const AttributeCorrelation = "correlation"

// The names of the attributes of an instant, or an Enter, in which a flow starts, goes on or ends.
const (
	AttributeFlowOut  = "flow_out"
	AttributeFlowStep = "flow_step"
	AttributeFlowIn   = "flow_in"
)

// AttributeFile and AttributeBytes are the names of the attributes of the Enter of a call that
// works on a file: the file, a string, and how many bytes were read or written.
const (
	AttributeFile  = "file"
	AttributeBytes = "bytes"
)

// The names of the attributes of the Enter of an operation of a step of training.
const (
	AttributeStep       = "step"
	AttributeDP         = "dp_rank"     // data-parallel rank
	AttributeStage      = "stage"       // of the pipeline
	AttributeTP         = "tp_rank"     // tensor-parallel rank, which shares the computation of a data-parallel rank and stage with others
	AttributeMicroBatch = "micro_batch" // of the step
	AttributeChunk      = "chunk"       // of the model, within its stage
	AttributeModelChunk = "model_chunk" // of the model
	AttributeSeq        = "seq"         // among the operations of its kind in the step on its worker
	AttributeGroup      = "group"       // who communicates together, a text
)

// AttributeByName returns the attribute of a name, None if there is none.
func (d *Defs) AttributeByName(name string) AttributeID {
	for i, a := range d.Attributes {
		if d.String(a.Name) == name {
			return AttributeID(i)
		}
	}
	return None
}
