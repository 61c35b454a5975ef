package figure

import (
	"tracekit/document/outcome"
	"tracekit/plots"
)

// FormulaeStudy draws the sizes, compression ratios, errors and times to compress of several traces: over the number of processes if that
// differs, else over the records of a process, as iterations make them.
func FormulaeStudy(doc *outcome.FormulaeStudy, add func(name string, f *plots.Figure)) error {
	x := plots.Axis{Label: "records of a process", Log: true}
	at := func(r *outcome.StudiedRun) float64 { return float64(r.Records) / float64(max(r.Processes, 1)) }
	if n := len(doc.Runs); n > 0 && doc.Runs[0].Processes != doc.Runs[n-1].Processes {
		x, at = processesAxis(), func(r *outcome.StudiedRun) float64 { return float64(r.Processes) }
	}
	of := func(name string, value func(*outcome.StudiedRun) float64) plots.Series {
		s := plots.Series{Name: name}
		for i := range doc.Runs {
			s.X, s.Y = append(s.X, at(&doc.Runs[i])), append(s.Y, value(&doc.Runs[i]))
		}
		return s
	}
	both := func(value func(*outcome.StudiedRun, *outcome.StudiedFile) float64) []plots.Series {
		return []plots.Series{of("durations are means", func(r *outcome.StudiedRun) float64 { return value(r, &r.Means) }),
			of("durations are laws", func(r *outcome.StudiedRun) float64 { return value(r, &r.Laws) })}
	}
	bytes := func(_ *outcome.StudiedRun, f *outcome.StudiedFile) float64 { return float64(f.Bytes) }
	for _, p := range []struct {
		name string
		d    plots.CurvesData
	}{
		{"formulae-size", plots.CurvesData{Title: "Size of formulae and of the trace", Y: plots.Axis{Label: "size", Unit: plots.Bytes, Log: true},
			Series: append(both(bytes), of("the trace", func(r *outcome.StudiedRun) float64 { return float64(r.Bytes) }))}},
		{"formulae-ratio", plots.CurvesData{Title: "Compression ratio", Y: plots.Axis{Label: "trace to formulae", Log: true},
			Series: both(func(r *outcome.StudiedRun, f *outcome.StudiedFile) float64 {
				return float64(r.Bytes) / float64(max(f.Bytes, 1))
			})}},
		{"formulae-error", plots.CurvesData{Title: "Error of rebuilt times", Y: plots.Axis{Label: "spread between neighboring records",
			Unit: plots.Nanoseconds, Log: true},
			Series: both(func(_ *outcome.StudiedRun, f *outcome.StudiedFile) float64 { return f.BlockSpread })}},
		{"formulae-time", plots.CurvesData{Title: "Time to compress", Y: plots.Axis{Label: "time by the clock", Unit: plots.Nanoseconds,
			Log: true}, Series: both(func(_ *outcome.StudiedRun, f *outcome.StudiedFile) float64 { return float64(f.Compress) })}},
	} {
		p.d.X = x
		f, err := plots.Curves(p.d)
		if err != nil {
			return err
		}
		add(p.name, f)
	}
	return nil
}
