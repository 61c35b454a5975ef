package perfetto

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// open opens bytes as a file.
func open(t testing.TB, data []byte) *recording.Source { return opener.Bytes(t, "x.pftrace", data) }

// A visit is one of a region, or a moment, or a value of a counter.
type visit struct {
	where    string // group/location
	name     string
	from, to int64 // to of a slice that is not ended: 0
	attrs    string
	value    float64
	what     trace.Kind
}

// visits returns what a source holds, location by location, in order of begin.
func visits(t testing.TB, src trace.Source) (out []visit) {
	t.Helper()
	d := src.Defs()
	for l, loc := range d.Locations {
		where := d.String(d.LocationGroups[loc.Group].Name) + "/" + d.String(loc.Name)
		var stack []int
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			for seq, row := range b.Events {
				v := visit{where: where}
				switch row.Table {
				case trace.TableFlow:
					i := row.First
					if b.Flow.Kind[i] == trace.KindLeave {
						out[stack[len(stack)-1]].to = b.Flow.Time[i]
						stack = stack[:len(stack)-1]
						continue
					}
					stack = append(stack, len(out))
					v.name, v.from, v.what = d.RegionName(b.Flow.Region[i]), b.Flow.Time[i], trace.KindEnter
				case trace.TableMetric:
					i := row.First
					m := d.MetricMembers[d.Metrics[b.Metric.Metric[i]].Members[0]]
					v.name, v.from, v.what = d.String(m.Name), b.Metric.Time[i], trace.KindMetric
					if v.value = float64(int64(b.Metric.Value[i])); b.Metric.Type[i] == trace.TypeDouble {
						v.value = math.Float64frombits(b.Metric.Value[i])
					}
				case trace.TableColl:
					v.name, v.from, v.what = b.Coll.Op[row.First].String(), b.Coll.Time[row.First], b.Coll.Kind[row.First]
				default:
					i := row.First
					v.name, v.from, v.what = d.Strings[b.Other.Args[b.Other.Offset[i]]], b.Other.Time[i], b.Other.Kind[i]
				}
				var attrs []string
				for i, s := range b.Attrs.Seq {
					if s == uint64(seq) {
						attrs = append(attrs, fmt.Sprintf("%s %d", d.String(d.Attributes[b.Attrs.Attribute[i]].Name), b.Attrs.Value[i]))
					}
				}
				slices.Sort(attrs)
				v.attrs = strings.Join(attrs, ", ")
				out = append(out, v)
			}
		}
	}
	return out
}

// view renders what a source holds, for comparisons.
func view(t testing.TB, src trace.Source) string {
	var b bytes.Buffer
	for _, v := range visits(t, src) {
		fmt.Fprintf(&b, "%s: ", v.where)
		switch v.what {
		case trace.KindEnter:
			fmt.Fprintf(&b, "%s %d-%d", v.name, v.from, v.to)
		case trace.KindMetric:
			fmt.Fprintf(&b, "%s %d = %v", v.name, v.from, v.value)
		case trace.KindInstant:
			fmt.Fprintf(&b, "%s %d", v.name, v.from)
		default:
			fmt.Fprintf(&b, "%v %s %d", v.what, v.name, v.from)
		}
		if v.attrs != "" {
			fmt.Fprintf(&b, " (%s)", v.attrs)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// findings renders the findings of a source.
func findings(src trace.Source) (out []string) {
	for _, f := range src.Findings() {
		out = append(out, fmt.Sprintf("%s %d", f.Code, f.Count))
	}
	return out
}

// want compares what a source holds with lines.
func want(t *testing.T, src trace.Source, lines, codes string) {
	t.Helper()
	if got, want := strings.TrimSpace(view(t, src)), strings.TrimSpace(lines); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(findings(src), ", "); got != codes {
		t.Errorf("findings %q, want %q", got, codes)
	}
}
