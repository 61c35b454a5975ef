// Package text lays out what a terminal shows: tables, lines wrapped to its width, names that are shortened and made plain.
package text
