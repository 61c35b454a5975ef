package cli

// What flags mean that several commands have.
const (
	ForceUsage = "replace an output that exists; other files in a directory stay"
	JSONUsage  = "print one JSON document instead of text"
	RanksUsage = "only these `ranks`, such as 0-3,8"
	SeedUsage  = "`number` that fixes random choices"
	TopUsage   = "`rows` of each table"
)
