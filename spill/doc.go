// Package spill keeps tables of rows that are larger than memory should be: what is over a
// budget lies in a temporary file.
package spill
