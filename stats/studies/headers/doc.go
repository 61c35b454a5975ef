// Package headers makes the message-centric profile of IMPuLSE (DEFINITIONS 1.5; P. G. Bridges, A. B. Maccabe): what would messages have
// known about the path that led to them, had each carried a small header with counters?
//
// The calls of a trace are replayed in causal order. Each rank has a summary, which is a Header:
//
//   - Vertical: time inside the rank since its last merge is gathered by metric.
//   - Horizontal: where a call completes a receive, the rank merges. If it had to wait, the summary
//     of who made it wait dominates: it replaces the rank's own, with the time of the transfer.
//     Else the own one stays, with what was gathered. So does who waits for the last to arrive
//     at a collective (ours; the paper's prototype has point-to-point messages only).
//   - At each merge the eight largest metrics keep counters of their own, the rest goes to OTHER.
//
// Who waits for whom is what package analysis says: a wait state above 0 whose cause is recorded.
//
// A trace holds no time of the wire and none of copying. Both are derived, by fits to the
// smallest times (see costs), and marked as derived wherever they appear.
package headers
