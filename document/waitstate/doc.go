// Package waitstate has the wait states of docs/DEFINITIONS.md 2.1, 2.2, 2.4 and 2.10: the table that names them, and the
// blocks of the document that hold a figure for each of them.
package waitstate
