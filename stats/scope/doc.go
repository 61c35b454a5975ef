// Package scope is the part of a run that is analyzed: some ranks, from one instant to another.
package scope
