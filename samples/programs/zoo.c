/* zoo.c: every kind of MPI call that the tracer records, a few times each.
 *
 * Needs an even number of processes, at least 4. Planted:
 *   - lost message: rank 1 sends 64 bytes, tag LOST, to rank 2, once, and rank 2
 *     never receives it; the send completes, since MPI may buffer it;
 *   - cancelled receives: every rank posts a receive that nobody serves and
 *     cancels it, once in each round;
 *   - wrong order: the even rank of each pair sends tag FIRST and then SECOND,
 *     the odd one receives SECOND and then FIRST, 1 ms before they are sent.
 *
 * usage: zoo [ROUNDS]
 */
#include "tracekit_mpi.h"
#include "work.h"

#include <stdlib.h>

enum { N = 32, P_MAX = 64, LOST = 99, NOBODY = 98, FIRST = 20, SECOND = 21 };

static int rank, size;
static int out[N * P_MAX], in[N * P_MAX], counts[P_MAX], displs[P_MAX];

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

/* The four blocking sends, even rank to odd rank of a pair. */
static void sends(int pair)
{
    static char room[N * sizeof(int) + MPI_BSEND_OVERHEAD];
    void *taken;
    int n;
    MPI_Request ready;
    TK_BEGIN("sends");
    if (rank % 2 == 0) {
        MPI_Send(out, N, MPI_INT, pair, 1, WORLD);
        MPI_Ssend(out, N, MPI_INT, pair, 2, WORLD);
        MPI_Buffer_attach(room, sizeof room);
        MPI_Bsend(out, N, MPI_INT, pair, 3, WORLD);
        MPI_Buffer_detach(&taken, &n);
        MPI_Recv(NULL, 0, MPI_INT, pair, 4, WORLD, IGNORE); /* the partner is ready */
        MPI_Rsend(out, N, MPI_INT, pair, 5, WORLD);
    } else {
        work(500);
        for (int tag = 1; tag <= 3; tag++) MPI_Recv(in, N, MPI_INT, pair, tag, WORLD, IGNORE);
        MPI_Irecv(in, N, MPI_INT, pair, 5, WORLD, &ready);
        MPI_Send(NULL, 0, MPI_INT, pair, 4, WORLD);
        MPI_Wait(&ready, IGNORE);
    }
    TK_END;
}

/* Planted: see above. */
static void wrong_order(int pair)
{
    TK_BEGIN("wrong_order");
    if (rank % 2 == 0) {
        work(1000);
        MPI_Send(out, N, MPI_INT, pair, FIRST, WORLD);
        work(1000);
        MPI_Send(out, N, MPI_INT, pair, SECOND, WORLD);
    } else {
        MPI_Recv(in, N, MPI_INT, pair, SECOND, WORLD, IGNORE);
        MPI_Recv(in, N, MPI_INT, pair, FIRST, WORLD, IGNORE);
    }
    TK_END;
}

static void both_ways(int left, int right)
{
    TK_BEGIN("both_ways");
    MPI_Sendrecv(out, N, MPI_INT, right, 30, in, N, MPI_INT, left, 30, WORLD, IGNORE);
    MPI_Sendrecv_replace(in, N, MPI_INT, left, 31, right, 31, WORLD, IGNORE);
    MPI_Sendrecv(out, N, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 32, in, N, MPI_INT,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL, 32, WORLD, IGNORE);
    TK_END;
}

static void probes(int pair)
{
    MPI_Status s;
    MPI_Message m;
    MPI_Request r;
    int found = 0;
    TK_BEGIN("probes");
    if (rank % 2 == 0) {
        work(300);
        for (int tag = 40; tag <= 43; tag++) MPI_Send(out, tag - 38, MPI_INT, pair, tag, WORLD);
    } else {
        MPI_Probe(MPI_ANY_SOURCE, 40, WORLD, &s);
        MPI_Recv(in, N, MPI_INT, s.MPI_SOURCE, 40, WORLD, IGNORE);
        for (; !found; work(50)) MPI_Iprobe(pair, 41, WORLD, &found, &s);
        MPI_Recv(in, N, MPI_INT, pair, 41, WORLD, IGNORE);
        MPI_Mprobe(pair, 42, WORLD, &m, &s);
        MPI_Mrecv(in, N, MPI_INT, &m, IGNORE);
        for (found = 0; !found; work(50)) MPI_Improbe(pair, 43, WORLD, &found, &m, &s);
        MPI_Imrecv(in, N, MPI_INT, &m, &r);
        MPI_Wait(&r, IGNORE);
    }
    TK_END;
}

/* Four messages in flight; the way to wait for them differs by kind. */
static void post(int pair, MPI_Request r[8])
{
    for (int i = 0; i < 4; i++)
        MPI_Irecv(in + i * N, N, MPI_INT, i < 2 ? pair : MPI_ANY_SOURCE, 50 + i, WORLD, &r[i]);
    work(rank % 2 ? 100 : 400);
    MPI_Isend(out, N, MPI_INT, pair, 50, WORLD, &r[4]);
    MPI_Issend(out, N, MPI_INT, pair, 51, WORLD, &r[5]);
    MPI_Isend(out, N, MPI_INT, pair, 52, WORLD, &r[6]);
    MPI_Issend(out, N, MPI_INT, pair, 53, WORLD, &r[7]);
}

static void waits(int pair)
{
    MPI_Request r[8];
    int index, indices[8], done, left = 8;
    TK_BEGIN("waits");
    post(pair, r);
    for (int i = 0; i < 8; i++) MPI_Waitany(8, r, &index, IGNORE);
    post(pair, r);
    while (left > 0) {
        MPI_Waitsome(8, r, &done, indices, MPI_STATUSES_IGNORE);
        left -= done;
    }
    TK_END;
}

static void tests(int pair)
{
    MPI_Request r[8];
    int index, indices[8], done, flag, left;
    TK_BEGIN("tests");
    post(pair, r);
    for (int i = 0; i < 8; i++)
        for (flag = 0; !flag; work(100)) MPI_Test(&r[i], &flag, IGNORE);
    post(pair, r);
    for (flag = 0; !flag; work(100)) MPI_Testall(8, r, &flag, MPI_STATUSES_IGNORE);
    post(pair, r);
    for (left = 8; left > 0; left -= flag) {
        MPI_Testany(8, r, &index, &flag, IGNORE);
        if (!flag) work(100);
    }
    post(pair, r);
    for (left = 8; left > 0; left -= done) {
        MPI_Testsome(8, r, &done, indices, MPI_STATUSES_IGNORE);
        if (!done) work(100);
    }
    TK_END;
}

static void persistent(int pair)
{
    MPI_Request r[3];
    TK_BEGIN("persistent");
    MPI_Recv_init(in, N, MPI_INT, pair, 60, WORLD, &r[0]);
    MPI_Send_init(out, N, MPI_INT, pair, 60, WORLD, &r[1]);
    MPI_Ssend_init(out, N, MPI_INT, pair, 61, WORLD, &r[2]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Start(&r[2]);
        MPI_Recv(in, N, MPI_INT, pair, 61, WORLD, IGNORE);
        MPI_Wait(&r[2], IGNORE);
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&r[i]);
    TK_END;
}

/* Planted: see above. */
static void cancelled(int pair)
{
    MPI_Request r;
    TK_BEGIN("cancelled");
    MPI_Irecv(in, N, MPI_INT, pair, NOBODY, WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, IGNORE);
    TK_END;
}

/* Planted: see above. */
static void lost(void)
{
    MPI_Request r;
    TK_BEGIN("lost");
    if (rank == 1) {
        MPI_Isend(out, 64 / (int)sizeof(int), MPI_INT, 2, LOST, WORLD, &r);
        MPI_Wait(&r, IGNORE);
    }
    TK_END;
}

static void collectives(MPI_Comm c)
{
    MPI_Datatype types[P_MAX];
    int n, me, bytes[P_MAX];
    MPI_Comm_size(c, &n);
    MPI_Comm_rank(c, &me);
    for (int i = 0; i < n; i++) {
        counts[i] = 1 + i, displs[i] = i * N, bytes[i] = i * N * (int)sizeof(int), types[i] = MPI_INT;
    }
    TK_BEGIN("collectives");
    work(100 * me);
    MPI_Barrier(c);
    work(me ? 0 : 400); /* the root comes late */
    MPI_Bcast(out, N, MPI_INT, 0, c);
    work(me ? 400 : 0); /* the root comes early */
    MPI_Reduce(out, in, N, MPI_INT, MPI_SUM, 0, c);
    MPI_Gather(out, N, MPI_INT, in, N, MPI_INT, n - 1, c);
    MPI_Gatherv(out, 1 + me, MPI_INT, in, counts, displs, MPI_INT, 0, c);
    MPI_Scatter(out, N, MPI_INT, in, N, MPI_INT, n - 1, c);
    MPI_Scatterv(out, counts, displs, MPI_INT, in, 1 + me, MPI_INT, 0, c);
    MPI_Allgather(out, N, MPI_INT, in, N, MPI_INT, c);
    MPI_Allgatherv(out, 1 + me, MPI_INT, in, counts, displs, MPI_INT, c);
    MPI_Alltoall(out, N, MPI_INT, in, N, MPI_INT, c);
    for (int i = 0; i < n; i++) counts[i] = 1 + me + i;
    MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, c);
    MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, c);
    MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, c);
    for (int i = 0; i < n; i++) counts[i] = 1 + i;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, c);
    MPI_Reduce_scatter_block(out, in, N, MPI_INT, MPI_SUM, c);
    work(me ? 0 : 300); /* all above rank 0 wait for it */
    MPI_Scan(out, in, N, MPI_INT, MPI_SUM, c);
    MPI_Exscan(out, in, N, MPI_INT, MPI_SUM, c);
    TK_END;
}

/* Non-blocking collectives overlap each other and a message. */
static void background(MPI_Comm c, int left, int right)
{
    MPI_Request r[5];
    static int a[N], b[N], g[N * P_MAX];
    int flag = 0;
    TK_BEGIN("background");
    MPI_Ibcast(a, N, MPI_INT, 0, c, &r[0]);
    MPI_Iallreduce(out, b, N, MPI_INT, MPI_SUM, c, &r[1]);
    MPI_Iallgather(out, N, MPI_INT, g, N, MPI_INT, c, &r[2]);
    MPI_Irecv(in, N, MPI_INT, left, 70, WORLD, &r[3]);
    MPI_Isend(out, N, MPI_INT, right, 70, WORLD, &r[4]);
    work(300 * rank);
    MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    MPI_Ibarrier(c, &r[0]);
    for (; !flag; work(50)) MPI_Test(&r[0], &flag, IGNORE);
    MPI_Ireduce(out, b, N, MPI_INT, MPI_SUM, 0, c, &r[0]);
    MPI_Wait(&r[0], IGNORE);
    TK_END;
}

/* One communicator for the even and one for the odd ranks, and a few more. */
static void sub_communicators(void)
{
    MPI_Comm half, copy, some;
    MPI_Group all, first;
    int two[2] = {0, size - 1}, one = rank, sum;
    TK_BEGIN("sub_communicators");
    MPI_Comm_split(WORLD, rank % 2, -rank, &half); /* ranks run backwards */
    MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
    collectives(half);
    MPI_Comm_dup(half, &copy);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 2, two, &first);
    MPI_Comm_create(WORLD, first, &some);
    if (some != MPI_COMM_NULL) {
        MPI_Sendrecv(out, N, MPI_INT, rank == 0, 80, in, N, MPI_INT, rank == 0, 80, some, IGNORE);
        MPI_Comm_free(&some);
    }
    MPI_Sendrecv(out, N, MPI_INT, 0, 81, in, N, MPI_INT, 0, 81, MPI_COMM_SELF, IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Group_free(&first);
    MPI_Group_free(&all);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    TK_END;
}

/* between joins the even and the odd ranks by an intercommunicator. */
static void between(void)
{
    MPI_Comm half, inter, merged;
    int odd = rank % 2, me, root = odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    TK_BEGIN("between");
    MPI_Comm_split(WORLD, odd, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, odd ? 0 : 1, 90, &inter);
    MPI_Comm_set_name(inter, "even-odd");
    MPI_Comm_rank(inter, &me);
    if (odd) MPI_Recv(in, N, MPI_INT, me, 91, inter, IGNORE);
    else MPI_Send(out, N, MPI_INT, me, 91, inter);
    MPI_Bcast(out, N, MPI_INT, root, inter); /* from rank 0 to the odd ranks */
    MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, odd, &merged);
    MPI_Allreduce(out, in, N, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    TK_END;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    if (size < 4 || size % 2 || size > P_MAX) MPI_Abort(WORLD, 2);
    int pair = rank ^ 1, left = (rank + size - 1) % size, right = (rank + 1) % size;
    lost();
    for (int i = 0; i < rounds; i++) {
        TK_BEGIN("round");
        sends(pair);
        wrong_order(pair);
        both_ways(left, right);
        probes(pair);
        waits(pair);
        tests(pair);
        persistent(pair);
        cancelled(pair);
        collectives(WORLD);
        background(WORLD, left, right);
        sub_communicators();
        between();
        TK_END;
    }
    MPI_Finalize();
    TK_END;
    return 0;
}
