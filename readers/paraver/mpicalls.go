package paraver

import "strings"

// firstMPI is the event type of point-to-point calls; those of the other groups of MPI
// functions follow.
const firstMPI = 50000001

// mpiGroups are the groups of MPI functions, each with an event type of its own.
const mpiGroups = 5

// mpiCall is a value of the event types of MPI: the function's number in Extrae. Names
// are in capitals and without MPI_.
type mpiCall struct {
	value int64
	name  string
}

// mpiCalls are the MPI functions by group: point to point, collective, other, one-sided,
// input and output. Extrae counts tests and starts of requests among the others.
func mpiCalls() [mpiGroups][]mpiCall {
	return [mpiGroups][]mpiCall{
		{
			{1, "SEND"}, {2, "RECV"}, {3, "ISEND"}, {4, "IRECV"}, {5, "WAIT"}, {6, "WAITALL"},
			{33, "BSEND"}, {34, "SSEND"}, {35, "RSEND"}, {36, "IBSEND"}, {37, "ISSEND"}, {38, "IRSEND"},
			{40, "CANCEL"}, {41, "SENDRECV"}, {42, "SENDRECV_REPLACE"}, {59, "WAITANY"},
			{60, "WAITSOME"}, {61, "PROBE"}, {62, "IPROBE"}, {112, "BSEND_INIT"}, {116, "RECV_INIT"},
			{117, "SEND_INIT"}, {121, "RSEND_INIT"}, {122, "SSEND_INIT"}, {190, "MPROBE"},
			{191, "IMPROBE"}, {192, "MRECV"}, {193, "IMRECV"},
		},
		{
			{7, "BCAST"}, {8, "BARRIER"}, {9, "REDUCE"}, {10, "ALLREDUCE"}, {11, "ALLTOALL"},
			{12, "ALLTOALLV"}, {13, "GATHER"}, {14, "GATHERV"}, {15, "SCATTER"}, {16, "SCATTERV"},
			{17, "ALLGATHER"}, {18, "ALLGATHERV"}, {30, "SCAN"}, {80, "REDUCE_SCATTER"},
			{154, "IREDUCE"}, {155, "IALLREDUCE"}, {156, "IBARRIER"}, {157, "IBCAST"},
			{158, "IALLTOALL"}, {159, "IALLTOALLV"}, {160, "IALLGATHER"}, {161, "IALLGATHERV"},
			{162, "IGATHER"}, {163, "IGATHERV"}, {164, "ISCATTER"}, {165, "ISCATTERV"},
			{166, "IREDUCE_SCATTER"}, {167, "ISCAN"}, {168, "REDUCE_SCATTER_BLOCK"},
			{169, "IREDUCE_SCATTER_BLOCK"}, {170, "ALLTOALLW"}, {171, "IALLTOALLW"},
			{174, "NEIGHBOR_ALLGATHER"}, {175, "INEIGHBOR_ALLGATHER"}, {176, "NEIGHBOR_ALLGATHERV"},
			{177, "INEIGHBOR_ALLGATHERV"}, {178, "NEIGHBOR_ALLTOALL"}, {179, "INEIGHBOR_ALLTOALL"},
			{180, "NEIGHBOR_ALLTOALLV"}, {181, "INEIGHBOR_ALLTOALLV"}, {182, "NEIGHBOR_ALLTOALLW"},
			{183, "INEIGHBOR_ALLTOALLW"}, {214, "EXSCAN"}, {215, "IEXSCAN"},
		},
		{
			{19, "COMM_RANK"}, {20, "COMM_SIZE"}, {21, "COMM_CREATE"}, {22, "COMM_DUP"},
			{23, "COMM_SPLIT"}, {24, "COMM_GROUP"}, {25, "COMM_FREE"}, {26, "COMM_REMOTE_GROUP"},
			{27, "COMM_REMOTE_SIZE"}, {28, "COMM_TEST_INTER"}, {29, "COMM_COMPARE"}, {31, "INIT"},
			{32, "FINALIZE"}, {39, "TEST"}, {43, "CART_CREATE"}, {44, "CART_SHIFT"},
			{45, "CART_COORDS"}, {46, "CART_GET"}, {47, "CART_MAP"}, {48, "CART_RANK"},
			{49, "CART_SUB"}, {50, "CARTDIM_GET"}, {51, "DIMS_CREATE"}, {52, "GRAPH_GET"},
			{53, "GRAPH_MAP"}, {54, "GRAPH_CREATE"}, {55, "GRAPH_NEIGHBORS"}, {56, "GRAPHDIMS_GET"},
			{57, "GRAPH_NEIGHBORS_COUNT"}, {58, "TOPO_TEST"}, {76, "PACK"}, {77, "UNPACK"},
			{78, "OP_CREATE"}, {79, "OP_FREE"}, {81, "ATTR_DELETE"}, {82, "ATTR_GET"}, {83, "ATTR_PUT"},
			{84, "GROUP_DIFFERENCE"}, {85, "GROUP_EXCL"}, {86, "GROUP_FREE"}, {87, "GROUP_INCL"},
			{88, "GROUP_INTERSECTION"}, {89, "GROUP_RANK"}, {90, "GROUP_RANGE_EXCL"},
			{91, "GROUP_RANGE_INCL"}, {92, "GROUP_SIZE"}, {93, "GROUP_TRANSLATE_RANKS"},
			{94, "GROUP_UNION"}, {95, "GROUP_COMPARE"}, {96, "INTERCOMM_CREATE"},
			{97, "INTERCOMM_MERGE"}, {98, "KEYVAL_FREE"}, {99, "KEYVAL_CREATE"}, {100, "ABORT"},
			{101, "ERROR_CLASS"}, {102, "ERRHANDLER_CREATE"}, {103, "ERRHANDLER_FREE"},
			{104, "ERRHANDLER_GET"}, {105, "ERROR_STRING"}, {106, "ERRHANDLER_SET"},
			{107, "GET_PROCESSOR_NAME"}, {108, "INITIALIZED"}, {109, "WTICK"}, {110, "WTIME"},
			{111, "ADDRESS"}, {113, "BUFFER_ATTACH"}, {114, "BUFFER_DETACH"}, {115, "REQUEST_FREE"},
			{118, "GET_COUNT"}, {119, "GET_ELEMENTS"}, {120, "PACK_SIZE"}, {123, "START"},
			{124, "STARTALL"}, {125, "TESTALL"}, {126, "TESTANY"}, {127, "TEST_CANCELLED"},
			{128, "TESTSOME"}, {129, "TYPE_COMMIT"}, {130, "TYPE_CONTIGUOUS"}, {131, "TYPE_EXTENT"},
			{132, "TYPE_FREE"}, {133, "TYPE_HINDEXED"}, {134, "TYPE_HVECTOR"}, {135, "TYPE_INDEXED"},
			{136, "TYPE_LB"}, {137, "TYPE_SIZE"}, {138, "TYPE_STRUCT"}, {139, "TYPE_UB"},
			{140, "TYPE_VECTOR"}, {151, "COMM_SPAWN"}, {152, "COMM_SPAWN_MULTIPLE"},
			{153, "REQUEST_GET_STATUS"}, {173, "DIST_GRAPH_CREATE"}, {194, "COMM_SPLIT_TYPE"},
			{211, "COMM_DUP_WITH_INFO"}, {212, "DIST_GRAPH_CREATE_ADJACENT"},
			{213, "COMM_CREATE_GROUP"},
		},
		{
			{63, "WIN_CREATE"}, {64, "WIN_FREE"}, {65, "PUT"}, {66, "GET"}, {67, "ACCUMULATE"},
			{68, "WIN_FENCE"}, {69, "WIN_START"}, {70, "WIN_COMPLETE"}, {71, "WIN_POST"},
			{72, "WIN_WAIT"}, {73, "WIN_TEST"}, {74, "WIN_LOCK"}, {75, "WIN_UNLOCK"},
			{172, "GET_ACCUMULATE"}, {184, "FETCH_AND_OP"}, {185, "COMPARE_AND_SWAP"},
			{186, "WIN_FLUSH"}, {187, "WIN_FLUSH_ALL"}, {188, "WIN_FLUSH_LOCAL"},
			{189, "WIN_FLUSH_LOCAL_ALL"},
		},
		{
			{141, "FILE_OPEN"}, {142, "FILE_CLOSE"}, {143, "FILE_READ"}, {144, "FILE_READ_ALL"},
			{145, "FILE_WRITE"}, {146, "FILE_WRITE_ALL"}, {147, "FILE_READ_AT"},
			{148, "FILE_READ_AT_ALL"}, {149, "FILE_WRITE_AT"}, {150, "FILE_WRITE_AT_ALL"},
			{195, "FILE_WRITE_ALL_BEGIN"}, {196, "FILE_WRITE_ALL_END"}, {197, "FILE_READ_ALL_BEGIN"},
			{198, "FILE_READ_ALL_END"}, {199, "FILE_WRITE_AT_ALL_BEGIN"},
			{200, "FILE_WRITE_AT_ALL_END"}, {201, "FILE_READ_AT_ALL_BEGIN"},
			{202, "FILE_READ_AT_ALL_END"}, {203, "FILE_READ_ORDERED"}, {204, "FILE_READ_ORDERED_BEGIN"},
			{205, "FILE_READ_ORDERED_END"}, {206, "FILE_READ_SHARED"}, {207, "FILE_WRITE_ORDERED"},
			{208, "FILE_WRITE_ORDERED_BEGIN"}, {209, "FILE_WRITE_ORDERED_END"},
			{210, "FILE_WRITE_SHARED"},
		},
	}
}

// mixedCase returns an MPI function's name as MPI writes it in C: MPI_Comm_rank.
func mixedCase(name string) string {
	name = strings.ToLower(name)
	rest := strings.TrimPrefix(name, "mpi_")
	if rest == "" || !strings.HasPrefix(name, "mpi_") {
		return name
	}
	return "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]
}
