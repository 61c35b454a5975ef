// Package difference compares two traces record by record: a rebuilt one with its original, or one run with another.
package difference
