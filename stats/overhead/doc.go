// Package overhead finds what calls take beyond what such calls need: samples of durations by key, their laws, and the calls
// held to them (docs/DEFINITIONS.md 1.1).
package overhead
