// Package threads says what the threads of a process do: which of their time is useful, and
// what becomes of the rest (DEFINITIONS 2.10).
//
//	activity.go  what a region means for the thread that is in it
//	recorder.go  follows the events of one thread and keeps its timeline
//	team.go      puts the timelines of a process side by side: efficiencies, idle threads,
//	             waits at the barriers of a team
//
// Times are ticks. The words are those of package trace; a master is the thread that speaks for
// its process in MPI, or its first one, and the others are workers. A team is what works on a
// parallel region.
package threads
