// Package unit says how the values of a column are written.
package unit

// A Unit says how the values of a column are written.
type Unit string

// The units. A Label is a name that is never cut, and has no title in text.
const (
	Name      Unit = ""
	Label     Unit = "label"
	WaitState Unit = "wait_state" // a Label by its key
	Place     Unit = "place"      // the source line of a row, or of the block at the key
	Operation Unit = "operation"  // or that it is none
	Launcher  Unit = "launcher"   // an operator, or that the launch is not recorded
	Device    Unit = "device"
	Thread    Unit = "thread"  // with its rank
	Flag      Unit = "flag"    // what the column says, where it is so
	Remarks   Unit = "remarks" // a text that is never cut, aligned as numbers are
	Plain     Unit = "plain"   // a number as it is
	Count     Unit = "count"
	Time      Unit = "time"
	Instant   Unit = "instant" // a time, since the start of the trace
	Share     Unit = "share"
	Bytes     Unit = "bytes"
	Bandwidth Unit = "bandwidth"
	Decimal   Unit = "decimal"
	Number    Unit = "number" // with six digits
	Ratio     Unit = "ratio"  // with three decimals
	Mean      Unit = "mean"   // a time that need not be whole
	Points    Unit = "points" // a share with two decimals, without its unit
	Gained    Unit = "gained" // Points with their sign
	YesNo     Unit = "yes_no"
	Rank      Unit = "rank"
)

// Left reports whether text aligns the values left.
func (u Unit) Left() bool {
	switch u {
	case Name, Label, WaitState, Place, Operation, Launcher, Device, Flag, YesNo:
		return true
	}
	return false
}
