// Package waits finds how long each call waits and for whom, and sums up messages and collectives on the way
// (docs/DEFINITIONS.md 2.1, 2.2).
package waits
