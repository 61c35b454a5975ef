package trace

import "strings"

// A CallClass says what an MPI function does, as far as wait states depend on it.
type CallClass uint8

// The classes of MPI functions.
const (
	ClassNone     CallClass = iota // not MPI
	ClassSend                      // MPI_Send, MPI_Ssend: may wait for the receiver
	ClassBsend                     // MPI_Bsend, MPI_Rsend: never wait
	ClassIsend                     // starts a send
	ClassRecv                      // MPI_Recv, MPI_Mrecv
	ClassIrecv                     // starts a receive
	ClassSendrecv                  // MPI_Sendrecv, MPI_Sendrecv_replace
	ClassProbe                     // MPI_Probe, MPI_Mprobe: wait for a message
	ClassTest                      // MPI_Test*, MPI_Iprobe, MPI_Improbe: never wait
	ClassWait                      // MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome
	ClassStart                     // MPI_Start, MPI_Startall
	ClassColl                      // blocking collective
	ClassIcoll                     // starts a collective
	ClassInit                      // MPI_Init, MPI_Init_thread
	ClassFinalize                  // MPI_Finalize
	ClassOther                     // any other MPI function
)

// An MPIFunction is what the name of a region says about it.
type MPIFunction struct {
	Class CallClass
	Op    CollectiveOp // for ClassColl and ClassIcoll
}

var p2pFunctions = map[string]CallClass{
	"send": ClassSend, "ssend": ClassSend, "bsend": ClassBsend, "rsend": ClassBsend,
	"isend": ClassIsend, "issend": ClassIsend, "ibsend": ClassIsend, "irsend": ClassIsend,
	"recv": ClassRecv, "mrecv": ClassRecv, "irecv": ClassIrecv, "imrecv": ClassIrecv,
	"sendrecv": ClassSendrecv, "sendrecv_replace": ClassSendrecv,
	"isendrecv": ClassIsend, "isendrecv_replace": ClassIsend,
	"probe": ClassProbe, "mprobe": ClassProbe, "iprobe": ClassTest, "improbe": ClassTest,
	"wait": ClassWait, "waitall": ClassWait, "waitany": ClassWait, "waitsome": ClassWait,
	"test": ClassTest, "testall": ClassTest, "testany": ClassTest, "testsome": ClassTest,
	"start": ClassStart, "startall": ClassStart,
	"init": ClassInit, "init_thread": ClassInit, "finalize": ClassFinalize,
}

var collFunctions = map[string]CollectiveOp{
	"barrier": CollBarrier, "bcast": CollBcast, "gather": CollGather, "gatherv": CollGatherv,
	"scatter": CollScatter, "scatterv": CollScatterv, "allgather": CollAllgather,
	"allgatherv": CollAllgatherv, "alltoall": CollAlltoall, "alltoallv": CollAlltoallv,
	"alltoallw": CollAlltoallw, "allreduce": CollAllreduce, "reduce": CollReduce,
	"reduce_scatter": CollReduceScatter, "scan": CollScan, "exscan": CollExscan,
	"reduce_scatter_block": CollReduceScatterBlock,
}

// MPIFunctionOf classifies a region by its name, whatever its case and also with the
// prefix of the profiling interface or the suffix of Fortran bindings.
func MPIFunctionOf(name string) MPIFunction {
	s := strings.ToLower(name)
	s = strings.TrimPrefix(s, "p")
	if !strings.HasPrefix(s, "mpi_") {
		return MPIFunction{}
	}
	s = strings.TrimRight(s[4:], "_")
	if c, ok := p2pFunctions[s]; ok {
		return MPIFunction{Class: c}
	}
	if op, ok := collFunctions[s]; ok {
		return MPIFunction{Class: ClassColl, Op: op}
	}
	if op, ok := collFunctions[strings.TrimPrefix(s, "i")]; ok {
		return MPIFunction{Class: ClassIcoll, Op: op}
	}
	return MPIFunction{Class: ClassOther}
}

// Role returns the role that Score-P gives a region with the function's name.
func (f MPIFunction) Role() RegionRole {
	switch f.Class {
	case ClassNone, ClassOther, ClassInit, ClassFinalize:
		return RoleFunction
	case ClassColl, ClassIcoll:
		switch f.Op.Pattern() {
		case PatternBarrier:
			return RoleBarrier
		case PatternOneToAll:
			return RoleCollOne2All
		case PatternAllToOne:
			return RoleCollAll2One
		case PatternScan:
			return RoleCollOther
		}
		return RoleCollAll2All
	}
	return RolePoint2Point
}

// MPIFunctions classifies all regions by name. Regions of paradigm MPI without the name of an MPI function go by canonical name, or else as
// ClassOther. A kernel of NCCL has the canonical name of the MPI function that does the same.
func (d *Defs) MPIFunctions() []MPIFunction {
	out := make([]MPIFunction, len(d.Regions))
	for i, r := range d.Regions {
		out[i] = MPIFunctionOf(d.String(r.Name))
		if out[i].Class == ClassNone && r.Paradigm == ParadigmMPI {
			out[i] = MPIFunctionOf(d.String(r.Canonical))
		}
		if out[i].Class == ClassNone && r.Paradigm == ParadigmMPI {
			out[i].Class = ClassOther
		}
	}
	return out
}
