// Package critical finds the critical path of a run backward over the calls that wait, and charges it to call paths
// (docs/DEFINITIONS.md 2.4).
package critical
