// Package accelerator has the blocks of the document that say what accelerators do (docs/DEFINITIONS.md 2.9).
package accelerator
