// Package tkf writes and reads the compressed trace (a .tkf file, see docs/internals/TKF.md): what a
// program did as rules, and only what no rule predicts as data.
//
// Control flow, partners, tags and sizes repeat, and cost next to nothing however long the
// run; times do not, and are coded against what is known of the same place in the program.
//
// # The way through the package
//
// Each line uses those below it:
//
//	compress, open        a file: head, definitions, and either of the modes
//	encode, decode        lossless mode: a location's events, block by block
//	structure, predictor  symbols: what is predicted, and what came instead
//	quantise, timemodel   times, exact or rounded
//	values                values that no symbol holds
//	statistics, counts    statistics mode: call trees, and their bound
//	layout                definitions, field by field
//	sections              the file as a sequence of checked sections
//
// Below are internal/symbols (an event as a symbol, a time and values; what locations have in
// common), internal/pack (values as columns) and internal/coder (numbers as bits); formulae
// learns what statistics mode keeps, and reconstruct makes events of it.
package tkf
