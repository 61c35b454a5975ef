// Package reconstruct rebuilds the events of a run from its formulae.
package reconstruct
