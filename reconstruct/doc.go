// Package reconstruct rebuilds events and the space-time diagram from a trace or from its
// formulae; compares traces.
package reconstruct
