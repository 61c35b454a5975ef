// Package reduce cuts a trace down by rules, and keeps it a trace: what is left can be
// matched, analyzed and written like any other (DEFINITIONS 1.3; I-H. Chung, R. E. Walkup,
// H.-F. Wen, H. Yu, "MPI Performance Analysis Tools on Blue Gene/L", SC 2006).
//
//			rules ─ spans of records ─> Cuts ─ Consistent ─> Cuts ─ Source ─> analysis, writers
//
//		 1. A rule reads a location's events and adds the spans of sequence numbers that it cuts
//		    to Cuts of its own. It cuts whole calls (from Enter to Leave, with all that lies
//	    between) but none inside of an MPI call, or records that are no end of a message and
//	    no part in a collective, so that what was entered is still left. A rule that wants
//	    ranks gone drops them.
//		 2. Union makes one of the cuts of several rules.
//		 3. Consistent keeps calls that rules have cut where a message or a collective would lose
//		    one end only, with the regions that enclose them, so that each call keeps its path.
//		    Of messages from and to dropped ranks both ends are cut, and counted.
//		 4. Source is the trace without what is cut; its events are numbered anew.
//
// A rule that decides location by location looks like this:
//
//	cuts := reduce.NewCuts(t.Store, len(t.Defs.Locations))
//	_, err := engine.Each(ctx, t.Source, run, func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
//		for b, err := range batches {
//			…
//			cuts.Add(l, enter, leave+1) // in order of leave
//		}
//	})
//
// Different locations may be cut at the same time; the spans of one come in order of their
// end.
package reduce
