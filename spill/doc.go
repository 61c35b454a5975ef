// Package spill keeps tables of rows that may be larger than memory should be.
//
// A Table is a growing sequence of rows of a fixed size without pointers. The tables of a Store share its budget: the first pages lie in
// memory, those over the budget in a temporary file that is mapped into memory. So a row is reached in the same way wherever it lies. Only
// about so much of the file as the budget allows is resident: from time to time all of it is given back to the system, which brings in
// again what is touched.
//
// # Contract
//
//   - While a table grows, one goroutine uses it; different tables of a store may grow at
//     the same time.
//   - Afterwards any number of goroutines may read, and write different rows of, any table.
//     No row takes a lock or a system call; a page that comes into memory does.
//   - A pointer to a row of a table that does not grow any more is valid until Release or
//     Close; of one that grows, until the next row is added.
//   - The file has no name from the moment it is made and so vanishes however the program
//     ends. Where the system cannot map files (Windows), everything stays in memory.
package spill
