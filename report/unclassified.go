package report

import (
	"fmt"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/doubt"
	"tracekit/document/words"
)

// missingRecords says what is missing of calls.
var missingRecords = map[document.Missing]string{
	document.MissingReceive: "no receive is recorded of the messages that they send",
	document.MissingSend:    "no send is recorded of the messages that they receive",
	document.MissingMessage: "which message they send, receive or complete",
	document.MissingGroup:   "which ranks take part in them",
	document.MissingMember:  "the part of some ranks in the collective",
}

// mostIncomplete is how many places are named of whose calls records are missing.
const mostIncomplete = 3

// unclassifiedLines says, after the causes, of which time in communication calls no cause is known, which records are missing, and what to
// do.
func unclassifiedLines(a *document.Analysis) (lines []string) {
	u := a.Unclassified
	if u == nil {
		return nil
	}
	mark := Mark(a.Trace.Rebuilt)
	try := "bind ranks to cores, or compare with a benchmark (tracekit fit)."
	if slices.ContainsFunc(a.Doubts, func(d doubt.Sign) bool { return d.Kind != doubt.LateRecords }) {
		try = "run one rank per core, then measure again."
	}
	if u.TimeNs != nil && *u.TimeNs > 0 {
		lines = append(lines, fmt.Sprintf("%sNot explained: %s (%s) of the run in %s calls, beyond waits and "+
			"network.", mark, words.Time(*u.TimeNs), words.Share(*u.Share), library(a)))
		if u.Operation != "" {
			lines = append(lines, fmt.Sprintf("The trace does not show why. Largest part: %s, %s of the critical path.",
				words.Call(string(u.Operation), u.SourceLine), words.Time(u.CriticalPathNs)))
		}
	} else {
		lines = append(lines, fmt.Sprintf("%sNot explained: %s calls wait for something that is not recorded.", mark, library(a)))
	}
	for i, c := range u.Incomplete {
		if try = "record the communication of all ranks, then measure again."; c.Missing == document.MissingMessage &&
			strings.HasPrefix(string(c.Operation), "gloo:") { // the arguments of c10d::send, where they are recorded
			try = "profile with record_shapes=True, which tells who sends to whom."
		}
		if i == mostIncomplete {
			lines = append(lines, fmt.Sprintf("Records are missing at %s more.", words.Plural(len(u.Incomplete)-i, "place", "places")))
			break
		}
		lines = append(lines, fmt.Sprintf("Records are missing for %s of %s, %s (%s of rank time): %s.",
			words.Plural(int(c.Calls), "call", "calls"), words.Call(string(c.Operation), c.SourceLine), words.Time(c.TimeNs), words.Share(*c.Share),
			missingRecords[c.Missing]))
	}
	return append(lines, "Try: "+try)
}
