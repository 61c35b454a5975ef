/* halo2d.c: Jacobi iterations on a grid of processes, non-blocking halo exchange.
 *
 * Planted: in iteration i rank i mod P takes 2 ms longer, so that the imbalance
 * moves round, every rank does the same work in total, and the waits show up in
 * Waitall at the neighbours and in the Allreduce of every fifth iteration.
 *
 * usage: halo2d [ITERATIONS [CELLS]]
 */
#include "tracekit_mpi.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { WEST, EAST, SOUTH, NORTH, SIDES };

typedef struct {
    int     n, peer[SIDES];
    double *old, *new, *out[SIDES], *in[SIDES];
} grid;

static void setup(grid *g, int rank, int size, int n)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int x = rank % dims[0], y = rank / dims[0];
    g->n = n;
    g->peer[WEST] = x > 0 ? rank - 1 : MPI_PROC_NULL;
    g->peer[EAST] = x < dims[0] - 1 ? rank + 1 : MPI_PROC_NULL;
    g->peer[SOUTH] = y > 0 ? rank - dims[0] : MPI_PROC_NULL;
    g->peer[NORTH] = y < dims[1] - 1 ? rank + dims[0] : MPI_PROC_NULL;
    g->old = calloc((size_t)(n + 2) * (size_t)(n + 2), sizeof(double));
    g->new = calloc((size_t)(n + 2) * (size_t)(n + 2), sizeof(double));
    for (int s = 0; s < SIDES; s++) {
        g->out[s] = calloc((size_t)n, sizeof(double));
        g->in[s] = calloc((size_t)n, sizeof(double));
    }
    g->old[(n / 2) * (n + 2) + n / 2] = rank + 1;
}

/* edge copies one side of the grid: at = 1 and n inside, 0 and n + 1 the halo. */
static void edge(const grid *g, int side, double *line, int halo, int store)
{
    int n = g->n, w = n + 2, low = side == WEST || side == SOUTH;
    int at = low ? (halo ? 0 : 1) : (halo ? n + 1 : n);
    for (int i = 1; i <= n; i++) {
        double *cell = side < SOUTH ? &g->old[i * w + at] : &g->old[at * w + i];
        if (store) *cell = line[i - 1];
        else line[i - 1] = *cell;
    }
}

static void exchange(grid *g)
{
    MPI_Request req[2 * SIDES];
    TK_BEGIN("exchange");
    for (int s = 0; s < SIDES; s++)
        MPI_Irecv(g->in[s], g->n, MPI_DOUBLE, g->peer[s], s ^ 1, MPI_COMM_WORLD, &req[s]);
    for (int s = 0; s < SIDES; s++) {
        edge(g, s, g->out[s], 0, 0);
        MPI_Isend(g->out[s], g->n, MPI_DOUBLE, g->peer[s], s, MPI_COMM_WORLD, &req[SIDES + s]);
    }
    MPI_Waitall(2 * SIDES, req, MPI_STATUSES_IGNORE);
    for (int s = 0; s < SIDES; s++)
        if (g->peer[s] != MPI_PROC_NULL) edge(g, s, g->in[s], 1, 1);
    TK_END;
}

/* relax does one iteration and returns the change. */
static double relax(grid *g, int slow)
{
    int n = g->n, w = n + 2;
    double change = 0, *t;
    TK_BEGIN("relax");
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int c = i * w + j;
            g->new[c] = 0.25 * (g->old[c - 1] + g->old[c + 1] + g->old[c - w] + g->old[c + w]);
            change += (g->new[c] - g->old[c]) * (g->new[c] - g->old[c]);
        }
    t = g->old, g->old = g->new, g->new = t;
    work(500);
    if (slow) work(2000);
    TK_END;
    return change;
}

int main(int argc, char **argv)
{
    grid g;
    int rank, size;
    int iterations = argc > 1 ? atoi(argv[1]) : 40, cells = argc > 2 ? atoi(argv[2]) : 64;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setup(&g, rank, size, cells);
    for (int i = 0; i < iterations; i++) {
        double change, total;
        exchange(&g);
        change = relax(&g, i % size == rank);
        if (i % 5 == 4)
            MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    TK_END;
    return 0;
}
