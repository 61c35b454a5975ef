// Package figure draws what documents hold.
package figure
