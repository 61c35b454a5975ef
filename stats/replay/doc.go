// Package replay replays a run on an ideal network, on which messages take no time, and makes the efficiencies of it
// (docs/DEFINITIONS.md 2.6).
package replay
