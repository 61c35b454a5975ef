// Package replay replays a run on an ideal network, where messages take no time, and computes its efficiencies
// (docs/DEFINITIONS.md 2.6).
package replay
