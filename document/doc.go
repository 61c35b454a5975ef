// Package document has the JSON documents that commands print and that reports show (docs/DOCUMENTS.md).
// It holds values only: nothing here computes, prints or reads a trace.
//
// Below it lie the parts that documents share: package field the places, ranks and names in their rows; waitstate the wait states; cause
// what to fix; accelerator what devices do; words how numbers are written.
package document
