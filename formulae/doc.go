// Package formulae learns formulae from sequences, writes and reads the compressed trace.
//
// A compressed trace (a .tkf file, see docs/TKF.md) says what a program did as rules, and
// only what no rule foretells as data. Control flow, partners, tags and sizes repeat, and
// cost next to nothing however long the run; times do not, and are coded against what is
// known of the same place in the program.
//
// The learning of formulae follows J. C. Yan, H. H. Jin, M. A. Schmidt, "Performance Data
// Gathering and Representation from Fixed-Size Statistical Data", NASA Ames.
package formulae
