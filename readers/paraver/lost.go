package paraver

import "tracekit/trace"

// countDefs counts what of the definitions the format cannot hold. What events lose is counted
// where they are written; see Writer.Lost.
func (w *Writer) countDefs() {
	for _, l := range w.defs.Locations {
		w.count(w.options.Plain && len(l.ClockOffsets) > 1, "clock offsets (applied to the times)")
		w.count(l.Kind != trace.LocationCPUThread, "kinds of locations that are no threads")
	}
	for _, r := range w.defs.Regions {
		w.countRegion(r)
	}
	for i, m := range w.defs.MetricMembers {
		w.count(m.Value != valueType(w.values.members[i]), "types of counters")
		unit := w.defs.String(m.Unit)
		w.count(w.defs.String(m.Description) != "" || unit != "" && unit != "#", "descriptions and units of counters")
	}
	for range len(w.objects.tasks) - w.objects.ranks {
		w.count(true, "processes outside MPI (written as tasks)")
	}
	known := 0
	for _, n := range w.objects.nodes {
		if n != trace.None {
			known++
		}
	}
	for range len(w.defs.SystemTree) - known {
		w.count(true, "nodes of the system tree without processes")
	}
}

// countRegion counts what is lost of a region: labels are one line of text each.
func (w *Writer) countRegion(r trace.Region) {
	d, mpi := w.defs, r.Paradigm == trace.ParadigmMPI
	name, canonical := d.String(r.Name), d.String(r.Canonical)
	w.count(w.options.Plain && !writtenParadigm(r.Paradigm), "paradigms of regions")
	w.count(mpi && d.String(r.File) != "", "files of MPI functions")
	w.count(!mpi && canonical != "" && canonical != name, "canonical names of regions")
	w.count(d.String(r.Description) != "", "descriptions of regions")
	w.count(r.EndLine > 0, "last lines of regions")
}

// count counts something that is lost if it is there.
func (w *Writer) count(lost bool, what string) {
	if lost {
		w.lost[what]++
	}
}
