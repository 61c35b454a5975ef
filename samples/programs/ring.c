/* ring.c: a token goes round a ring with blocking calls.
 *
 * Planted: rank 2 works ten times as long as the others before it passes the
 * token on, so every other rank waits for a late sender once in each lap.
 *
 * usage: ring [LAPS]
 */
#include "tracekit_mpi.h"
#include "work.h"

#include <stdlib.h>

enum { WORDS = 128, TAG = 7, SHORT = 300, LONG = 3000 };

int main(int argc, char **argv)
{
    double token[WORDS] = {0};
    int rank, size, laps = argc > 1 ? atoi(argv[1]) : 40;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    for (int lap = 0; lap < laps; lap++) {
        TK_BEGIN("lap");
        if (rank > 0)
            MPI_Recv(token, WORDS, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

        TK_BEGIN("work");
        token[lap % WORDS] += rank;
        work(rank == 2 ? LONG : SHORT);
        TK_END;

        MPI_Send(token, WORDS, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(token, WORDS, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        TK_END;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    TK_END;
    return 0;
}
