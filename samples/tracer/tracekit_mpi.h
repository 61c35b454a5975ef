/* tracekit_mpi.h: what a program includes so that its trace knows source lines.
 *
 * Include it instead of (or after) <mpi.h>, or leave the sources alone and
 * compile with `mpicc -include tracekit_mpi.h`. Every MPI call that the tracer
 * records then passes its file and line first. TK_BEGIN("name") and TK_END mark
 * a region of the program; they nest, and belong to one thread.
 *
 * The header needs no library: hooks are looked up when the program runs, and
 * without the tracer (LD_PRELOAD or linked) they cost one test of a pointer.
 */
#ifndef TRACEKIT_MPI_H
#define TRACEKIT_MPI_H

#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#ifdef __GNUC__
#define TK_UNUSED __attribute__((unused))
#else
#define TK_UNUSED
#endif

/* tk_hook finds a function of the tracer among all that is loaded, or NULL. */
static TK_UNUSED void *tk_hook(const char *name) { return dlsym(dlopen(NULL, RTLD_LAZY), name); }

/* tk_at notes the place of the MPI call that follows. */
static TK_UNUSED void tk_at(const char *file, int line)
{
    static int known;
    static void (*hook)(const char *, int);
    if (!known) {
        hook = (void (*)(const char *, int))tk_hook("tracekit_at");
        known = 1;
    }
    if (hook) hook(file, line);
}

/* tk_begin enters a region of the program. */
static TK_UNUSED void tk_begin(const char *name, const char *file, int line)
{
    static int known;
    static void (*hook)(const char *, const char *, int);
    if (!known) {
        hook = (void (*)(const char *, const char *, int))tk_hook("tracekit_begin");
        known = 1;
    }
    if (hook) hook(name, file, line);
}

/* tk_end leaves the region entered last. */
static TK_UNUSED void tk_end(int line)
{
    static int known;
    static void (*hook)(int);
    if (!known) {
        hook = (void (*)(int))tk_hook("tracekit_end");
        known = 1;
    }
    if (hook) hook(line);
}

#define TK_BEGIN(name) tk_begin(name, __FILE__, __LINE__)
#define TK_END tk_end(__LINE__)

/* One macro for each call the tracer records. A macro's own name inside its
 * text is not expanded again, so each ends in the real function. */
#define MPI_Init(...) (tk_at(__FILE__, __LINE__), MPI_Init(__VA_ARGS__))
#define MPI_Init_thread(...) (tk_at(__FILE__, __LINE__), MPI_Init_thread(__VA_ARGS__))
#define MPI_Finalize(...) (tk_at(__FILE__, __LINE__), MPI_Finalize(__VA_ARGS__))
#define MPI_Send(...) (tk_at(__FILE__, __LINE__), MPI_Send(__VA_ARGS__))
#define MPI_Bsend(...) (tk_at(__FILE__, __LINE__), MPI_Bsend(__VA_ARGS__))
#define MPI_Ssend(...) (tk_at(__FILE__, __LINE__), MPI_Ssend(__VA_ARGS__))
#define MPI_Rsend(...) (tk_at(__FILE__, __LINE__), MPI_Rsend(__VA_ARGS__))
#define MPI_Recv(...) (tk_at(__FILE__, __LINE__), MPI_Recv(__VA_ARGS__))
#define MPI_Sendrecv(...) (tk_at(__FILE__, __LINE__), MPI_Sendrecv(__VA_ARGS__))
#define MPI_Sendrecv_replace(...) (tk_at(__FILE__, __LINE__), MPI_Sendrecv_replace(__VA_ARGS__))
#define MPI_Probe(...) (tk_at(__FILE__, __LINE__), MPI_Probe(__VA_ARGS__))
#define MPI_Iprobe(...) (tk_at(__FILE__, __LINE__), MPI_Iprobe(__VA_ARGS__))
#define MPI_Mprobe(...) (tk_at(__FILE__, __LINE__), MPI_Mprobe(__VA_ARGS__))
#define MPI_Improbe(...) (tk_at(__FILE__, __LINE__), MPI_Improbe(__VA_ARGS__))
#define MPI_Mrecv(...) (tk_at(__FILE__, __LINE__), MPI_Mrecv(__VA_ARGS__))
#define MPI_Imrecv(...) (tk_at(__FILE__, __LINE__), MPI_Imrecv(__VA_ARGS__))
#define MPI_Isend(...) (tk_at(__FILE__, __LINE__), MPI_Isend(__VA_ARGS__))
#define MPI_Ibsend(...) (tk_at(__FILE__, __LINE__), MPI_Ibsend(__VA_ARGS__))
#define MPI_Issend(...) (tk_at(__FILE__, __LINE__), MPI_Issend(__VA_ARGS__))
#define MPI_Irsend(...) (tk_at(__FILE__, __LINE__), MPI_Irsend(__VA_ARGS__))
#define MPI_Irecv(...) (tk_at(__FILE__, __LINE__), MPI_Irecv(__VA_ARGS__))
#define MPI_Send_init(...) (tk_at(__FILE__, __LINE__), MPI_Send_init(__VA_ARGS__))
#define MPI_Bsend_init(...) (tk_at(__FILE__, __LINE__), MPI_Bsend_init(__VA_ARGS__))
#define MPI_Ssend_init(...) (tk_at(__FILE__, __LINE__), MPI_Ssend_init(__VA_ARGS__))
#define MPI_Rsend_init(...) (tk_at(__FILE__, __LINE__), MPI_Rsend_init(__VA_ARGS__))
#define MPI_Recv_init(...) (tk_at(__FILE__, __LINE__), MPI_Recv_init(__VA_ARGS__))
#define MPI_Start(...) (tk_at(__FILE__, __LINE__), MPI_Start(__VA_ARGS__))
#define MPI_Startall(...) (tk_at(__FILE__, __LINE__), MPI_Startall(__VA_ARGS__))
#define MPI_Request_free(...) (tk_at(__FILE__, __LINE__), MPI_Request_free(__VA_ARGS__))
#define MPI_Cancel(...) (tk_at(__FILE__, __LINE__), MPI_Cancel(__VA_ARGS__))
#define MPI_Wait(...) (tk_at(__FILE__, __LINE__), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) (tk_at(__FILE__, __LINE__), MPI_Waitall(__VA_ARGS__))
#define MPI_Waitany(...) (tk_at(__FILE__, __LINE__), MPI_Waitany(__VA_ARGS__))
#define MPI_Waitsome(...) (tk_at(__FILE__, __LINE__), MPI_Waitsome(__VA_ARGS__))
#define MPI_Test(...) (tk_at(__FILE__, __LINE__), MPI_Test(__VA_ARGS__))
#define MPI_Testall(...) (tk_at(__FILE__, __LINE__), MPI_Testall(__VA_ARGS__))
#define MPI_Testany(...) (tk_at(__FILE__, __LINE__), MPI_Testany(__VA_ARGS__))
#define MPI_Testsome(...) (tk_at(__FILE__, __LINE__), MPI_Testsome(__VA_ARGS__))
#define MPI_Barrier(...) (tk_at(__FILE__, __LINE__), MPI_Barrier(__VA_ARGS__))
#define MPI_Bcast(...) (tk_at(__FILE__, __LINE__), MPI_Bcast(__VA_ARGS__))
#define MPI_Gather(...) (tk_at(__FILE__, __LINE__), MPI_Gather(__VA_ARGS__))
#define MPI_Gatherv(...) (tk_at(__FILE__, __LINE__), MPI_Gatherv(__VA_ARGS__))
#define MPI_Scatter(...) (tk_at(__FILE__, __LINE__), MPI_Scatter(__VA_ARGS__))
#define MPI_Scatterv(...) (tk_at(__FILE__, __LINE__), MPI_Scatterv(__VA_ARGS__))
#define MPI_Allgather(...) (tk_at(__FILE__, __LINE__), MPI_Allgather(__VA_ARGS__))
#define MPI_Allgatherv(...) (tk_at(__FILE__, __LINE__), MPI_Allgatherv(__VA_ARGS__))
#define MPI_Alltoall(...) (tk_at(__FILE__, __LINE__), MPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) (tk_at(__FILE__, __LINE__), MPI_Alltoallv(__VA_ARGS__))
#define MPI_Alltoallw(...) (tk_at(__FILE__, __LINE__), MPI_Alltoallw(__VA_ARGS__))
#define MPI_Allreduce(...) (tk_at(__FILE__, __LINE__), MPI_Allreduce(__VA_ARGS__))
#define MPI_Reduce(...) (tk_at(__FILE__, __LINE__), MPI_Reduce(__VA_ARGS__))
#define MPI_Reduce_scatter(...) (tk_at(__FILE__, __LINE__), MPI_Reduce_scatter(__VA_ARGS__))
#define MPI_Reduce_scatter_block(...) (tk_at(__FILE__, __LINE__), MPI_Reduce_scatter_block(__VA_ARGS__))
#define MPI_Scan(...) (tk_at(__FILE__, __LINE__), MPI_Scan(__VA_ARGS__))
#define MPI_Exscan(...) (tk_at(__FILE__, __LINE__), MPI_Exscan(__VA_ARGS__))
#define MPI_Ibarrier(...) (tk_at(__FILE__, __LINE__), MPI_Ibarrier(__VA_ARGS__))
#define MPI_Ibcast(...) (tk_at(__FILE__, __LINE__), MPI_Ibcast(__VA_ARGS__))
#define MPI_Igather(...) (tk_at(__FILE__, __LINE__), MPI_Igather(__VA_ARGS__))
#define MPI_Igatherv(...) (tk_at(__FILE__, __LINE__), MPI_Igatherv(__VA_ARGS__))
#define MPI_Iscatter(...) (tk_at(__FILE__, __LINE__), MPI_Iscatter(__VA_ARGS__))
#define MPI_Iscatterv(...) (tk_at(__FILE__, __LINE__), MPI_Iscatterv(__VA_ARGS__))
#define MPI_Iallgather(...) (tk_at(__FILE__, __LINE__), MPI_Iallgather(__VA_ARGS__))
#define MPI_Iallgatherv(...) (tk_at(__FILE__, __LINE__), MPI_Iallgatherv(__VA_ARGS__))
#define MPI_Ialltoall(...) (tk_at(__FILE__, __LINE__), MPI_Ialltoall(__VA_ARGS__))
#define MPI_Ialltoallv(...) (tk_at(__FILE__, __LINE__), MPI_Ialltoallv(__VA_ARGS__))
#define MPI_Ialltoallw(...) (tk_at(__FILE__, __LINE__), MPI_Ialltoallw(__VA_ARGS__))
#define MPI_Iallreduce(...) (tk_at(__FILE__, __LINE__), MPI_Iallreduce(__VA_ARGS__))
#define MPI_Ireduce(...) (tk_at(__FILE__, __LINE__), MPI_Ireduce(__VA_ARGS__))
#define MPI_Ireduce_scatter(...) (tk_at(__FILE__, __LINE__), MPI_Ireduce_scatter(__VA_ARGS__))
#define MPI_Ireduce_scatter_block(...) (tk_at(__FILE__, __LINE__), MPI_Ireduce_scatter_block(__VA_ARGS__))
#define MPI_Iscan(...) (tk_at(__FILE__, __LINE__), MPI_Iscan(__VA_ARGS__))
#define MPI_Iexscan(...) (tk_at(__FILE__, __LINE__), MPI_Iexscan(__VA_ARGS__))
#define MPI_Comm_dup(...) (tk_at(__FILE__, __LINE__), MPI_Comm_dup(__VA_ARGS__))
#define MPI_Comm_dup_with_info(...) (tk_at(__FILE__, __LINE__), MPI_Comm_dup_with_info(__VA_ARGS__))
#define MPI_Comm_split(...) (tk_at(__FILE__, __LINE__), MPI_Comm_split(__VA_ARGS__))
#define MPI_Comm_split_type(...) (tk_at(__FILE__, __LINE__), MPI_Comm_split_type(__VA_ARGS__))
#define MPI_Comm_create(...) (tk_at(__FILE__, __LINE__), MPI_Comm_create(__VA_ARGS__))
#define MPI_Comm_create_group(...) (tk_at(__FILE__, __LINE__), MPI_Comm_create_group(__VA_ARGS__))
#define MPI_Cart_create(...) (tk_at(__FILE__, __LINE__), MPI_Cart_create(__VA_ARGS__))
#define MPI_Cart_sub(...) (tk_at(__FILE__, __LINE__), MPI_Cart_sub(__VA_ARGS__))
#define MPI_Graph_create(...) (tk_at(__FILE__, __LINE__), MPI_Graph_create(__VA_ARGS__))
#define MPI_Dist_graph_create(...) (tk_at(__FILE__, __LINE__), MPI_Dist_graph_create(__VA_ARGS__))
#define MPI_Dist_graph_create_adjacent(...) (tk_at(__FILE__, __LINE__), MPI_Dist_graph_create_adjacent(__VA_ARGS__))
#define MPI_Intercomm_create(...) (tk_at(__FILE__, __LINE__), MPI_Intercomm_create(__VA_ARGS__))
#define MPI_Intercomm_merge(...) (tk_at(__FILE__, __LINE__), MPI_Intercomm_merge(__VA_ARGS__))
#define MPI_Comm_free(...) (tk_at(__FILE__, __LINE__), MPI_Comm_free(__VA_ARGS__))

#endif
