// Package reconstruct draws the space-time diagram of a trace, whether its events were
// recorded or rebuilt from formulae, and compares two traces record by record: the
// reconstructed one with the original, or one run with another.
package reconstruct
