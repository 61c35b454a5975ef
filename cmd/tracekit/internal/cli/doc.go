// Package cli holds the values that flags of the commands take. A Kind parses a value, says what it wants instead of a bad one, and
// completes it in a shell; Var gives a flag of that kind to a command.
package cli
