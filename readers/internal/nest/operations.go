package nest

import (
	"strings"

	"tracekit/trace"
)

// ElementBytes returns the size of an element of PyTorch's or NCCL's data types; 1 for
// types that are not known.
func ElementBytes(dtype string) uint64 {
	s := strings.ToLower(strings.TrimPrefix(dtype, "nccl"))
	switch s {
	case "double", "long", "int64", "uint64", "float64", "complexfloat":
		return 8
	case "float", "int", "int32", "uint32", "float32":
		return 4
	case "half", "bfloat16", "short", "float16":
		return 2
	case "complexdouble":
		return 16
	}
	return 1
}

// KernelOperation returns what the name of a kernel says about its communication. The
// point-to-point kernel is that of an all-to-all: single messages have arguments.
func KernelOperation(name string) Operation {
	s := strings.ToLower(strings.TrimPrefix(name, "void "))
	for _, prefix := range []string{"nccldevkernel_", "ncclkernel_", "ncclsymdevkernel_", "ncclsymkdevkernel_", "hcom_"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			if end := strings.IndexAny(rest, "_("); end >= 0 {
				rest = rest[:end]
			}
			if rest == "sendrecv" {
				return Collective(trace.CollAlltoall)
			}
			if op := OperationByName(rest); op != OpNone {
				return op
			}
			return OpUnnamed
		}
	}
	return OpNone
}

// operations are those of PyTorch, NCCL and HCCL by their names without ornaments.
var operations = map[string]Operation{
	"allreduce": Collective(trace.CollAllreduce), "broadcast": Collective(trace.CollBcast), "reduce": Collective(trace.CollReduce),
	"allgather": Collective(trace.CollAllgather), "gather": Collective(trace.CollGather), "scatter": Collective(trace.CollScatter),
	"reducescatter": Collective(trace.CollReduceScatterBlock), "alltoall": Collective(trace.CollAlltoall),
	"alltoallv": Collective(trace.CollAlltoallv), "alltoallsingle": Collective(trace.CollAlltoallv),
	"barrier": Collective(trace.CollBarrier), "send": OpSend, "recv": OpRecv,
}

// ornaments are what names of operations may have besides.
var ornaments = strings.NewReplacer("_base", "", "_into_tensor", "", "_tensor", "", "_coalesced", "", "_", "")

// OperationByName returns the operation that PyTorch, NCCL or HCCL call so, OpNone if it is none.
func OperationByName(name string) Operation {
	return operations[ornaments.Replace(strings.ToLower(strings.Trim(name, "_")))]
}
