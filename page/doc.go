// Package page makes the page that people look at: one self-contained HTML file with the
// diagnosis, a timeline that zooms, the call tree over ranks, and the tables of an analysis.
//
// The page is the program in package web with data put into it: the document of the analysis,
// as `tracekit analyze --json` prints it; what its tables and words mean, as package report
// says it; the description of the timeline; and the timeline's numbers. They are compressed, so that no name in a trace is ever part of the
// page's markup. A content security policy forbids the page every request.
//
// Its size is bounded whatever the size of the trace: what does not fit is drawn coarser
// (Timeline) or cut from the tables with the fewest consequences (Data), and the page says so.
package page
