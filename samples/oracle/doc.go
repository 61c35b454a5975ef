// Package oracle analyses small traces slowly and obviously: nested loops over all pairs,
// straight from the definitions, without a line shared with the packages that analyze
// large ones. Their tests compare with it.
//
// Where the definitions leave a choice, the oracle decides thus:
//
//   - The parts of a non-blocking collective begin with the calls that start it.
//   - A send counts as sent at the time of its record.
//   - The message of a Probe is that of the next receive that the location posts.
//   - An instance of late sender is that of the message that its call waited for longest;
//     messages of the same call are not received later than it.
//   - A non-blocking collective that a Wait completes competes with the Wait's messages:
//     the call is charged once. It counts as wait at barrier, as unclassified for
//     Ialltoallv and Ialltoallw, else as wait at N×N.
//   - Alltoallv and Alltoallw have no completion time.
//   - In the ideal replay all ranks start at 0, and MPI_Init and MPI_Finalize do not
//     synchronise.
//
// It knows nothing of buffer flushes and of recording that was switched off.
package oracle
