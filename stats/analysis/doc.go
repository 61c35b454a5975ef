// Package analysis runs the stages that analyze a trace, and holds what they find: the document, and the tables behind it.
package analysis
