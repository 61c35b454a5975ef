// Package compare says what changed from some runs of a program to others: at which place, on
// which ranks, by how much, and whether that is more than the runs differ by chance
// (docs/DEFINITIONS.md 2.14). It takes analyzed traces and knows no format.
package compare
