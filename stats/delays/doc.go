// Package delays finds what makes others wait: the costs of delays, and the chain from a wait back to its origin
// (docs/DEFINITIONS.md 2.3).
package delays
