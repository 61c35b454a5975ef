/* torus.c: exchange with the neighbours on a Cartesian grid of processes whose
 * rows are closed to rings, at MPI_Cart_shift's neighbours.
 *
 * Planted: the processes of the last row, those whose first coordinate is the
 * largest, work three times as long (30 ms, others 10 ms), so that the others wait
 * in the Sendrecv along the columns, and in the Allreduce at the end.
 *
 * usage: torus [ITERATIONS]
 */
#include "tracekit_mpi.h"
#include "work.h"

#include <stdlib.h>

enum { BYTES = 1024 };

static void shift(MPI_Comm grid, int dimension)
{
    static char out[BYTES], in[BYTES];
    int from, to;
    TK_BEGIN("shift");
    MPI_Cart_shift(grid, dimension, 1, &from, &to);
    MPI_Sendrecv(out, BYTES, MPI_CHAR, to, dimension, in, BYTES, MPI_CHAR, from, dimension, grid,
                 MPI_STATUS_IGNORE);
    TK_END;
}

int main(int argc, char **argv)
{
    int size, rank, sizes[2] = {0, 0}, periods[2] = {0, 1}, at[2];
    int iterations = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Comm grid;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    for (int i = 0; i < iterations; i++) {
        double own = i, total;
        work(at[0] == sizes[0] - 1 ? 30000 : 10000);
        shift(grid, 0);
        shift(grid, 1);
        MPI_Allreduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    MPI_Comm_free(&grid);
    MPI_Finalize();
    TK_END;
    return 0;
}
