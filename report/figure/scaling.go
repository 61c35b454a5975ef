package figure

import (
	"fmt"
	"math"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/report/text"
	"tracekit/stats/scaling"
)

func processesAxis() plots.Axis { return plots.Axis{Label: "processes", Log: true} }

func processesOf(s *scaling.Size) float64 { return float64(s.Processes) }

// seriesOf makes the curve of one factor, of the sizes that know it.
func seriesOf(doc *outcome.Scaling, name string, of func(*scaling.Factors) *float64) (plots.Series, bool) {
	s := plots.Series{Name: name}
	for i := range doc.Sizes {
		if v := of(&doc.Sizes[i].Factors); v != nil {
			s.X, s.Y = append(s.X, processesOf(&doc.Sizes[i])), append(s.Y, *v)
		}
	}
	return s, len(s.X) > 0
}

// Factors are those of the global efficiency, each with its depth in the tree of them. Inner ones are products of what a picture shows.
var Factors = []struct {
	Name  string
	Depth int
	Inner bool
	Of    func(*scaling.Factors) *float64
}{
	{"global efficiency", 0, false, func(f *scaling.Factors) *float64 { return f.GlobalEfficiency }},
	{"parallel efficiency", 1, false, func(f *scaling.Factors) *float64 { return f.ParallelEfficiency }},
	{"process level", 2, true, func(f *scaling.Factors) *float64 { return f.ProcessEfficiency }},
	{"thread level", 2, true, func(f *scaling.Factors) *float64 { return f.ThreadEfficiency }},
	{"load balance", 2, false, func(f *scaling.Factors) *float64 { return f.LoadBalance }},
	{"communication efficiency", 2, true, func(f *scaling.Factors) *float64 { return f.CommunicationEfficiency }},
	{"serialization", 3, false, func(f *scaling.Factors) *float64 { return f.SerializationEfficiency }},
	{"transfer", 3, false, func(f *scaling.Factors) *float64 { return f.TransferEfficiency }},
	{"computation scalability", 1, false, func(f *scaling.Factors) *float64 { return f.ComputationScalability }},
	{"IPC scalability", 2, false, func(f *scaling.Factors) *float64 { return f.IPCScalability }},
	{"instruction scalability", 2, false, func(f *scaling.Factors) *float64 { return f.InstructionScalability }},
	{"frequency scalability", 2, false, func(f *scaling.Factors) *float64 { return f.FrequencyScalability }},
}

// efficiencies draws the efficiencies of the sizes.
func efficiencies(doc *outcome.Scaling) plots.CurvesData {
	d := plots.CurvesData{Title: "Efficiencies and scalabilities", X: processesAxis(), Y: plots.Axis{Label: "fraction of the ideal"}}
	for _, c := range Factors {
		if c.Inner {
			continue
		}
		if s, ok := seriesOf(doc, c.Name, c.Of); ok {
			d.Series = append(d.Series, s)
		}
	}
	return d
}

// speedup draws the speedup of the sizes.
func speedup(doc *outcome.Scaling) plots.CurvesData {
	d := plots.CurvesData{Title: fmt.Sprintf("Speedup, %s scaling", doc.Mode), X: processesAxis(), Y: plots.Axis{Label: "speedup", Log: true}}
	measured, _ := seriesOf(doc, "measured", func(f *scaling.Factors) *float64 { return f.Speedup })
	ideal := plots.Series{Name: "ideal"}
	for i := range doc.Sizes {
		ideal.X = append(ideal.X, processesOf(&doc.Sizes[i]))
		ideal.Y = append(ideal.Y, float64(max(doc.Sizes[i].Threads, 1))/float64(max(doc.Sizes[0].Threads, 1)))
	}
	d.Series = []plots.Series{measured, ideal}
	return d
}

// placesDrawn is how many places have a curve.
const placesDrawn = 8

// models draws the models of the places that take most at the wanted size, each with what
// was measured and the interval of predictions.
func models(doc *outcome.Scaling) plots.CurvesData {
	d := plots.CurvesData{Title: fmt.Sprintf("Time of a process in the mean by place, up to %s processes", words.Count(doc.At)),
		X: processesAxis(), Y: plots.Axis{Label: "time of a process", Unit: plots.Nanoseconds, Log: true}, Height: 640}
	for i := range doc.Models[:min(placesDrawn, len(doc.Models))] {
		d.Series = append(d.Series, modelCurve(doc, &doc.Models[i]))
	}
	return d
}

// curvePoints is the number of points of a model's curve.
const curvePoints = 100

func modelCurve(doc *outcome.Scaling, m *scaling.PlaceModel) plots.Series {
	s := plots.Series{Name: text.Shorten(m.PlaceRow.Name(), 40)}
	for i := range doc.Sizes {
		s.DotX, s.DotY = append(s.DotX, processesOf(&doc.Sizes[i])), append(s.DotY, m.Values[i])
	}
	first, last := s.DotX[0], math.Max(float64(doc.At), s.DotX[len(s.DotX)-1])
	for k := range curvePoints {
		p := first * math.Pow(last/first, float64(k)/(curvePoints-1))
		s.X, s.Y = append(s.X, p), append(s.Y, m.Model.At(p))
	}
	return s
}

// Scaling draws the efficiencies of the sizes, their speedup, and the models of places.
func Scaling(doc *outcome.Scaling, add Add) error {
	picture, err := plots.Curves(efficiencies(doc))
	if err != nil {
		return err
	}
	add("efficiencies", picture)
	if doc.At == 0 {
		return nil
	}
	if picture, err = plots.Curves(speedup(doc)); err != nil {
		return err
	}
	add("speedup", picture)
	if len(doc.Models) == 0 {
		return nil
	}
	if picture, err = plots.Curves(models(doc)); err != nil {
		return err
	}
	add("models", picture)
	return nil
}
