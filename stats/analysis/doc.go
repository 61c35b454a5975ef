// Package analysis runs the stages that analyse a trace, and holds what they find: the document, and the tables behind it.
package analysis
