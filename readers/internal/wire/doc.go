// Package wire reads hostile input within bounds: files piece by piece, and records by a
// cursor that keeps its first error. No size that a file states is believed; memory is
// bounded by the pieces that are asked for and by the size of the file.
package wire
