// Package formulae learns formulae from sequences, writes and reads the compressed trace.
//
// A compressed trace (a .tkf file, see docs/TKF.md) says what a program did as rules, and
// only what no rule foretells as data. Control flow, partners, tags and sizes repeat, and
// cost next to nothing however long the run; times do not, and are coded against what is
// known of the same place in the program.
//
// The learning of formulae follows J. C. Yan, H. H. Jin, M. A. Schmidt, "Performance Data
// Gathering and Representation from Fixed-Size Statistical Data", NASA Ames
// (docs/DEFINITIONS.md 1.4).
//
// # The way through the package
//
// Lossless mode, from events to bytes; each line uses those below it:
//
//	compress, encode | decode, open   a trace | a location, block by block
//	rows, symbol, requests            an event as a symbol, a time and values, and back
//	course, structure                 symbols: what is foretold, and what came instead
//	quantise, timemodel, values       times, exact or rounded; values that no symbol holds
//	dictionary, classes, sets, frame  what locations have in common; relative ranks
//	columns, pack, textmodel          tables, definitions and strings
//	numbers, mixer, coder             a number as decisions, their probability, the bits
//	sections, store                   the file; what waits to be written
//
// Statistics mode:
//
//	release, spell                    until when calls wait for partners; own times
//	callstats, callevents, loops      a location as call tree, loops found in its visits
//	shape, meter                      arguments and attributes; metrics
//	learn, formula, nested            the formula of a sequence, in bounded memory
//	law, draw                         distributions of own times, and draws from them
//	statfile, counts, statwrite, calibrate, plain   the file, and its bound
//	statsource, statcheck             the file read again
//	rebuild, leftovers, consistent    events made from it; who waits for whom
//
// Both directions of every model go through the same code (see coder), so that reader and
// writer cannot disagree. Times are integer ticks of the trace's clock throughout.
package formulae
