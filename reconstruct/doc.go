// Package reconstruct rebuilds events from formulae, draws the space-time diagram of a
// trace, whether its events were recorded or rebuilt, and compares two traces record by
// record: the rebuilt one with the original, or one run with another.
package reconstruct
