package stragglers_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/document/training"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/stragglers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A span is a row of a table.
type span struct {
	rank, dp, stage, step, seq uint64
	name                       string
	start, duration            int64
}

// spansOf returns the operations of a generated job.
func spansOf(t *testing.T, o samples.TrainingOptions) (rows []span) {
	t.Helper()
	_, src := generated(t, o)
	defs := src.Defs()
	for l := range defs.Locations {
		at := make(map[uint64]*span) // by number of the Enter
		var open []uint64
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			for i, seq := range b.Flow.Seq {
				if b.Flow.Kind[i] == trace.KindLeave {
					s := at[open[len(open)-1]]
					s.duration = b.Flow.Time[i] - s.start
					rows, open = append(rows, *s), open[:len(open)-1]
					continue
				}
				at[seq] = &span{rank: uint64(defs.Ranks()[l]), name: defs.RegionName(b.Flow.Region[i]), start: b.Flow.Time[i]}
				open = append(open, seq)
				for k, of := range b.Attrs.Seq {
					if of != seq {
						continue
					}
					switch v := b.Attrs.Value[k]; defs.String(defs.Attributes[b.Attrs.Attribute[k]].Name) {
					case trace.AttributeStep:
						at[seq].step = v + 1
					case trace.AttributeDP:
						at[seq].dp = v
					case trace.AttributeStage:
						at[seq].stage = v
					case trace.AttributeSeq:
						at[seq].seq = v
					}
				}
			}
		}
	}
	return rows
}

// table writes the columns of rows; a row for which cells returns nothing is left out.
func table(head string, rows []span, cells func(s span) []any) string {
	var b strings.Builder
	b.WriteString(head + "\n")
	for _, s := range rows {
		if c := cells(s); c != nil {
			b.WriteString(strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c)), ","), "[]") + "\n")
		}
	}
	return b.String()
}

// foundIn returns what is found in tables in a directory.
func foundIn(t *testing.T, job string, tables map[string]string) (*training.Job, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tables {
		tracetest.WriteFile(t, filepath.Join(dir, name), text)
	}
	src, err := readers.Open(t.Context(), dir, readers.OpenOptions{Jobs: 1, Job: job})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	doc, _, err := stragglers.Find(t.Context(), src, 1)
	return doc, err
}

// TestTablesOfOneJob states that a job is the same in whatever columns, files and names it is written: one table, a folder of a table for
// each rank that the name of the file tells, other names of operations, with the data-parallel ranks or the stages known by ranks alone,
// beside another job, or with a step of which the begin is missing.
func TestTablesOfOneJob(t *testing.T) {
	rows := spansOf(t, samples.TrainingOptions{DP: 3, PP: 2, MicroBatches: 4, Steps: 6, Noise: 0.05,
		Slow: []samples.SlowWorker{{Rank: 2, Factor: 1.5}}})
	const head = "rank,dp_rank,stage,step,name,start,duration,seq"
	all := func(s span) []any { return []any{s.rank, s.dp, s.stage, s.step, s.name, s.start, s.duration, s.seq} }
	want, err := foundIn(t, "", map[string]string{"job.csv": table(head, rows, all)})
	if err != nil {
		t.Fatal(err)
	}
	if want.Steps != 6 || want.Slowdown < 1.1 {
		t.Fatalf("%d steps, slowdown %v", want.Steps, want.Slowdown)
	}
	ranks := make(map[string]string)
	for r := range uint64(6) {
		ranks[fmt.Sprintf("rank%d.csv", r)] = table("dp_rank,stage,step,name,start,duration,seq", rows, func(s span) []any {
			if s.rank != r {
				return nil
			}
			return all(s)[1:]
		})
	}
	for name, tables := range map[string]map[string]string{
		"a table for each rank": ranks,
		"other names": {"job.csv": table(head, rows, func(s span) []any {
			name := strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
			if name = strings.Replace(name, "FORWARD_COMPUTE", "fwd", 1); s.rank == 1 {
				name = strings.Replace(s.name, "backward-compute", "Backward", 1)
			}
			return []any{s.rank, s.dp, s.stage, s.step, name, s.start, s.duration, s.seq}
		})},
		"stages alone": {"job.csv": table("rank,stage,step,name,start,duration,seq", rows, func(s span) []any {
			return []any{s.rank, s.stage, s.step, s.name, s.start, s.duration, s.seq}
		})},
		"data-parallel ranks alone": {"job.csv": table("rank,dp_rank,step,name,start,duration,seq", rows, func(s span) []any {
			return []any{s.dp*2 + s.stage, s.dp, s.step, s.name, s.start, s.duration, s.seq}
		})},
		"two jobs": {"job.csv": table(head+",job_id", rows, func(s span) []any { return append(all(s), "wanted") }) +
			table("", rows, func(s span) []any {
				return []any{s.rank, s.dp, s.stage, s.step, s.name, s.start + 5, s.duration * 2, s.seq, "other"}
			})},
		"a cut step before": {"job.csv": table(head, rows, all) + table("", rows, func(s span) []any {
			if s.step != rows[0].step || s.name == "forward-compute" {
				return nil
			}
			return []any{s.rank, s.dp, s.stage, 0, s.name, s.start, s.duration, s.seq}
		})},
	} {
		job := ""
		if name == "two jobs" {
			if _, err := foundIn(t, "", tables); err == nil || !strings.Contains(err.Error(), "(other, wanted)") {
				t.Errorf("two jobs without a choice: %v", err)
			}
			if _, err := foundIn(t, "none", tables); err == nil || !strings.Contains(err.Error(), "its jobs are other, wanted") {
				t.Errorf("a job that is not there: %v", err)
			}
			job = "wanted"
		}
		got, err := foundIn(t, job, tables)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ignored := cmpopts.IgnoreFields(training.Job{}, "LeftOut")
		if name == "data-parallel ranks alone" || name == "stages alone" { // ranks have other numbers there
			ignored = cmpopts.IgnoreFields(training.Job{}, "ByWorker", "ByStep", "Slowest")
		}
		if d := cmp.Diff(want, got, ignored); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestTablesThatLackPlaces states what is said of a table with messages between stages and no stages, and of one whose data-parallel
// ranks never do the same.
func TestTablesThatLackPlaces(t *testing.T) {
	rows := spansOf(t, samples.TrainingOptions{DP: 2, PP: 2, MicroBatches: 2, Steps: 3})
	_, err := foundIn(t, "", map[string]string{"job.csv": table("rank,step,name,start,duration", rows, func(s span) []any {
		return []any{s.rank, s.step, s.name, s.start, s.duration}
	})})
	if err == nil || !strings.Contains(err.Error(), "neither a column dp_rank nor stage") {
		t.Error(err)
	}
	_, err = foundIn(t, "", map[string]string{"job.csv": table("rank,dp_rank,stage,step,name,start,duration,seq", rows, func(s span) []any {
		if s.dp == 1 && s.name == "backward-compute" && s.seq == 1 {
			return nil
		}
		return []any{s.rank, s.dp, s.stage, s.step, s.name, s.start, s.duration, s.seq}
	})})
	if err == nil || !strings.Contains(err.Error(), "data-parallel rank 1 has 1 operations backward-compute of stage 0, rank 0 has 2") {
		t.Error(err)
	}
	// Without messages each rank is a data-parallel rank.
	rows = spansOf(t, samples.TrainingOptions{DP: 4, PP: 1, MicroBatches: 2, Steps: 4, Slow: []samples.SlowWorker{{Rank: 3, Factor: 1.5}}})
	doc, err := foundIn(t, "", map[string]string{"job.csv": table("rank,step,name,start,duration", rows, func(s span) []any {
		return []any{s.rank, s.step, s.name, s.start, s.duration}
	})})
	if err != nil || doc.DPRanks != 4 || doc.ByWorker[0].Rank != 3 {
		t.Error(doc, err)
	}
}
