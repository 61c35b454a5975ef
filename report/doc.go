// Package report prints what is known of a trace for people: an analysis section by section, findings, and the words that
// they need. Package report/text lays it out.
package report
