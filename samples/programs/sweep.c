/* sweep.c: a wavefront over a 2-D grid of processes, in the manner of Sweep3D.
 *
 * The cube of N^3 cells is cut in x and y. For each of eight octants a wave
 * starts in one corner and runs to the opposite one; a process receives what
 * flows in from two neighbours, sweeps a block of K planes, and sends on. The
 * wave makes most processes wait when it starts and when it runs out: waits
 * belong to the algorithm, grow with the processes and shrink with smaller K.
 *
 * usage: sweep [N [K [ITERATIONS]]]
 */
#include "tracekit_mpi.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int     px, py, x, y;       /* processes, and place of this one */
    int     nx, ny, nz, k;      /* own cells, planes in a block */
    double *flux, *from_x, *from_y;
} sweep;

/* share is the number of n cells that part i of p gets. */
static int share(int n, int p, int i) { return n / p + (i < n % p); }

static void setup(sweep *s, int rank, int size, int n, int k)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    s->px = dims[0], s->py = dims[1];
    s->x = rank % s->px, s->y = rank / s->px;
    s->nx = share(n, s->px, s->x), s->ny = share(n, s->py, s->y), s->nz = n, s->k = k;
    s->flux = calloc((size_t)s->nx * (size_t)s->ny * (size_t)s->nz + 1, sizeof(double));
    s->from_x = calloc((size_t)s->ny * (size_t)k + 1, sizeof(double));
    s->from_y = calloc((size_t)s->nx * (size_t)k + 1, sizeof(double));
}

/* peer is the rank d columns and e rows away, or MPI_PROC_NULL past the edge. */
static int peer(const sweep *s, int d, int e)
{
    int x = s->x + d, y = s->y + e;
    if (x < 0 || x >= s->px || y < 0 || y >= s->py) return MPI_PROC_NULL;
    return y * s->px + x;
}

/* block sweeps planes from..from+planes-1; what flows out replaces what flowed in. */
static void block(sweep *s, int from, int planes, int dx, int dy)
{
    TK_BEGIN("block");
    for (int p = 0; p < planes; p++)
        for (int j = 0; j < s->ny; j++)
            for (int i = 0; i < s->nx; i++) {
                int x = dx > 0 ? i : s->nx - 1 - i, y = dy > 0 ? j : s->ny - 1 - j;
                double *in_x = &s->from_x[p * s->ny + y], *in_y = &s->from_y[p * s->nx + x];
                double *cell = &s->flux[((from + p) * s->ny + y) * s->nx + x];
                double v = (1.0 + 0.3 * *in_x + 0.3 * *in_y + *cell) / 1.9;
                *cell += 0.1 * (v - *cell);
                *in_x = *in_y = v;
            }
    TK_END;
}

/* octant runs one wave in direction (dx, dy), block after block. */
static void octant(sweep *s, int dx, int dy)
{
    int west = peer(s, -dx, 0), east = peer(s, dx, 0), south = peer(s, 0, -dy), north = peer(s, 0, dy);
    TK_BEGIN("octant");
    for (int from = 0; from < s->nz; from += s->k) {
        int planes = from + s->k <= s->nz ? s->k : s->nz - from;
        int nx = s->ny * planes, ny = s->nx * planes;
        if (west != MPI_PROC_NULL)
            MPI_Recv(s->from_x, nx, MPI_DOUBLE, west, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (south != MPI_PROC_NULL)
            MPI_Recv(s->from_y, ny, MPI_DOUBLE, south, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        block(s, from, planes, dx, dy);
        if (east != MPI_PROC_NULL)
            MPI_Send(s->from_x, nx, MPI_DOUBLE, east, 1, MPI_COMM_WORLD);
        if (north != MPI_PROC_NULL)
            MPI_Send(s->from_y, ny, MPI_DOUBLE, north, 2, MPI_COMM_WORLD);
    }
    TK_END;
}

int main(int argc, char **argv)
{
    sweep s;
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 48;
    int k = argc > 2 ? atoi(argv[2]) : 8, iterations = argc > 3 ? atoi(argv[3]) : 3;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setup(&s, rank, size, n, k);
    for (int i = 0; i < iterations; i++) {
        double own = 0, sum;
        TK_BEGIN("iteration");
        for (int o = 0; o < 8; o++) octant(&s, o & 1 ? -1 : 1, o & 2 ? -1 : 1);
        for (int c = 0; c < s.nx * s.ny * s.nz; c++) own += s.flux[c];
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("iteration %d flux %.6f\n", i, sum);
        TK_END;
    }
    MPI_Finalize();
    TK_END;
    return 0;
}
