// Package reconstruct rebuilds the events of a run from its formulae. The times of rebuilt
// events are modelled.
package reconstruct
