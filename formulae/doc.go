// Package formulae learns the formulae of a program from a trace: control flow, partners, tags, sizes and iterations,
// in bounded memory however long the run.
//
// # The way through the package
//
// Each line uses those below it:
//
//	program                 a trace, location by location
//	annotate                the call tree and its formulae for people
//	learned, unlearned      how much was learned, and what was not
//	tree                    what was learned of a location: all that its events can be rebuilt from
//	calltree, callevents    a location as call tree
//	fields, meter           arguments and attributes; metrics
//	intervals, law          own times: means and distributions
//
// # The packages around
//
//	formulae/sequence          the formula of a sequence
//	formulae/partners          until when calls wait for partners; relative ranks; regimes of own times
//	formulae/internal/coder    numbers as bits
//	formulae/internal/pack     values as columns of numbers and texts
//	formulae/internal/symbols  events as symbols
//	formulae/tkf               the compressed trace: events without loss, or these formulae
//	reconstruct                events made from formulae
//
// Times are integer ticks of the trace's clock throughout.
package formulae
