// Package query answers SQL about traces and their analyses. Tables are virtual tables of an SQLite in memory, which are made when a
// query first uses a column of them; a library of views stands on them (Views). Queries only read, and reach neither files nor other
// databases.
//
// Times are nanoseconds on the axis of the documents (DEFINITIONS 1.1). What is not recorded is NULL.
package query
