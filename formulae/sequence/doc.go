// Package sequence learns formulae: short descriptions of sequences of numbers, in bounded memory however long the
// sequence (docs/DEFINITIONS.md 1.4). It follows J. C. Yan, H. H. Jin, M. A. Schmidt, "Performance Data Gathering and
// Representation from Fixed-Size Statistical Data", NASA Ames.
//
// Each line uses those below it:
//
//	notation         a formula as text
//	learn            a Learner makes the Formula of the values that it is given
//	nested, loops    loops within loops, and how they are found
//	formula          a Formula and a Generator, which makes the values again
package sequence
