// Package replay replays a run with zero-cost MPI, where calls only wait, and computes its efficiencies
// (docs/DEFINITIONS.md 2.6).
package replay
