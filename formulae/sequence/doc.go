// Package sequence learns formulae: short descriptions of sequences of numbers, in bounded memory however long the
// sequence (docs/DEFINITIONS.md 1.4). A Learner takes the values and returns the Formula; a Generator makes the values
// again. The learning follows J. C. Yan, H. H. Jin, M. A. Schmidt, "Performance Data Gathering and Representation from
// Fixed-Size Statistical Data", NASA Ames.
package sequence
