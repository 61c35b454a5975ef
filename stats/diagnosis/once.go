package diagnosis

import (
	"tracekit/document/cause"
	"tracekit/document/words"
)

// A loss is what teams of threads lose by one thing. The places that make others wait may have some of the same time.
type loss uint8

const (
	noLoss        loss = iota
	ofSerialParts      // work of masters outside parallel regions
	ofForking          // forking and joining threads
	atBarriers         // threads that wait for each other at the end of a region
)

// onceEach lets no time that a team and a place both have be two losses: of forking and barriers the cause with the larger gain stays and
// has the other one as its evidence; of work outside parallel regions, which may be shared by threads or by ranks, the one with the
// smaller gain says that it is part of the other.
func onceEach(candidates []candidate, judged []*cause.Cause) {
	for i := range candidates {
		for k := range candidates {
			team, place := &candidates[i], &candidates[k]
			if !team.team || place.team || team.loss != place.loss || judged[i] == nil || judged[k] == nil {
				continue
			}
			first := gainOf(*judged[i]) >= gainOf(*judged[k])
			switch {
			case team.loss == ofSerialParts && first:
				judged[k].Text += " It is part of the work of master threads alone, a cause with a larger saving."
			case team.loss == ofSerialParts:
				judged[i].Text += " It includes the time in " + words.Sentence(judged[k].SourceLine) + ", a cause with a larger saving."
			case first:
				prove(judged[i], place, judged[k])
				judged[k] = nil
			default:
				prove(judged[k], team, judged[i])
				judged[i] = nil
			}
		}
	}
}

// recorded has, of causes at a place of which one says that visits there are hardly longer than recording them, that with the smaller
// gain say that it is about the same time.
func recorded(causes []cause.Cause) {
	for i := range causes {
		for k := range causes {
			m, c := &causes[i], &causes[k]
			if m.Kind != cause.Measurement || c.Kind == cause.Measurement || m.Region == "" || m.SourceLine != c.SourceLine ||
				m.Operation != c.Operation {
				continue
			}
			if gainOf(*c) > gainOf(*m) {
				c = m
			}
			c.Text += " Another cause with a larger saving covers the same time."
		}
	}
}

// said is what is wrong, and what shows it.
func (c *candidate) said() (headline, text string) {
	if c.slow != nil {
		return c.ofCulprits()
	}
	return c.cause.Headline, c.text
}

// prove makes a cause the evidence of another one.
func prove(of *cause.Cause, evidence *candidate, lost *cause.Cause) {
	headline, text := evidence.said()
	of.Text += " " + headline + ": " + text
	of.WaitsCausedNs = max(of.WaitsCausedNs, lost.WaitsCausedNs)
	if len(of.Ranks) == 0 {
		of.Ranks = lost.Ranks
	}
	for key, x := range lost.Evidence {
		if _, known := of.Evidence[key]; !known {
			of.Evidence[key] = x
		}
	}
}
