// Package formulae learns formulae from sequences, and from a trace the formulae of a
// program: control flow, partners, tags, sizes and iterations in bounded memory, however long
// the run.
//
// The learning of formulae follows J. C. Yan, H. H. Jin, M. A. Schmidt, "Performance Data
// Gathering and Representation from Fixed-Size Statistical Data", NASA Ames
// (docs/DEFINITIONS.md 1.4).
//
// # The way through the package
//
// Each line uses those below it:
//
//	program                 a trace, location by location
//	annotate, notation      the call tree and its formulae for people
//	learned, unlearned      how much was learned, and what was not
//	tree                    what was learned of a location: all that its events can be rebuilt from
//	calltree, callevents    a location as call tree
//	fields, meter           arguments and attributes; metrics
//	intervals, law          own times: means and distributions
//	releases, ranks         until when calls wait for partners; relative ranks
//	nested, loops           loops within loops, and how they are found
//	learn, formula          the formula of a sequence
//
// # The packages around
//
//	formulae/internal/coder    numbers as bits
//	formulae/internal/pack     values as columns of numbers and texts
//	formulae/internal/symbols  events as symbols
//	formulae/tkf               the compressed trace: events without loss, or these formulae
//	reconstruct                events made from formulae
//
// Times are integer ticks of the trace's clock throughout.
package formulae
