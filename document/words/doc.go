// Package words writes times, sizes and places the way that people read them.
package words
