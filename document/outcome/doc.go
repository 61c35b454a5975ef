// Package outcome has the JSON documents of the commands other than analyze, and makes them of what stages return. A document that is
// the result of one stage alone lies in that stage.
package outcome
