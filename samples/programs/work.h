/* work.h: time that a program spends outside MPI. */
#ifndef WORK_H
#define WORK_H

#include <time.h>

/* work takes the given time without needing a processor, so that planted times
 * hold even where there are more processes than cores. */
static void work(long microseconds)
{
    struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&t, NULL);
}

#endif
