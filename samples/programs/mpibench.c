/* mpibench.c: what each MPI call takes when nothing is in its way.
 *
 * For message sizes 1, 10, 20 .. 100, 200 .. 1000, 2000 .. MAXBYTES and each
 * operation REPEAT calls are made; a tracer records them, and `tracekit fit`
 * learns from the trace what a call needs. A receive of the ping-pong takes as
 * long as the message's whole round; all else follows its like at once.
 * Collectives run on communicators of 2, 3, 4, 6, 8, 12 .. processes, as many as
 * there are.
 *
 * usage: mpibench [REPEAT [MAXBYTES]]
 */
#include "tracekit_mpi.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    MPI_Comm comm;
    int      rank, size, repeat;
    char    *out, *in;          /* room for the largest message to everyone */
} bench;

/* next_size steps 1, 10, 20 .. 100, 200 .. 1000, 2000 .. */
static int next_size(int n)
{
    int step = 10;
    if (n < 10) return 10;
    while (n >= 10 * step) step *= 10;
    return n + step;
}

/* partner pairs 0-1, 2-3 ..; the odd one out has none. */
static int partner(const bench *b)
{
    int p = b->rank ^ 1;
    return p < b->size ? p : MPI_PROC_NULL;
}

static void ping_pong(const bench *b, int bytes)
{
    int p = partner(b);
    TK_BEGIN("ping_pong");
    for (int i = 0; i < b->repeat && p != MPI_PROC_NULL; i++) {
        if (b->rank % 2 == 0) MPI_Send(b->out, bytes, MPI_BYTE, p, 1, b->comm);
        MPI_Recv(b->in, bytes, MPI_BYTE, p, 1, b->comm, MPI_STATUS_IGNORE);
        if (b->rank % 2 == 1) MPI_Send(b->out, bytes, MPI_BYTE, p, 1, b->comm);
    }
    TK_END;
}

static void non_blocking(const bench *b, int bytes)
{
    int p = partner(b);
    MPI_Request send, recv;
    TK_BEGIN("non_blocking");
    for (int i = 0; i < b->repeat && p != MPI_PROC_NULL; i++) {
        MPI_Irecv(b->in, bytes, MPI_BYTE, p, 2, b->comm, &recv);
        MPI_Isend(b->out, bytes, MPI_BYTE, p, 2, b->comm, &send);
        MPI_Wait(&recv, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    TK_END;
}

static void send_receive(const bench *b, int bytes)
{
    int p = partner(b);
    TK_BEGIN("send_receive");
    for (int i = 0; i < b->repeat && p != MPI_PROC_NULL; i++)
        MPI_Sendrecv(b->out, bytes, MPI_BYTE, p, 3, b->in, bytes, MPI_BYTE, p, 3, b->comm,
                     MPI_STATUS_IGNORE);
    TK_END;
}

static void all_reduce(const bench *b, int bytes)
{
    TK_BEGIN("all_reduce");
    for (int i = 0; i < b->repeat; i++)
        MPI_Allreduce(b->out, b->in, bytes, MPI_BYTE, MPI_BOR, b->comm);
    TK_END;
}

static void broadcast(const bench *b, int bytes)
{
    TK_BEGIN("broadcast");
    for (int i = 0; i < b->repeat; i++) MPI_Bcast(b->out, bytes, MPI_BYTE, 0, b->comm);
    TK_END;
}

static void reduce(const bench *b, int bytes)
{
    TK_BEGIN("reduce");
    for (int i = 0; i < b->repeat; i++)
        MPI_Reduce(b->out, b->in, bytes, MPI_BYTE, MPI_BOR, 0, b->comm);
    TK_END;
}

static void all_to_all(const bench *b, int bytes)
{
    TK_BEGIN("all_to_all");
    for (int i = 0; i < b->repeat; i++)
        MPI_Alltoall(b->out, bytes, MPI_BYTE, b->in, bytes, MPI_BYTE, b->comm);
    TK_END;
}

static void barrier(const bench *b)
{
    TK_BEGIN("barrier");
    for (int i = 0; i < b->repeat; i++) MPI_Barrier(b->comm);
    TK_END;
}

/* sizes runs one operation over all sizes, each start synchronised. */
static void sizes(const bench *b, void (*operation)(const bench *, int), int max)
{
    for (int bytes = 1; bytes <= max; bytes = next_size(bytes)) {
        MPI_Barrier(b->comm);
        operation(b, bytes);
    }
}

static void collectives(const bench *b, int max)
{
    barrier(b);
    sizes(b, broadcast, max);
    sizes(b, reduce, max);
    sizes(b, all_reduce, max);
    sizes(b, all_to_all, max);
}

/* on_part runs the collectives on the first p processes; the rest wait. */
static void on_part(bench b, int p, int max)
{
    MPI_Comm world = b.comm;
    MPI_Comm_split(world, b.rank < p ? 0 : MPI_UNDEFINED, b.rank, &b.comm);
    if (b.comm != MPI_COMM_NULL) {
        b.size = p;
        collectives(&b, max);
        MPI_Comm_free(&b.comm);
    }
    MPI_Barrier(world);
}

int main(int argc, char **argv)
{
    bench b = {.comm = MPI_COMM_WORLD};
    int max = argc > 2 ? atoi(argv[2]) : 4000000;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(b.comm, &b.rank);
    MPI_Comm_size(b.comm, &b.size);
    b.repeat = argc > 1 ? atoi(argv[1]) : 200;
    b.out = calloc((size_t)b.size, (size_t)max + 1);
    b.in = calloc((size_t)b.size, (size_t)max + 1);
    sizes(&b, ping_pong, max);
    sizes(&b, non_blocking, max);
    sizes(&b, send_receive, max);
    for (int p = 2; p < b.size; p = p & (p - 1) ? p / 3 * 4 : p / 2 * 3) on_part(b, p, max);
    if (b.size > 1) collectives(&b, max);
    if (b.rank == 0) printf("%d processes, %d calls each, up to %d bytes\n", b.size, b.repeat, max);
    MPI_Finalize();
    TK_END;
    return 0;
}
