package parquet

import (
	"reflect"
	"slices"
	"strings"

	"tracekit/document/field"
	"tracekit/readers/arrowdir"
	"tracekit/report"
)

// tableOf makes a table of rows of the document. A column is named as the key of its values, or before a "=" in front of it;
// "text" behind the key says that they are names, "real" that they are numbers and no integers. What a row does not have, a name that is
// empty and an ID that is none are missing.
func tableOf(name string, rows []report.Row, columns ...[]string) arrowdir.Table {
	t := arrowdir.Table{Name: name}
	var keys []string
	var lists []*nameList // nil: of numbers
	for _, c := range slices.Concat(columns...) {
		c, text := strings.CutSuffix(c, " text")
		c, real := strings.CutSuffix(c, " real")
		column, key, other := strings.Cut(c, "=")
		if !other {
			key = column
		}
		out, list := arrowdir.TableColumn{Name: column, Real: real}, (*nameList)(nil)
		if text {
			list = newNameList()
			for _, r := range rows {
				list.of(textAt(r, key))
			}
			out.Names = list.names
		}
		t.Columns, keys, lists = append(t.Columns, out), append(keys, key), append(lists, list)
	}
	t.Fill = func(out *arrowdir.Rows) {
		for _, r := range rows {
			for i, key := range keys {
				if lists[i] != nil {
					out.Name(lists[i].of(textAt(r, key)))
				} else {
					number(out, r, key)
				}
			}
			if !out.End() {
				return
			}
		}
	}
	return t
}

// textAt returns the name that a row has at a key.
func textAt(r report.Row, key string) string {
	v, _ := r.Value(key)
	return reflect.ValueOf(v).String()
}

// number appends the number that a row has at a key.
func number(out *arrowdir.Rows, r report.Row, key string) {
	value, _ := r.Value(key)
	switch v := reflect.Indirect(reflect.ValueOf(value)); {
	case value == field.Line(0):
		out.Missing()
	case !v.IsValid():
		out.Missing()
	case v.CanFloat():
		out.Real(v.Float())
	case v.Kind() == reflect.Uint32:
		out.ID(uint32(v.Uint()))
	case v.CanUint():
		out.Int(int64(v.Uint()))
	default:
		out.Int(v.Int())
	}
}
