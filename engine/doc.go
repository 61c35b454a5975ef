// Package engine runs stages on all cores.
//
// A stage is pure: what it makes of an item (a location, a rank, a chunk of rows) depends on nothing but what earlier stages have finished.
// It goes into a partial result that combines with others, or into rows that belong to the item alone. Which goroutine does which item when
// is the engine's business; no result depends on it.
//
//	Run, Each   an item is a location with its events, decoded once more; results are
//	            combined in order of locations
//	Map         results by item
//	Sum         partial results that are combined in the order in which Run combines them
//	Fold        partial results that are combined in any order: exact sums
//	Windows     Fold in windows of the run: all items pass one before any enters the next
//	Beside      a sequential task, and a stage beside it that needs nothing of it
//	Swap        rows go from the items in which they arise to the keys that they belong to
//
// All goroutines of the analyses are here.
package engine
