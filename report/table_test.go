package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/training"
	"tracekit/document/waitstate"
	"tracekit/report/unit"
	"tracekit/stats/scaling"
	"tracekit/trace"
)

// TestModelledIsSaidOnce: what columns and tables say that a model made is what the document of a rebuilt trace lists.
func TestModelledIsSaidOnce(t *testing.T) {
	listed := document.RebuiltOf(trace.Info{Properties: map[string]string{trace.PropertyReconstructed: "true"}})
	if listed == nil {
		t.Fatal("the trace is not rebuilt")
	}
	// Of accelerators and files the document lists nothing: formulae are of programs that call MPI.
	for _, table := range []*Table{waitStates, delays, collectives, lines} {
		path := strings.TrimSuffix(strings.TrimSuffix(table.Path, "[]"), "{}")
		if table.Modelled != slices.Contains(listed.Modelled, path) {
			t.Errorf("%s: modelled %v, the document says otherwise", path, table.Modelled)
		}
		for _, c := range table.Columns {
			if at := table.Path + "." + c.Key; !table.Modelled && c.Modelled != slices.Contains(listed.Modelled, at) {
				t.Errorf("%s: modelled %v, the document says otherwise", at, c.Modelled)
			}
		}
	}
}

// TestPageFindsWhatColumnsName states that every key of a column on the page leads somewhere in the document: the page reads by
// these names, and shows a dash where there is nothing.
func TestPageFindsWhatColumnsName(t *testing.T) {
	shipped := Ship(&document.Analysis{})
	document := reflect.TypeFor[document.Analysis]()
	for _, table := range shipped.Tables {
		chain := []reflect.Type{document}
		for _, step := range strings.Split(table.Path, ".") {
			name := strings.TrimRight(step, "[]{}")
			if name == "more" {
				chain = append([]reflect.Type{reflect.TypeFor[Shipped]()}, chain...)
				continue
			}
			if name == "scaling" { // of several runs
				chain = append([]reflect.Type{reflect.TypeFor[scaling.Scaling]()}, chain...)
				continue
			}
			at, ok := typeAt(chain[0], name)
			if !ok {
				t.Fatalf("%s: nothing is at %s", table.Key, table.Path)
			}
			if strings.HasSuffix(step, "]") {
				at = at.Elem()
			}
			if strings.HasSuffix(step, "}") {
				at = reflect.TypeFor[waitstate.State]()
			}
			chain = append([]reflect.Type{at}, chain...)
		}
		keys := []string{table.Where}
		for _, c := range table.Columns {
			if c.Faces.has(OnPage) && c.Unit != unit.WaitState {
				keys = append(keys, c.Key, c.Of, c.With)
			}
		}
		for _, key := range keys {
			if key != "" && !slices.ContainsFunc(chain, func(of reflect.Type) bool { _, ok := typeAt(of, key); return ok }) {
				t.Errorf("%s: no row has %s", table.Key, key)
			}
		}
	}
}

// typeAt returns the type of what lies in a type at a key.
func typeAt(of reflect.Type, key string) (reflect.Type, bool) {
	for part := range strings.SplitSeq(key, ".") {
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Slice {
			of = of.Elem()
			continue
		}
		if of.Kind() != reflect.Struct {
			return of, false
		}
		at := slices.IndexFunc(reflect.VisibleFields(of), func(f reflect.StructField) bool {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return tag == part
		})
		if at < 0 {
			return of, false
		}
		of = reflect.VisibleFields(of)[at].Type
	}
	return of, true
}

// TestPageKnowsAllWords states that every wait state has a title on the page, and every term of a column a meaning.
func TestPageKnowsAllWords(t *testing.T) {
	shipped := Ship(&document.Analysis{})
	var states map[string]any
	if text, err := json.Marshal(&waitstate.States{}); err != nil || json.Unmarshal(text, &states) != nil {
		t.Fatal(err)
	}
	for key := range states {
		if shipped.Waits[key] == "" {
			t.Errorf("%s has no title", key)
		}
	}
	for _, table := range shipped.Tables {
		for _, c := range table.Columns {
			if c.Term != "" && !slices.ContainsFunc(shipped.Terms, func(t Term) bool { return t.Word == c.Term }) {
				t.Errorf("%s.%s: no term %q", table.Key, c.Key, c.Term)
			}
		}
	}
}

// TestTablesOfAPart states that each table of the page has a key of its own, and a part that shows it.
func TestTablesOfAPart(t *testing.T) {
	shown := map[string]bool{}
	for _, table := range Ship(&document.Analysis{}).Tables {
		if table.Tab == "" || table.Key == "" || shown[table.Key] {
			t.Errorf("%q is in no part of the page, or twice", table.Key)
		}
		shown[table.Key] = true
	}
}

// TestShippedTrainingHasLists states that a training job of which there is nothing to tell has lists for the page, no null.
func TestShippedTrainingHasLists(t *testing.T) {
	text, err := json.Marshal(Ship(&document.Analysis{Training: &training.Job{ByWorker: []training.Worker{{}}}}).Training)
	if err != nil || bytes.Contains(text, []byte("null")) {
		t.Errorf("%s, %v", text, err)
	}
}
