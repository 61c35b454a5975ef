/* masterworker.c: rank 0 hands out tasks, the others work and report.
 *
 * The master probes for any report from anyone, so the order of its receives is
 * decided when the program runs. Planted: one task in eight is six times as
 * long; while the last one runs, the other workers have none and wait for the
 * master's word to stop, which it holds back until all reports are in.
 *
 * usage: masterworker [TASKS]
 */
#include "tracekit_mpi.h"
#include "work.h"

#include <stdlib.h>

enum { TASK = 1, REPORT = 2, STOP = 3, WORDS = 64 };

/* collect takes one report, whoever sends it, and returns the worker. */
static int collect(double *report)
{
    MPI_Status s;
    int n;
    MPI_Probe(MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    MPI_Recv(report, n, MPI_DOUBLE, s.MPI_SOURCE, REPORT, MPI_COMM_WORLD, &s);
    return s.MPI_SOURCE;
}

static void master(int workers, int tasks)
{
    double report[WORDS];
    int next = 0, out = 0;
    TK_BEGIN("master");
    for (int w = 1; w <= workers && next < tasks; w++, next++, out++)
        MPI_Send(&next, 1, MPI_INT, w, TASK, MPI_COMM_WORLD);
    while (out > 0) {
        int w = collect(report);
        out--;
        if (next == tasks) continue;
        MPI_Send(&next, 1, MPI_INT, w, TASK, MPI_COMM_WORLD);
        next++, out++;
    }
    for (int w = 1; w <= workers; w++)
        MPI_Send(NULL, 0, MPI_INT, w, STOP, MPI_COMM_WORLD);
    TK_END;
}

static void worker(void)
{
    double report[WORDS] = {0};
    MPI_Status s;
    int task;
    TK_BEGIN("worker");
    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        if (s.MPI_TAG == STOP) break;
        TK_BEGIN("task");
        work(task % 8 == 7 ? 6000 : 1000);
        report[0] = task;
        TK_END;
        MPI_Send(report, 1 + task % WORDS, MPI_DOUBLE, 0, REPORT, MPI_COMM_WORLD);
    }
    TK_END;
}

int main(int argc, char **argv)
{
    int rank, size, tasks = argc > 1 ? atoi(argv[1]) : 96;

    TK_BEGIN("main");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&tasks, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) master(size - 1, tasks);
    else worker();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    TK_END;
    return 0;
}
