// Package cause has the causes of a diagnosis: what to fix in a run (docs/DEFINITIONS.md 2.12).
package cause
