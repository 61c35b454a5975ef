// Package query answers SQL about traces and their analyses. Tables are virtual tables of an SQLite in memory, which are made when a
// query first uses a column of them; a library of views stands on them (Views). Queries only read, and reach neither files nor other
// databases.
//
// A query whose comparisons leave few rows reads no others. Calls, sends and unmatched receives are found by location, rank and time;
// collectives and their members by number and time; waits, visits and counters by location and rank. Of a time, waits, visits and counters
// outside it are passed over: waits lie in memory, visits and counters are decoded anew, for a time up to its end where no region is open.
//
// Times are nanoseconds on the axis of the documents (DEFINITIONS 1.1). What is not recorded is NULL.
package query
