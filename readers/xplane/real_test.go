package xplane

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A total is how often events of a name took place, and how long they took.
type total struct {
	Events uint64
	Total  int64 `json:"total_ps"`
}

// truths are what is known of a file, by a program that knows nothing of this one.
type truths struct {
	Hosts  []string `json:"hostnames"`
	Planes []struct {
		Name  string
		Lines []struct {
			Name   string
			Events uint64
		}
		Busy   int64            `json:"busy_ps"`
		ByName map[string]total `json:"events_by_name"`
	}
	Device uint64 `json:"device_events_with_correlation_id"`
	Linked uint64 `json:"of_those_with_a_host_call"`
}

// A visit is one of a region.
type visit struct {
	where, group, name string
	from, to           int64
	attrs              map[string]string
}

// visits returns the visits of a source, location by location, in order of begin.
func visits(t testing.TB, src trace.Source) (out []visit) {
	t.Helper()
	d := src.Defs()
	for l, loc := range d.Locations {
		var stack []int
		for b := range tracetest.Batches(t, src, trace.LocationID(l)) {
			for i, kind := range b.Flow.Kind {
				if kind == trace.KindLeave {
					out[stack[len(stack)-1]].to = b.Flow.Time[i]
					stack = stack[:len(stack)-1]
					continue
				}
				stack = append(stack, len(out))
				v := visit{where: trace.StreamName(d.String(loc.Name)), group: d.String(d.LocationGroups[loc.Group].Name),
					name: d.RegionName(b.Flow.Region[i]), from: b.Flow.Time[i], attrs: make(map[string]string)}
				for k, seq := range b.Attrs.Seq {
					if seq == b.Flow.Seq[i] {
						value := fmt.Sprint(b.Attrs.Value[k])
						if b.Attrs.Type[k] == trace.TypeString {
							value = d.Strings[b.Attrs.Value[k]]
						}
						v.attrs[d.String(d.Attributes[b.Attrs.Attribute[k]].Name)] = value
					}
				}
				out = append(out, v)
			}
		}
	}
	return out
}

// TestShared compares real profiles with what is known of them.
func TestShared(t *testing.T) {
	for _, name := range []string{"jax_conv_mi300", "jax_te_fused_attn_mi350"} {
		t.Run(name, func(t *testing.T) {
			path := tracetest.Shared(t, "recorders", "xplane", name+extension)
			var want truths
			data, err := os.ReadFile(strings.TrimSuffix(path, extension) + ".expected.json")
			if err == nil {
				err = json.Unmarshal(data, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			src, err := Open(t.Context(), []string{path}, recording.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			if src.Info().Machine != want.Hosts[0] {
				t.Error("host", src.Info().Machine)
			}
			compareTruths(t, visits(t, src), want)
		})
	}
}

func compareTruths(t *testing.T, all []visit, want truths) {
	byGroup := make(map[string][]visit)
	perLine := make(map[string]uint64)
	calls := make(map[string]bool)
	for _, v := range all {
		byGroup[v.group] = append(byGroup[v.group], v)
		perLine[v.group+"/"+v.where]++
		if v.attrs["correlation"] != "" && !strings.HasPrefix(v.group, "GPU") {
			calls[v.attrs["correlation"]] = true
		}
	}
	var device, linked uint64
	for _, p := range want.Planes {
		group := strings.Replace(p.Name, "/device:GPU:", "GPU ", 1)
		lines := make(map[string]uint64)
		for _, l := range p.Lines {
			name, _ := threadName(l.Name)
			if kind, stream := lineOf(l.Name); kind == lineStream {
				name = fmt.Sprintf("stream %d", stream)
			} else {
				group = want.Hosts[0]
			}
			lines[name] += l.Events
		}
		for name, events := range lines {
			got := uint64(0)
			for where, n := range perLine { // lines of one name have numbers
				if where == group+"/"+name || strings.HasPrefix(where, group+"/"+name+" ") && !strings.HasPrefix(name, "stream") {
					got += n
				}
			}
			if got != events {
				t.Errorf("%s has %d events, want %d", name, got, events)
			}
		}
		if p.ByName == nil {
			continue
		}
		got := make(map[string]total)
		busy, reach := int64(0), int64(0)
		slices.SortFunc(byGroup[group], func(x, y visit) int { return cmp.Compare(x.from, y.from) })
		for _, v := range byGroup[group] {
			name := v.name // without the ending of a kernel's descriptor
			if !strings.HasSuffix(name, " [clone .kd]") {
				name += ".kd"
			}
			n := got[name]
			got[name] = total{n.Events + 1, n.Total + 1000*(v.to-v.from)}
			busy += 1000 * max(0, v.to-max(v.from, reach))
			reach = max(reach, v.to)
			device++
			if calls[v.attrs["correlation"]] {
				linked++
			}
		}
		if d := gocmp.Diff(p.ByName, got); d != "" || busy != p.Busy {
			t.Errorf("%s: busy %d, want %d%s", p.Name, busy, p.Busy, d)
		}
	}
	if device != want.Device || linked != want.Linked {
		t.Errorf("%d events of devices, %d of them linked; want %d and %d", device, linked, want.Device, want.Linked)
	}
}
