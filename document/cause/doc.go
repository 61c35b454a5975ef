// Package cause has the causes of a diagnosis: why a run is not shorter (docs/DEFINITIONS.md 2.12).
package cause
