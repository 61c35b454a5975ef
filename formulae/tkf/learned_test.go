package tkf_test

import (
	"path/filepath"
	"testing"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/trace/tracetest"
)

// Most sequences of the paper's categories are learned in real traces: with the paper's
// kinds of formulae and memory as large a share as the paper tells (95 per cent, and all
// partners and tags in 11 of 15 programs), with all kinds nearly all. The log says for each
// archive what is not learned.
func TestLearnedShareOfRealTraces(t *testing.T) {
	for _, c := range []struct {
		form    sequence.Form
		least   float64
		partner float64 // share of the archives whose partners and tags are all learned
	}{
		{sequence.Form{Terms: 18, Paper: true}, 0.95, 11. / 15},
		{sequence.Form{Terms: 18}, 0.99, 0.85},
		{sequence.Form{Terms: 64}, 0.999, 1},
	} {
		var learned, constructs, known uint64
		all := append(archives(t, "../../samples/archives"), archives(t, tracetest.Shared(t, "otf2"))...)
		for _, path := range all {
			rows, err := formulae.LearnedByMemory(t.Context(), openTrace(t, path), []int{c.form.Terms}, c.form.Paper, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := rows[0].Learned
			learned, constructs = learned+l.Paper.Learned, constructs+l.Paper.Constructs
			for _, s := range l.All() {
				if s.Learned < s.Constructs {
					t.Logf("%+v %-20s %-15s %4d of %4d learned, dynamic %.3f", c.form, filepath.Base(filepath.Dir(path)), s.Name, s.Learned,
						s.Constructs, s.Dynamic)
				}
			}
			if l.SendReceivers.Static*l.RecvSenders.Static*l.SendTags.Static*l.RecvTags.Static == 1 {
				known++
			}
		}
		share := float64(learned) / float64(constructs)
		t.Logf("%+v: %d of %d constructs (%.4f), partners and tags of %d archives of %d", c.form, learned, constructs, share, known, len(all))
		if share < c.least || float64(known) < c.partner*float64(len(all)) {
			t.Errorf("%+v: %.4f of all constructs learned, partners and tags of %d archives of %d", c.form, share, known, len(all))
		}
	}
}
