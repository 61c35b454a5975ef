package page

import (
	"context"
	"fmt"
	"slices"
)

// Several is a page of several runs, each with its document and timeline, on one axis of time.
type Several struct {
	Pages       []*Page // at least one; their Size does not count
	Comparisons []any   // of the first run with each of the others, as `tracekit compare --json` prints it
	Scaling     any     // as `tracekit scaling --json` prints it; nil: there is none
	Size        int64   // bytes at most
	Served      bool    // by a server that has tiles of all timelines
}

// Share returns how large the page of one of so many runs may be for a page of them all.
func Share(size int64, runs int) int64 {
	if runs == 1 {
		return size
	}
	return programSize() + (size-programSize())*7/8/int64(runs)
}

// Encode returns the page as HTML.
func (s *Several) Encode(ctx context.Context) ([]byte, error) {
	c, err := s.Content(ctx)
	if err != nil {
		return nil, err
	}
	return c.HTML(s.Served), nil
}

// Content packs what the page holds. Runs have equal shares of it.
func (s *Several) Content(ctx context.Context) (*Content, error) {
	out, z := &Content{Title: s.title()}, newPacker(ctx)
	for k, p := range s.Pages {
		p.Size, p.Served = Share(s.Size, len(s.Pages)), s.Served
		c, err := p.content(z)
		if err != nil {
			return nil, err
		}
		for _, part := range c.Parts {
			out.Parts = append(out.Parts, Part{numbered(part.ID, k), part.Data})
		}
	}
	left := (s.Size - programSize()) / 8 / int64(len(s.Comparisons)+1)
	add := func(id string, document any) error {
		data, err := z.document(document, left)
		out.Parts = append(out.Parts, Part{id, data})
		return err
	}
	for k, c := range s.Comparisons {
		if err := add(numbered("comparison", k+1), c); err != nil {
			return nil, err
		}
	}
	if s.Scaling != nil {
		if err := add("scaling", s.Scaling); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// title names all runs, or the first of many.
func (s *Several) title() string {
	var names []string
	for _, p := range s.Pages {
		if name := shorten(p.Title); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(s.Pages); {
	case n == 1:
		return names[0]
	case len(names) == 1:
		return fmt.Sprintf("%s, %d runs", names[0], n)
	case n == 2:
		return names[0] + " and " + names[1]
	default:
		return fmt.Sprintf("%s and %d more runs", names[0], n-1)
	}
}

// numbered names a part of a run; the first one has the names that a page of one run has.
func numbered(id string, run int) string {
	if run == 0 {
		return id
	}
	return fmt.Sprintf("%s-%d", id, run)
}
